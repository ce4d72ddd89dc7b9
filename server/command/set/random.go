package sets

import (
	"math"
	"math/rand/v2"

	"heddle/db"
	"heddle/db/set"
	"heddle/resp"
	"heddle/server/command"
)

// SPOP key [count]
func spopSpec() *command.Spec {
	return &command.Spec{
		Name: "spop", Arity: -2, Keys: command.Key(1, command.KeyRW|command.KeyAccess|command.KeyDelete),
		Flags: command.Fast, ACL: command.CatSet, Group: group, Tips: []string{"nondeterministic_output"}, Write: spop,
	}
}

func spop(c *command.Call, tx db.Txn) error {
	key := c.Args.Key()
	if c.Args.More() {
		return spopCount(c, tx, key)
	}
	s, err := set.WriteToDraw(tx, key)
	if err != nil {
		return err
	}
	if s.Len() == 0 {
		c.Reply.Null()
		return nil
	}
	m, err := s.Pop(tx, c.Room(64)[:0])
	if err != nil {
		return err
	}
	tx.Touched(key, db.ClassSet, "spop")
	c.ReplicateAs(wordSRem, key, m)
	c.Reply.Bulk(m)
	return nil
}

func spopCount(c *command.Call, tx db.Txn, key []byte) error {
	if c.Args.Len() > 1 {
		return resp.ErrSyntax
	}
	count := c.Args.IntRange(0, math.MaxInt64, resp.ErrNotPositive)
	if err := c.Args.Done(); err != nil {
		return err
	}
	s, err := set.WriteToDraw(tx, key)
	if err != nil {
		return err
	}
	if s.Len() == 0 || count == 0 {
		c.Reply.Set(0)
		return nil
	}
	if count >= int64(s.Len()) {
		spopAll(c, tx, key, &s)
		return nil
	}
	taken, err := s.PopMany(int(count), tx)
	if err != nil {
		return err
	}
	changed(tx, key, "spop", count)
	replicateMembers(c, wordSRem, key, &taken)
	c.Reply.Set(taken.Len())
	replyPart(c, &taken)
	return nil
}

// spopAll pops all members, and the key with them.
func spopAll(c *command.Call, tx db.Txn, key []byte, s *set.Set) {
	all := s.Whole()
	c.Reply.Set(all.Len())
	replyPart(c, &all)
	tx.Event(db.ClassSet, "spop", key)
	tx.Delete(key)
	tx.Touched(key, db.ClassGeneric, "del")
	tx.Dirty(int64(all.Len()) - 1)
	c.ReplicateAs(wordDel, key)
}

// membersAtOnce is how many members an effect names at most.
const membersAtOnce = 1024

// replicateMembers names the effects: SADD or SREM with all members of a part.
func replicateMembers(c *command.Call, word, key []byte, p *set.Part) {
	if !c.Logged() {
		c.ReplicateAs(word, key) // no more than a note that the command is not it
		return
	}
	argv := append(make([][]byte, 0, 2+min(p.Len(), membersAtOnce)), word, key)
	it := p.Iter(scratch(c))
	for it.Next() {
		m := it.Member()
		if !p.Large() {
			m = c.Keep(m) // it was unpacked to where the next one comes
		}
		if argv = append(argv, m); len(argv) == 2+membersAtOnce {
			c.ReplicateAs(argv...)
			argv = argv[:2]
		}
	}
	if len(argv) > 2 {
		c.ReplicateAs(argv...)
	}
}

// SRANDMEMBER key [count]
func srandmemberSpec() *command.Spec {
	spec := readSpec("srandmember", -2, 0, command.KeyAccess, srandmember)
	spec.Tips = []string{"nondeterministic_output"}
	return spec
}

func srandmember(c *command.Call, v db.View) error {
	key := c.Args.Key()
	if c.Args.More() {
		return srandmemberCount(c, v, key)
	}
	s, err := set.ReadToDraw(v, key)
	if err != nil {
		return err
	}
	if s.Len() == 0 {
		c.Reply.Null()
		return nil
	}
	replyRandom(c.Reply, &s, v)
	return nil
}

const errLong resp.Error = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"

// srandmemberCount draws different members or, if count is negative, that many times
// any member.
func srandmemberCount(c *command.Call, v db.View, key []byte) error {
	if c.Args.Len() > 1 {
		return resp.ErrSyntax
	}
	count := c.Args.Int()
	if count == math.MinInt64 {
		c.Args.Reject(errLong)
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	s, err := set.ReadToDraw(v, key)
	switch {
	case err != nil:
		return err
	case s.Len() == 0 || count == 0:
		c.Reply.Array(0)
		return nil
	case count < 0:
		replyDraws(c.Reply, v, &s, -count)
		return nil
	}
	p := s.Whole()
	if count < int64(s.Len()) {
		p = s.Sample(int(count), v)
	}
	c.Reply.Array(p.Len())
	replyPart(c, &p)
	return nil
}

// replyDraws writes n random members, the same one any number of times.
func replyDraws(w *resp.Writer, v db.View, s *set.Set, n int64) {
	w.Array(int(n))
	if n > streamFrom {
		d := &drawStream{s: s.Clone(), left: n}
		d.Pin = d.s.Pin()
		d.rng.Seed(v.Rand(), v.Rand())
		w.Stream(d)
		return
	}
	for range n {
		replyRandom(w, s, v)
	}
}

// drawStream is a resp.Stream of random members.
type drawStream struct {
	db.Pin
	s    set.Set
	left int64
	rng  source
}

// source is a members.Source of its own.
type source struct{ rand.PCG }

// Rand returns a random number.
func (s *source) Rand() uint64 { return s.Uint64() }

// Next writes some members.
func (d *drawStream) Next(w *resp.Writer) bool {
	for ; d.left > 0 && w.Len() < resp.StreamPiece; d.left-- {
		replyRandom(w, &d.s, &d.rng)
	}
	return d.left > 0
}
