package hashes

import (
	"heddle/db"
	"heddle/db/hash"
	"heddle/resp"
	"heddle/server/command"
)

// exOptions are the options of HGETEX and HSETEX.
type exOptions struct {
	at      db.Millis // when fields expire, if timed
	timed   bool
	persist bool // HGETEX: they do not any longer
	keep    bool // HSETEX: they keep their deadline
	fnx     bool // HSETEX: only if none is there
	fxx     bool // HSETEX: only if all are there
	fields  [][]byte
}

const (
	errOneOfKeep   resp.Error = "ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified"
	errOneOfExists resp.Error = "ERR Only one of FXX or FNX arguments can be specified"
	errExNumFields resp.Error = "ERR invalid number of fields"
	errMissing     resp.Error = "ERR missing FIELDS argument"
)

// parseGetEx reads what HGETEX takes: at most one option, then FIELDS, as in Redis 8.0.
func parseGetEx(c *command.Call, now db.Millis) (o exOptions) {
	if o.persist = c.Args.Word("persist"); !o.persist {
		o.parseTime(c, now)
	}
	o.fields = fields(&c.Args, errNumFields)
	return o
}

// parseSetEx reads what HSETEX takes: options in any order, then FIELDS.
func parseSetEx(c *command.Call, now db.Millis) (o exOptions) {
	a := &c.Args
	for a.More() && o.fields == nil {
		switch {
		case a.Word("fields"):
			o.parsePairs(c)
		case a.Word("fnx"):
			o.exists(a)
			o.fnx = true
		case a.Word("fxx"):
			o.exists(a)
			o.fxx = true
		case a.Word("keepttl"):
			o.expiry(a)
			o.keep = true
		case o.parseTime(c, now):
		default:
			a.Reject(command.Errorf("ERR unknown argument: %s", a.Bytes()))
		}
	}
	if o.fields == nil {
		a.Reject(errMissing)
	}
	return o
}

// parsePairs reads numfields field value [field value ...], which is all that is left.
func (o *exOptions) parsePairs(c *command.Call) {
	a := &c.Args
	n := a.IntOr(errExNumFields)
	switch {
	case a.Err() != nil:
	case n < 1:
		a.Reject(errExNumFields)
	case a.Len()%2 != 0 || n != int64(a.Len()/2):
		a.Reject(c.Spec.ErrArity())
	default:
		o.fields = a.Rest()
	}
}

// parseTime reads one of EX, PX, EXAT, PXAT with its time, if that is what comes.
func (o *exOptions) parseTime(c *command.Call, now db.Millis) bool {
	for _, t := range [...]struct {
		word     string
		unit     unit
		absolute bool
	}{{"ex", seconds, false}, {"px", milliseconds, false}, {"exat", seconds, true}, {"pxat", milliseconds, true}} {
		if c.Args.Word(t.word) {
			o.expiry(&c.Args)
			o.at, o.timed = instant(c, t.unit, t.absolute, now), true
			return true
		}
	}
	return false
}

// expiry refuses a second option about the deadline, exists one about fields.
func (o *exOptions) expiry(a *command.Args) {
	if o.timed || o.keep {
		a.Reject(errOneOfKeep)
	}
}

func (o *exOptions) exists(a *command.Args) {
	if o.fnx || o.fxx {
		a.Reject(errOneOfExists)
	}
}

// HGETEX key [EX seconds | PX ms | EXAT time | PXAT ms-time | PERSIST]
// FIELDS numfields field [field ...]
func hgetexSpec() *command.Spec {
	spec := writeSpec("hgetex", -5, 0, command.KeyAccess|command.KeyUpdate, hgetex)
	spec.Keys[0].Notes = "RW and UPDATE because it changes the TTL"
	return spec
}

func hgetex(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	o := parseGetEx(c, tx.Now())
	if err := c.Args.Done(); err != nil {
		return err
	}
	h, err := hash.Write(tx, key)
	if err != nil {
		return err
	}
	c.Reply.Array(len(o.fields))
	changed := newEffect(c, key)
	for _, field := range o.fields {
		if !replyGet(c.Reply, &h, field) {
			continue
		}
		switch {
		case o.timed:
			if _, err = expire(&h, field, o.at, always, tx.Due()); err != nil {
				return err
			}
			changed.add(field)
		case o.persist && h.ClearDeadline(field):
			changed.add(field)
		}
	}
	switch {
	case o.timed:
		changed.expire(tx, o.at)
	case changed.n > 0:
		tx.Touched(key, db.ClassHash, "hpersist")
		changed.replicate(wordHPersist, wordFields, c.Digits(int64(changed.n)))
	}
	return nil
}

