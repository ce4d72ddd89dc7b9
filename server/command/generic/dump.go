package generic

import (
	"errors"
	"strconv"

	"heddle/db"
	"heddle/db/rdb"
	"heddle/resp"
	"heddle/server/command"
)

const (
	errBusyKey     resp.Error = "BUSYKEY Target key name already exists."
	errBadTTL      resp.Error = "ERR Invalid TTL value, must be >= 0"
	errBadIdleTime resp.Error = "ERR Invalid IDLETIME value, must be >= 0"
	errBadFreq     resp.Error = "ERR Invalid FREQ value, must be >= 0 and <= 255"
	errBadStamp    resp.Error = "ERR Invalid MVCC timestamp"
	errBadExpire   resp.Error = "ERR Invalid expire time"
	errDumpVersion resp.Error = "ERR DUMP payload version or checksum are wrong"
	errDumpFormat  resp.Error = "ERR Bad data format"
)

// maxFreq is the highest logarithmic counter of accesses.
const maxFreq = 255

// dumpSpecs: DUMP key,
// RESTORE key ttl payload [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency],
// RESTORE-ASKING, the same, KEYDB.MVCCRESTORE key stamp expire payload
func dumpSpecs(d Deps) []*command.Spec {
	restoreSpec := func(name, group string, flags command.Flags) *command.Spec {
		return &command.Spec{
			Name: name, Arity: -4, Keys: command.Key(1, command.KeyOW|command.KeyUpdate), Flags: command.DenyOOM | flags,
			ACL: command.CatKeyspace | command.CatDangerous, Group: group, Write: d.restore,
			Heavy: heavyAt(restorePayload), Ahead: parseAt(restorePayload),
		}
	}
	return []*command.Spec{{
		Name: "dump", Arity: 2, Keys: command.Key(1, command.KeyRO|command.KeyAccess),
		ACL: command.CatKeyspace, Group: group, Tips: []string{tipNondetermined}, Read: dump,
	},
		restoreSpec("restore", group, 0),
		restoreSpec("restore-asking", "server", command.Asking),
		{
			Name: "keydb.mvccrestore", Arity: 5, Keys: command.Key(1, command.KeyOW|command.KeyUpdate), Flags: command.DenyOOM,
			ACL: command.CatKeyspace | command.CatDangerous, Group: group, Write: d.mvccRestore,
			Heavy: heavyAt(mvccPayload), Ahead: parseAt(mvccPayload),
		},
	}
}

// dump answers with the value in the form of a file.
func dump(c *command.Call, v db.View) error {
	it, found := v.Item(c.Args.Key())
	if !found {
		c.Reply.Null()
		return nil
	}
	payload := appendDump(c.Room(0), &it, v)
	if len(payload) == 0 {
		c.Reply.Null()
		return nil
	}
	c.Reply.Bulk(payload)
	return nil
}

// appendDump appends the payload of an item, as the settings want it.
func appendDump(dst []byte, it *db.Item, v db.View) []byte {
	l := v.Limits()
	return rdb.AppendDump(dst, it, rdb.DumpFormat{Version: l.DumpVersion, Compress: l.DumpCompress, Now: v.Now(), Limits: l})
}

// restoreOptions are what follows the payload.
type restoreOptions struct {
	replace, absolute bool
	access            db.Access
}

// readRestoreOptions reads them: IDLETIME and FREQ exclude each other, which makes the
// second of them an unknown word.
func readRestoreOptions(a *command.Args) restoreOptions {
	o := restoreOptions{access: db.NoAccess()}
	for a.More() {
		switch {
		case a.Word("replace"):
			o.replace = true
		case a.Word("absttl"):
			o.absolute = true
		case a.Len() > 1 && o.access.Freq < 0 && a.Word("idletime"):
			seconds := a.Int()
			if seconds < 0 {
				a.Reject(errBadIdleTime)
			}
			o.access.Idle = db.Millis(min(seconds, maxIdleSeconds)) * 1000
		case a.Len() > 1 && o.access.Idle < 0 && a.Word("freq"):
			n := a.Int()
			if n < 0 || n > maxFreq {
				a.Reject(errBadFreq)
			}
			o.access.Freq = int(min(max(n, 0), maxFreq))
		default:
			a.Reject(resp.ErrSyntax)
		}
	}
	return o
}

// maxIdleSeconds is more than access clocks tell.
const maxIdleSeconds = 1 << 24

