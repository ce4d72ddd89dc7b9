//go:build invariants

package db

import (
	"bytes"
	"math/bits"
	"runtime"
	"strconv"
	"sync"

	"heddle/db/invariants"
)

// held knows which shards each goroutine has locked. It exists only in checked
// builds, where it finds a violation of the lock order when it happens, not
// when it deadlocks.
var held = struct {
	sync.Mutex
	sets map[holder]LockSet
}{sets: map[holder]LockSet{}}

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
	h := self(ks)
	held.Lock()
	defer held.Unlock()
	has := held.sets[h]
	if set != 0 && has != 0 {
		first, last := bits.TrailingZeros64(uint64(set)), bits.Len64(uint64(has))-1
		invariants.Assert(first > last, "shard %d locked after shard %d", first, last)
	}
	held.sets[h] = has | set
}

// dropOrder notes that shards are given back.
func dropOrder(ks *Keyspace, set LockSet) {
	h := self(ks)
	held.Lock()
	defer held.Unlock()
	has := held.sets[h]
	invariants.Assert(has&set == set, "shards %b unlocked, %b held", set, has)
	if has &^= set; has == 0 {
		delete(held.sets, h)
	} else {
		held.sets[h] = has
	}
}
