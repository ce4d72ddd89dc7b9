//go:build invariants

package db

import (
	"bytes"
	"math/bits"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"heddle/db/invariants"
)

// held knows which shards some goroutines have locked. It exists only in checked
// builds, where it finds a violation of the lock order when it happens, not when
// it deadlocks. To find out which goroutine it is takes some ten microseconds, so
// only one locking in a hundred is followed, with all that the goroutine locks
// meanwhile.
var held struct {
	sync.Mutex
	sets     map[holder]LockSet
	followed atomic.Int32 // len(sets)
}

// holder is a goroutine and the keyspace whose shards it holds.
type holder struct {
	goroutine int
	ks        *Keyspace
}

func self(ks *Keyspace) holder {
	var buf [64]byte
	b := buf[:runtime.Stack(buf[:], false)]
	b = bytes.TrimPrefix(b, []byte("goroutine "))
	id, _ := strconv.Atoi(string(b[:bytes.IndexByte(b, ' ')]))
	return holder{id, ks}
}

// holdOrder checks that the shards of set come after all that the goroutine has.
func holdOrder(ks *Keyspace, set LockSet) {
	follow := invariants.Sometimes(100)
	if !follow && held.followed.Load() == 0 {
		return
	}
	h := self(ks)
	held.Lock()
	defer held.Unlock()
	has := held.sets[h]
	if set != 0 && has != 0 {
		first, last := bits.TrailingZeros64(uint64(set)), bits.Len64(uint64(has))-1
		invariants.Assert(first > last, "shard %d locked after shard %d", first, last)
	}
	if follow || has != 0 {
		note(h, has|set)
	}
}

// noteOrder notes shards that were locked without waiting.
func noteOrder(ks *Keyspace, set LockSet) {
	if held.followed.Load() == 0 {
		return
	}
	h := self(ks)
	held.Lock()
	defer held.Unlock()
	if has := held.sets[h]; has != 0 {
		note(h, has|set)
	}
}

// dropOrder notes that shards are given back.
func dropOrder(ks *Keyspace, set LockSet) {
	if held.followed.Load() == 0 {
		return
	}
	h := self(ks)
	held.Lock()
	defer held.Unlock()
	note(h, held.sets[h]&^set)
}

// note remembers what a goroutine has locked.
func note(h holder, set LockSet) {
	if held.sets == nil {
		held.sets = map[holder]LockSet{}
	}
	if held.sets[h] = set; set == 0 {
		delete(held.sets, h)
	}
	held.followed.Store(int32(len(held.sets)))
}