func (d Deps) restore(c *command.Call, tx db.Txn) error {
	key, ttl, payload := c.Args.Key(), c.Args.Bytes(), c.Args.Bytes()
	o := readRestoreOptions(&c.Args)
	if err := c.Args.Done(); err != nil {
		return err
	}
	there := tx.Type(key) != db.TypeNone
	if there && !o.replace {
		return errBusyKey
	}
	n, ok := command.ParseInt(ttl)
	if !ok {
		return resp.ErrNotInteger
	}
	if n < 0 {
		return errBadTTL
	}
	v, err := d.value(c, payload, tx)
	if err != nil {
		return err
	}
	at := db.NoExpiry
	if n > 0 {
		if at = db.Millis(n); !o.absolute {
			at += tx.Now()
		}
	}
	if v.Empty() || n > 0 && at <= tx.Due() {
		v.Release()
		restoreNothing(c, tx, key)
		return nil
	}
	if err := v.Put(tx, key, at); err != nil {
		return err
	}
	if there {
		announceAnew(tx, key)
	}
	tx.SetAccess(key, o.access)
	tx.Touched(key, db.ClassGeneric, "restore")
	if n > 0 && !o.absolute {
		argv := append(append([][]byte(nil), c.Args.Argv()...), wordAbsTTL)
		argv[2] = c.Digits(int64(at))
		c.ReplicateAs(argv...)
	}
	c.Reply.OK()
	return nil
}

// announceAnew tells of a key that took the place of another that it is new: Redis deletes
// that first, which would be too early here, where there may be no memory for the new one.
func announceAnew(tx db.Txn, key []byte) {
	tx.Touched(key, db.ClassNew, "new")
	tx.Dirty(-1)
}

// restoreNothing answers when the time of what was to be restored has passed: what was
// there, and would have been replaced, goes.
func restoreNothing(c *command.Call, tx db.Txn, key []byte) {
	if tx.Delete(key) {
		tx.Touched(key, db.ClassGeneric, "del")
		c.ReplicateAs(wordDel, key)
	}
	c.Reply.OK()
}

// Where the payload stands in argv.
const (
	restorePayload = 3
	mvccPayload    = 4
)

// heavyPayload is from how many bytes on a payload is parsed before its key is locked: a
// smaller one takes some microseconds, which is what looking twice would cost others.
const heavyPayload = 1 << 10

// heavyAt is Spec.Heavy for a payload at an index.
func heavyAt(i int) func([][]byte) int {
	return func(argv [][]byte) int {
		if n := len(argv[i]); n >= heavyPayload {
			return n
		}
		return 0
	}
}

// parseAt parses it, while no key is locked.
func parseAt(i int) func([][]byte, *db.Keyspace, db.Millis) command.Prepared {
	return func(argv [][]byte, ks *db.Keyspace, now db.Millis) command.Prepared {
		settings := ks.Settings()
		p := &parsed{}
		p.v, p.err = parseDump(argv[i], &settings.Limits, now, ks.NewBig)
		return p
	}
}

// parsed is the value of a payload, which belongs to whoever takes it.
type parsed struct {
	v   rdb.Value
	err error
}

// Release gives up what nobody has taken.
func (p *parsed) Release() {
	p.v.Release()
	p.v = rdb.Value{}
}

func parseDump(payload []byte, limits *db.Limits, due db.Millis, newBig func(int) *db.Big) (rdb.Value, error) {
	return rdb.ParseDump(payload, rdb.DumpOptions{Limits: limits, Now: due, NewBig: newBig, NoChecksum: limits.SkipChecksum})
}

// value returns the value of a payload, which was parsed ahead or is parsed now. It belongs
// to the caller.
func (d Deps) value(c *command.Call, payload []byte, tx db.Txn) (v rdb.Value, err error) {
	switch r := c.Returned().(type) {
	case *parsed:
		v, err = r.v, r.err
		r.v = rdb.Value{}
	case error:
		return v, r
	default:
		v, err = parseDump(payload, tx.Limits(), tx.Due(), tx.NewBig)
	}
	switch {
	case errors.Is(err, rdb.ErrDumpVersion):
		return v, errDumpVersion
	case errors.Is(err, rdb.ErrDumpFormat):
		if d.Verbose != nil {
			d.Verbose("RESTORE: " + err.Error())
		}
		return v, errDumpFormat
	}
	return v, err
}

// mvccRestore is KeyDB's way to give a peer a key: it replaces what is there unless that was
// changed later. Keys have no stamps here, so that what comes is always the later one.
func (d Deps) mvccRestore(c *command.Call, tx db.Txn) error {
	key, stamp := c.Args.Key(), c.Args.Bytes()
	when, payload := c.Args.Bytes(), c.Args.Bytes()
	if err := c.Args.Done(); err != nil {
		return err
	}
	if !isStamp(stamp) {
		return errBadStamp
	}
	at, ok := command.ParseInt(when)
	if !ok {
		return errBadExpire
	}
	v, err := d.value(c, payload, tx)
	if err != nil {
		return err
	}
	e := db.NoExpiry
	if at >= 0 {
		e = db.Millis(at)
	}
	if v.Empty() || at >= 0 && e <= tx.Due() {
		v.Release()
		restoreNothing(c, tx, key)
		return nil
	}
	there := tx.Type(key) != db.TypeNone
	if err := v.Put(tx, key, e); err != nil {
		return err
	}
	if there {
		announceAnew(tx, key)
	}
	tx.Touched(key, db.ClassGeneric, "restore")
	c.Reply.OK()
	return nil
}

// isStamp reports whether b is a number of 64 bits without a sign.
func isStamp(b []byte) bool {
	_, err := strconv.ParseUint(string(b), 10, 64)
	return err == nil
}
