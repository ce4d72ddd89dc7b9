package sortedset

import (
	"math"

	"heddle/db"
	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
)

// Names that effects are written with.
var (
	wordDel  = []byte("DEL")
	wordZAdd = []byte("ZADD")
)

// Store puts a result under key, or removes the key if it is empty, and answers how
// many members there are. The effects name the members, not where they come from: what
// the keys that were read hold may be otherwise where the effects are repeated, if only
// because members have expired.
func Store(c *command.Call, tx db.Txn, key []byte, result *zset.Object, event string) error {
	if tx.Type(key) != db.TypeNone {
		c.ReplicateAs(wordDel, key)
	}
	n := int64(result.Len())
	switch {
	case n > 0:
		if err := zset.Store(tx, key, result); err != nil {
			return err
		}
		tx.Touched(key, db.ClassZSet, event)
		replicateMembers(c, key, result)
	case tx.Delete(key):
		tx.Touched(key, db.ClassGeneric, "del")
	}
	c.Reply.Int(n)
	return nil
}

// membersAtOnce is how many members an effect names at most.
const membersAtOnce = 1024

// replicateMembers names the effects that make a result: ZADD with all its members.
func replicateMembers(c *command.Call, key []byte, result *zset.Object) {
	if !c.Logged() {
		c.ReplicateAs(wordZAdd, key) // no more than a note that the command is not it
		return
	}
	z := zset.Computed(result)
	argv := append(make([][]byte, 0, 2+2*min(z.Len(), membersAtOnce)), wordZAdd, key)
	var scores []byte
	z.Each(0, z.Len(), false, func(member []byte, score float64) bool {
		at := len(scores)
		scores = resp.AppendDouble(scores, score)
		if argv = append(argv, scores[at:len(scores):len(scores)], member); len(argv) == 2+2*membersAtOnce {
			c.ReplicateAs(argv...)
			argv = argv[:2]
		}
		return true
	})
	if len(argv) > 2 {
		c.ReplicateAs(argv...)
	}
	if !z.IsListpack() {
		replicateMinusZeros(c, key, &z)
	}
}

// replicateMinusZeros says again which members have the score -0: where the effects are
// repeated the set begins as a listpack, which makes 0 of it. Equal scores change nothing,
// so they have another in between.
func replicateMinusZeros(c *command.Call, key []byte, z *zset.ZSet) {
	for _, score := range [...][]byte{[]byte("1"), []byte("-0")} {
		argv := [][]byte{wordZAdd, key}
		z.Each(0, z.Len(), false, func(member []byte, s float64) bool {
			if s == 0 && math.Signbit(s) {
				argv = append(argv, score, member)
			}
			return s <= 0
		})
		if len(argv) > 2 {
			c.ReplicateAs(argv...)
		}
	}
}
