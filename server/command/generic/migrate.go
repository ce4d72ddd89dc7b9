package generic

import (
	"bytes"
	"strings"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// MIGRATE blocks all of Redis until the other server has answered. Here only its client
// waits: the values are taken as payloads under the locks of the keys, sent without any
// (Call.Away), and when the other server has taken them, the locks are taken anew and what
// is still as it was sent is deleted: a key whose payload and time to live are the same
// bytes. One that was written meanwhile is sent again, and one that was deleted is deleted
// there too; so no write is lost, and the order that others see is that of a MIGRATE at the
// end. A key that is written all the time stays here, after maxRounds times.

// Mover sends keys to other servers. Safe for concurrent use.
type Mover interface {
	// Move sends what a job says and notes in it what came of that. It may take as long
	// as the job's timeout, several times.
	Move(*MoveJob)
}

// MoveJob is a part of a MIGRATE on its way.
type MoveJob struct {
	Addr, Port     string
	DB             int64
	Timeout        db.Millis // for a connection, and for each read or write
	User, Password []byte    // Password nil: none; User nil: the default one
	Keys           []MoveKey

	// IOError is what could not be done: "connecting", "writing" or "reading"; empty if all was.
	IOError string
	// Refused is the first error that the other server replied, without the dash.
	Refused string
}

// MoveKey is a key on its way.
type MoveKey struct {
	Key     []byte
	Payload []byte // nil: the key is to be deleted there
	TTL     db.Millis
	Replace bool
	Done    bool // the other server has done it
	expire  db.Expiry
}

// Deps is what the family needs beside the keyspace.
type Deps struct {
	Mover Mover // nil: MIGRATE answers as though no server could be reached
	// Verbose logs what is wrong with the payload of a RESTORE, at level verbose. Shards are
	// locked meanwhile. nil: nobody wants to know.
	Verbose func(line string)
}

// maxRounds is how many times a key is sent that changes meanwhile.
const maxRounds = 100

const (
	errMigrateKeys    resp.Error = "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string"
	errMigrateConnect resp.Error = "IOERR error or timeout connecting to the client"
	errMigrateRest    resp.Error = "IOERR keys kept changing while they were sent: they are here, and as they were in the target instance"
	migrateTimeout               = 1000 // ms, if none is given
)

// migrateSpecs: MIGRATE host port key|"" db timeout [COPY] [REPLACE] [AUTH password |
// AUTH2 user password] [KEYS key ...]
func migrateSpecs(d Deps) []*command.Spec {
	flags := command.KeyRW | command.KeyAccess | command.KeyDelete
	return []*command.Spec{{
		Name: "migrate", Arity: -6,
		Keys: []command.KeySpec{
			{Begin: 3, Step: 1, Flags: flags},
			{Keyword: "KEYS", StartFrom: -2, Last: -1, Step: 1, Flags: flags | command.KeyIncomplete},
		},
		FindKeys: findMigrateKeys, ACL: command.CatKeyspace | command.CatDangerous, Group: group, Tips: []string{tipNondetermined},
		Write: func(c *command.Call, tx db.Txn) error { return migrate(c, tx, d.Mover) },
	}}
}

// findMigrateKeys finds the key at its place or, if that is empty, those behind KEYS.
func findMigrateKeys(dst []command.KeyRef, argv [][]byte) ([]command.KeyRef, error) {
	flags := command.KeyRW | command.KeyAccess | command.KeyDelete
	if len(argv[3]) > 0 {
		return append(dst, command.KeyRef{Index: 3, Flags: flags}), nil
	}
	for i := 6; i < len(argv); i++ {
		switch strings.ToLower(string(argv[i])) {
		case "auth":
			i++
		case "auth2":
			i += 2
		case "keys":
			for i++; i < len(argv); i++ {
				dst = append(dst, command.KeyRef{Index: i, Flags: flags})
			}
			return dst, nil
		}
	}
	return append(dst, command.KeyRef{Index: 3, Flags: flags}), nil
}

// migration is a MIGRATE that was begun, from one round to the next.
type migration struct {
	job    MoveJob
	copies bool
	rounds int
	reply  error // of what went wrong so far
}

func migrate(c *command.Call, tx db.Txn, mover Mover) error {
	redactPasswords(c)
	switch m := c.Returned().(type) {
	case nil:
	case *migration:
		return m.returned(c, tx, mover)
	case error:
		return m
	}
	m, keys, err := readMigration(c)
	if err != nil {
		return err
	}
	replace := m.job.Keys[0].Replace
	m.job.Keys = m.job.Keys[:0]
	for _, key := range keys {
		if k, found := takeKey(tx, key); found {
			k.Replace = replace
			m.job.Keys = append(m.job.Keys, k)
		}
	}
	if len(m.job.Keys) == 0 {
		c.Reply.Simple("NOKEY")
		return nil
	}
	return m.send(c, mover)
}

// readMigration reads the arguments. Whether to replace stands in the first of the job's
// keys.
func readMigration(c *command.Call) (*migration, [][]byte, error) {
	a := &c.Args
	m := &migration{}
	m.job.Addr, m.job.Port = string(a.Bytes()), string(a.Bytes())
	keys := [][]byte{a.Bytes()}
	database, timeout := a.Bytes(), a.Bytes()
	replace := false
	for a.More() {
		switch {
		case a.Word("copy"):
			m.copies = true
		case a.Word("replace"):
			replace = true
		case a.Len() > 1 && a.Word("auth"):
			m.job.Password = bytes.Clone(a.Bytes())
		case a.Len() > 2 && a.Word("auth2"):
			m.job.User, m.job.Password = bytes.Clone(a.Bytes()), bytes.Clone(a.Bytes())
		case a.Word("keys"):
			if len(keys[0]) != 0 {
				a.Reject(errMigrateKeys)
			}
			keys = a.Rest()
		default:
			a.Reject(resp.ErrSyntax)
		}
	}
	if err := a.Done(); err != nil {
		return nil, nil, err
	}
	ms, ok := command.ParseInt(timeout)
	n, ok2 := command.ParseInt(database)
	if !ok || !ok2 {
		return nil, nil, resp.ErrNotInteger
	}
	if ms <= 0 {
		ms = migrateTimeout
	}
	m.job.DB, m.job.Timeout = n, db.Millis(ms)
	m.job.Keys = []MoveKey{{Replace: replace}}
	return m, keys, nil
}

// redactPasswords hides what follows AUTH and AUTH2 from MONITOR and the slow log.
func redactPasswords(c *command.Call) {
	argv := c.Args.Argv()
	for i := 6; i < len(argv); i++ {
		switch strings.ToLower(string(argv[i])) {
		case "auth":
			c.Redact(i + 1)
			i++
		case "auth2":
			c.Redact(i + 1)
			c.Redact(i + 2)
			i += 2
		case "keys":
			return
		}
	}
}

// takeKey makes the payload of a key.
func takeKey(tx db.Txn, key []byte) (k MoveKey, found bool) {
	it, found := tx.Item(key)
	if !found {
		return k, false
	}
	k = MoveKey{Key: bytes.Clone(key), Payload: appendDump(nil, &it, tx), expire: it.Expire}
	if it.Expire != db.NoExpiry {
		k.TTL = max(it.Expire-tx.Now(), 1)
	}
	return k, len(k.Payload) > 0
}

// send lets the keys of the job be sent.
func (m *migration) send(c *command.Call, mover Mover) error {
	if mover == nil {
		return errMigrateConnect
	}
	m.rounds++
	return c.Away(func() any {
		mover.Move(&m.job)
		return m
	})
}

// returned looks after what was sent.
func (m *migration) returned(c *command.Call, tx db.Txn, mover Mover) error {
	if m.reply == nil {
		m.reply = m.job.failure()
	}
	var rest []MoveKey
	deleted := false
	for _, sent := range m.job.Keys {
		if !sent.Done || m.copies {
			continue
		}
		switch k, found := takeKey(tx, sent.Key); {
		case !found && sent.Payload == nil:
		case !found:
			rest = append(rest, MoveKey{Key: sent.Key})
		case k.expire == sent.expire && bytes.Equal(k.Payload, sent.Payload):
			tx.Delete(sent.Key)
			tx.Touched(sent.Key, db.ClassGeneric, "del")
			c.ReplicateAs(wordDel, sent.Key)
			deleted = true
		default:
			k.Replace = true
			rest = append(rest, k)
		}
	}
	m.job.Keys = rest
	switch {
	case len(rest) > 0 && m.job.IOError == "" && m.rounds < maxRounds:
		return m.send(c, mover)
	case m.reply == nil && len(rest) == 0:
		c.Reply.OK()
		return nil
	case m.reply == nil:
		m.reply = errMigrateRest
	}
	if text, ok := m.reply.(resp.Error); ok && deleted {
		c.Reply.Error(text) // what was deleted is what the command has done: it did not fail
		return nil
	}
	return m.reply
}

// failure is the reply for what went wrong, nil if nothing did.
func (j *MoveJob) failure() error {
	switch {
	case j.IOError == "connecting":
		return errMigrateConnect
	case j.Refused != "":
		return command.Errorf("ERR Target instance replied with error: %s", []byte(j.Refused))
	case j.IOError != "":
		return resp.Error("IOERR error or timeout " + j.IOError + " to target instance")
	}
	return nil
}