// HGETDEL key FIELDS numfields field [field ...]
func hgetdelSpec() *command.Spec {
	return writeSpec("hgetdel", -5, 0, command.KeyAccess|command.KeyDelete, hgetdel)
}

func hgetdel(c *command.Call, tx db.Txn) error {
	key, list := c.Args.Key(), fields(&c.Args, errNumFields)
	if err := c.Args.Done(); err != nil {
		return err
	}
	h, err := hash.Write(tx, key)
	if err != nil {
		return err
	}
	c.Reply.Array(len(list))
	changed := newEffect(c, key)
	for _, field := range list {
		if replyGet(c.Reply, &h, field) {
			h.Delete(field)
			changed.add(field)
		}
	}
	changed.removed(tx)
	return nil
}

// HSETEX key [FNX | FXX] [EX seconds | PX ms | EXAT time | PXAT ms-time | KEEPTTL]
// FIELDS numfields field value [field value ...]
func hsetexSpec() *command.Spec {
	return writeSpec("hsetex", -6, command.DenyOOM, command.KeyUpdate, hsetex)
}

func hsetex(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	o := parseSetEx(c, tx.Now())
	if err := c.Args.Done(); err != nil {
		return err
	}
	h, err := hash.Write(tx, key)
	if err != nil {
		return err
	}
	if o.fnx || o.fxx {
		for i := 0; i < len(o.fields); i += 2 {
			if h.Has(o.fields[i]) != o.fxx {
				c.Reply.Int(0)
				return nil
			}
		}
	}
	if err = o.set(&h, tx.Due()); err != nil {
		if h.Len() > 0 {
			tx.Touched(key, db.ClassHash, "hset") // some are set
		}
		return err
	}
	o.tell(c, tx, key)
	c.Reply.Int(1)
	return nil
}

// set sets the fields of HSETEX, whatever they were.
func (o *exOptions) set(h *hash.Hash, now db.Millis) (err error) {
	if !o.timed && !o.keep {
		_, err = h.SetAll(o.fields)
		return err
	}
	for i := 0; i < len(o.fields) && err == nil; i += 2 {
		field := o.fields[i]
		switch {
		case !o.timed:
			_, err = h.Update(field, o.fields[i+1])
		case o.at <= now:
			h.Delete(field)
		default:
			if _, err = h.Update(field, o.fields[i+1]); err == nil {
				err = h.SetDeadline(field, o.at)
			}
		}
	}
	return err
}

// tell publishes what HSETEX did: set fields, and let them expire or, when the time
// for that has passed, removed them.
func (o *exOptions) tell(c *command.Call, tx db.Txn, key []byte) {
	n := len(o.fields) / 2
	effect := [][]byte{wordHSetEx, key, wordKeepTTL, wordFields, c.Digits(int64(n))}
	switch {
	case o.timed && o.at <= tx.Due():
		if tx.Type(key) == db.TypeNone {
			return // there was nothing that could be removed
		}
		tx.Event(db.ClassHash, "hset", key)
		tx.Touched(key, db.ClassHash, "hdel")
		effect = effect[:2]
		effect[0] = wordHDel
		for i := 0; i < len(o.fields); i += 2 {
			effect = append(effect, o.fields[i])
		}
		c.ReplicateAs(effect...)
		return
	case o.timed:
		tx.Touched(key, db.ClassHash, "hset")
		tx.Event(db.ClassHash, "hexpire", key)
		effect = append(effect[:2], wordPXAt, c.Digits(int64(o.at)), wordFields, c.Digits(int64(n)))
	case o.keep:
		tx.Touched(key, db.ClassHash, "hset")
	default:
		tx.Touched(key, db.ClassHash, "hset")
		effect = append(effect[:0], wordHSet, key)
	}
	tx.Dirty(int64(n - 1))
	c.ReplicateAs(append(effect, o.fields...)...)
}
