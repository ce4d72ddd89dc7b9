package dispatch

import (
	"heddle/db"
	"heddle/server/command"
)

// Effect is one change as others have to repeat it: a deterministic command
// and its database.
type Effect struct {
	DB   int
	Argv [][]byte
}

// Oplog takes the effects of commands, in the order of their commits.
type Oplog interface {
	// Active reports whether anybody reads.
	Active() bool
	// Append adds a group of effects that stay together: those of one command
	// or of one EXEC. The shards of its keys are locked; PUBLISH has none. It must not keep the
	// effects nor their bytes.
	Append(group []Effect)
}

// commit collects the effects of the command that just ran. Inside EXEC they
// wait for the rest of the group.
func (x *Executor) commit(call *command.Call, db int, inExec bool) {
	if !x.e.oplog.Active() {
		return
	}
	for _, argv := range call.Effects() {
		if inExec {
			argv = clone(argv)
		}
		x.effects = append(x.effects, Effect{DB: db, Argv: argv})
	}
	if !inExec {
		x.append()
	}
}

// append hands the collected effects to the oplog.
func (x *Executor) append() {
	if group := x.effects; len(group) > 0 {
		x.effects = group[:0]
		x.e.oplog.Append(group)
	}
}

// expired and evicted are the keyspace's hooks: a key that the engine removed
// itself is deleted elsewhere, too.
func (e *Engine) expired(db int, key []byte) { e.removed(db, key) }
func (e *Engine) evicted(db int, key []byte) { e.removed(db, key) }

func (e *Engine) removed(db int, key []byte) {
	if e.oplog != nil && e.oplog.Active() {
		e.oplog.Append([]Effect{{DB: db, Argv: [][]byte{[]byte("DEL"), key}}})
	}
}

// memberExpired is the same for a member of a collection.
func (e *Engine) memberExpired(database int, t db.Type, key, member []byte) {
	if e.oplog == nil || !e.oplog.Active() {
		return
	}
	name := "HDEL"
	switch t {
	case db.TypeSet:
		name = "SREM"
	case db.TypeZSet:
		name = "ZREM"
	}
	e.oplog.Append([]Effect{{DB: database, Argv: [][]byte{[]byte(name), key, member}}})
}

// clone copies argv into memory of its own.
func clone(argv [][]byte) [][]byte {
	size := 0
	for _, a := range argv {
		size += len(a)
	}
	buf := make([]byte, 0, size)
	out := make([][]byte, len(argv))
	for i, a := range argv {
		n := len(buf)
		buf = append(buf, a...)
		out[i] = buf[n:len(buf):len(buf)]
	}
	return out
}
