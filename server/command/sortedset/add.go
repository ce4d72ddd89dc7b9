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

// addOptions are ZADD's.
type addOptions struct{ nx, xx, gt, lt, ch, incr bool }

const (
	errXXAndNX   resp.Error = "ERR XX and NX options at the same time are not compatible"
	errGTAndLT   resp.Error = "ERR GT, LT, and/or NX options at the same time are not compatible"
	errIncrPairs resp.Error = "ERR INCR option supports a single increment-element pair"
)

func readAddOptions(a *command.Args) (o addOptions) {
	for {
		switch {
		case a.Word("nx"):
			o.nx = true
		case a.Word("xx"):
			o.xx = true
		case a.Word("gt"):
			o.gt = true
		case a.Word("lt"):
			o.lt = true
		case a.Word("ch"):
			o.ch = true
		case a.Word("incr"):
			o.incr = true
		default:
			return o
		}
	}
}

// check refuses options that exclude each other, and n arguments that are no pairs.
func (o *addOptions) check(n int) error {
	switch {
	case n == 0 || n%2 != 0:
		return resp.ErrSyntax
	case o.nx && o.xx:
		return errXXAndNX
	case o.gt && o.nx || o.lt && o.nx || o.gt && o.lt:
		return errGTAndLT
	case o.incr && n > 2:
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
	return add(c, tx, c.Args.Key(), addOptions{incr: true}, c.Args.Rest())
}

// add is ZADD and ZINCRBY: pairs are scores and members.
func add(c *command.Call, tx db.Txn, key []byte, o addOptions, pairs [][]byte) error {
	scores := c.Room(len(pairs) * 4) // 8 bytes for each two
	for i := 0; i < len(pairs); i += 2 {
		s, ok := command.ParseFloat(pairs[i])
		if !ok {
			return resp.ErrNotFloat
		}
		binary.LittleEndian.PutUint64(scores[i*4:], math.Float64bits(s))
	}
	z, err := zset.Write(tx, key)
	if err != nil {
		return err
	}
	var sum addSum
	for i := 0; i < len(pairs) && err == nil; i += 2 {
		s := math.Float64frombits(binary.LittleEndian.Uint64(scores[i*4:]))
		err = o.apply(&z, pairs[i+1], s, &sum)
	}
	if n := sum.added + sum.updated; n > 0 {
		event := "zadd"
		if o.incr {
			event = "zincr"
		}
		tx.Touched(key, db.ClassZSet, event)
		tx.Dirty(n - 1)
	}
	if err != nil {
		return err
	}
	switch {
	case o.incr:
		replyScore(c.Reply, sum.score, sum.done)
	case o.ch:
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
func (o *addOptions) apply(z *zset.ZSet, member []byte, score float64, sum *addSum) error {
	old, found := z.Find(member)
	sum.done = false
	if found && o.nx || !found && o.xx {
		return nil
	}
	if found && o.incr {
		if score += old; score != score {
			return errNotANum
		}
	}
	if found && (o.gt && score <= old || o.lt && score >= old) {
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
