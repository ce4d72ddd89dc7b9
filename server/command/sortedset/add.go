package sortedset

import (
	"encoding/binary"
	"math"

	"heddle/db"
	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
)

// addSpecs: ZADD key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...],
// ZINCRBY key increment member
func addSpecs() []*command.Spec {
	return []*command.Spec{
		writing("zadd", -4, command.Fast|command.DenyOOM, command.KeyUpdate, zadd),
		writing("zincrby", 4, command.Fast|command.DenyOOM, command.KeyAccess|command.KeyUpdate, zincrby),
	}
}

// AddOptions are ZADD's.
type AddOptions struct{ NX, XX, GT, LT, CH, Incr bool }

const (
	errXXAndNX   resp.Error = "ERR XX and NX options at the same time are not compatible"
	errGTAndLT   resp.Error = "ERR GT, LT, and/or NX options at the same time are not compatible"
	errIncrPairs resp.Error = "ERR INCR option supports a single increment-element pair"
)

func readAddOptions(a *command.Args) (o AddOptions) {
	for {
		switch {
		case a.Word("nx"):
			o.NX = true
		case a.Word("xx"):
			o.XX = true
		case a.Word("gt"):
			o.GT = true
		case a.Word("lt"):
			o.LT = true
		case a.Word("ch"):
			o.CH = true
		case a.Word("incr"):
			o.Incr = true
		default:
			return o
		}
	}
}

// check refuses options that exclude each other, and n arguments that are no pairs.
func (o *AddOptions) check(n int) error {
	switch {
	case n == 0 || n%2 != 0:
		return resp.ErrSyntax
	case o.NX && o.XX:
		return errXXAndNX
	case o.GT && o.NX || o.LT && o.NX || o.GT && o.LT:
		return errGTAndLT
	case o.Incr && n > 2:
		return errIncrPairs
	}
	return nil
}

func zadd(c *command.Call, tx db.Txn) error {
	key, o := c.Args.Key(), readAddOptions(&c.Args)
	pairs := c.Args.Rest()
	if err := o.check(len(pairs)); err != nil {
		return err
	}
	return add(c, tx, key, o, pairs)
}

func zincrby(c *command.Call, tx db.Txn) error {
	return add(c, tx, c.Args.Key(), AddOptions{Incr: true}, c.Args.Rest())
}

// add is ZADD and ZINCRBY: pairs are scores and members.
func add(c *command.Call, tx db.Txn, key []byte, o AddOptions, pairs [][]byte) error {
	scores := NewScores(c, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		s, ok := command.ParseFloat(pairs[i])
		if !ok {
			return resp.ErrNotFloat
		}
		scores.Set(i/2, s)
	}
	return o.Add(c, tx, key, scores, pairs[1:], 2)
}

// Scores is a list of floats in memory of a call.
type Scores []byte

// NewScores returns a list of n, of any value.
func NewScores(c *command.Call, n int) Scores { return c.Room(8 * n) }

// Set sets score i.
func (s Scores) Set(i int, score float64) {
	binary.LittleEndian.PutUint64(s[8*i:], math.Float64bits(score))
}

func (s Scores) at(i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(s[8*i:])) }

// batchFrom is how many members are added to a packed set as a batch.
const batchFrom = 3

// Add is ZADD when the arguments are read: it adds members, of which one stands at every
// step-th place of args, and answers.
func (o *AddOptions) Add(c *command.Call, tx db.Txn, key []byte, scores Scores, args [][]byte, step int) error {
	z, err := zset.WriteFew(tx, key)
	if err != nil {
		return err
	}
	n := len(scores) / 8
	if n >= batchFrom {
		z.Batch(c.Room(db.PackedMax))
	}
	var sum addSum
	for i := 0; i < n && err == nil; i++ {
		err = o.apply(&z, args[i*step], scores.at(i), &sum)
	}
	if err == nil || !z.Gathers() {
		if failed := z.Flush(); failed != nil {
			return failed
		}
	} else {
		return err // nothing has reached the key
	}
	if n := sum.added + sum.updated; n > 0 {
		event := "zadd"
		if o.Incr {
			event = "zincr"
		}
		tx.Touched(key, db.ClassZSet, event)
		tx.Dirty(n - 1)
	}
	if err != nil {
		return err
	}
	switch {
	case o.Incr:
		replyScore(c.Reply, sum.score, sum.done)
	case o.CH:
		c.Reply.Int(sum.added + sum.updated)
	default:
		c.Reply.Int(sum.added)
	}
	return nil
}

// addSum is what came of the pairs.
type addSum struct {
	added, updated int64
	score          float64 // of the last
	done           bool    // the options allowed the last
}

// apply does one pair.
func (o *AddOptions) apply(z *zset.ZSet, member []byte, score float64, sum *addSum) error {
	old, found := z.Find(member)
	sum.done = false
	if found && o.NX || !found && o.XX {
		return nil
	}
	if found && o.Incr {
		if score += old; score != score {
			return errNotANum
		}
	}
	if found && (o.GT && score <= old || o.LT && score >= old) {
		return nil
	}
	sum.score, sum.done = score, true
	if found && score == old {
		return nil
	}
	if err := z.Put(score); err != nil {
		return err
	}
	if found {
		sum.updated++
	} else {
		sum.added++
	}
	return nil
}
