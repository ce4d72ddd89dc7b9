package dispatch

import (
	"math/bits"

	"heddle/db"
	"heddle/replication/oplog"
	"heddle/server/command"
)

// Oplog takes the effects of commands, in the order of their commits. *oplog.Log is
// one.
type Oplog interface {
	// Active reports whether anybody reads. It becomes true only while all shards
	// are locked.
	Active() bool
	// Append adds a group of effects that stay together: those of one command
	// or of one EXEC; at is the Unix time in milliseconds. The shards of its keys are
	// locked. It must not keep the effects nor their bytes. It returns the offset
	// behind the group.
	Append(at int64, group []oplog.Effect) oplog.Offset
	// End returns the offset behind the last group.
	End() oplog.Offset
	// Wake tells those who read that something was appended.
	Wake()
}

// logs reports whether anybody wants the effects of the command that is about to run,
// and tells the call. The locks of a command that writes are held: so nobody begins to
// read in the middle of it.
func (x *Executor) logs(call *command.Call) bool {
	yes := x.e.oplog != nil && x.e.oplog.Active() && !x.quiet
	call.SetLogged(yes)
	return yes
}

// commit collects the effects of the command that just ran. Inside EXEC they
// wait for the rest of the group.
func (x *Executor) commit(call *command.Call, db int, inExec bool) {
	for _, argv := range call.Effects() {
		if inExec {
			argv = clone(argv)
		}
		x.effects = append(x.effects, oplog.Effect{DB: db, Argv: argv})
	}
	if !inExec {
		x.append()
	}
}

// append hands the collected effects to the oplog, with the shards of the transaction
// locked. Those who read are woken when the batch is done.
func (x *Executor) append() {
	x.endGroup()
	group := x.effects
	if len(group) == 0 {
		return
	}
	x.effects = group[:0]
	at := x.e.oplog.Append(int64(x.now), group)
	x.e.appended(x.tx.LockSet(), at)
	x.wakes = true
}

// wakeReaders wakes those who read the oplog, if something was appended.
func (x *Executor) wakeReaders() {
	if x.wakes {
		x.wakes = false
		x.e.oplog.Wake()
	}
}

// shardEnd is the offset behind what was last appended for a shard, and who collects
// effects for EXEC with the shard locked; both under the shard's lock. It has a cache
// line of its own.
type shardEnd struct {
	at    oplog.Offset
	group *Executor
	_     [48]byte
}

// beginGroup has what the engine does by itself to keys of the locked shards, while EXEC
// runs, take its place among the effects of EXEC: the key that it removes may be one
// that EXEC has made, with a deadline of the past.
func (x *Executor) beginGroup() {
	if x.e.oplog == nil || !x.e.oplog.Active() {
		return
	}
	x.grouped = x.tx.LockSet()
	for m := uint64(x.grouped); m != 0; m &= m - 1 {
		x.e.ends[bits.TrailingZeros64(m)].group = x
	}
}

// endGroup ends what beginGroup began.
func (x *Executor) endGroup() {
	for m := uint64(x.grouped); m != 0; m &= m - 1 {
		x.e.ends[bits.TrailingZeros64(m)].group = nil
	}
	x.grouped = 0
}

// appended notes for the shards of a set, which are locked, where the log ended
// when their keys were last changed.
func (e *Engine) appended(set db.LockSet, at oplog.Offset) {
	for m := uint64(set); m != 0; m &= m - 1 {
		e.ends[bits.TrailingZeros64(m)].at = at
	}
}

// removed is the keyspace's hook for keys that expired or were evicted: what the engine
// removed itself is deleted elsewhere, too.
func (e *Engine) removed(db int, key []byte) {
	if e.oplog != nil && e.oplog.Active() {
		e.appendOwn(db, key, []byte("DEL"), key)
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
	e.appendOwn(database, key, []byte(name), key, member)
}

// appendOwn appends what the engine did to a key by itself; the key's shard is locked.
// Nobody is woken: who reads is in no hurry to learn of it, and looks when he is woken
// for another reason or at the end of a cycle of expiry (Engine.WakeReaders).
func (e *Engine) appendOwn(database int, key []byte, argv ...[]byte) {
	shard := e.ks.ShardOf(e.ks.Hash(key))
	if x := e.ends[shard].group; x != nil {
		x.effects = append(x.effects, oplog.Effect{DB: database, Argv: clone(argv)})
		return
	}
	at := e.oplog.Append(e.clock.Wall()/1e6, []oplog.Effect{{DB: database, Argv: argv}})
	e.appended(db.LockSet(1)<<uint(shard), at)
}

// WakeReaders wakes those who read the oplog, behind something that changed the
// keyspace outside of all executors: active expiry, eviction by cron.
func (e *Engine) WakeReaders() {
	if e.oplog != nil {
		e.oplog.Wake()
	}
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
