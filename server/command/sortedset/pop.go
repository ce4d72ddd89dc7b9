package sortedset

import (
	"bytes"
	"math"

	"heddle/db"
	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
)

// popSpecs: ZPOPMIN key [count], ZPOPMAX key [count],
// ZMPOP numkeys key [key ...] <MIN | MAX> [COUNT count],
// BZPOPMIN key [key ...] timeout, BZPOPMAX key [key ...] timeout,
// BZMPOP timeout numkeys key [key ...] <MIN | MAX> [COUNT count]
func popSpecs() []*command.Spec {
	const flags = command.KeyRW | command.KeyAccess | command.KeyDelete
	pop := func(name string, e end) *command.Spec {
		return writing(name, -2, command.Fast, command.KeyAccess|command.KeyDelete,
			func(c *command.Call, tx db.Txn) error { return zpop(c, tx, e) })
	}
	block := func(name string, e end) *command.Spec {
		return &command.Spec{
			Name: name, Arity: -3, Keys: command.Range(1, -2, 1, flags), Flags: command.Fast | command.Blocking,
			ACL: command.CatSortedSet, Group: group, Awaits: db.TypeZSet, OnTimeout: (*resp.Writer).NullArray,
			Write: func(c *command.Call, tx db.Txn) error { return bzpop(c, tx, e) },
		}
	}
	return []*command.Spec{
		pop("zpopmin", lowest), pop("zpopmax", highest), block("bzpopmin", lowest), block("bzpopmax", highest),
		{
			Name: "zmpop", Arity: -4, Keys: command.NumKeys(1, flags), ACL: command.CatSortedSet, Group: group,
			Write: zmpop,
		}, {
			Name: "bzmpop", Arity: -5, Keys: command.NumKeys(2, flags), Flags: command.Blocking,
			ACL: command.CatSortedSet, Group: group, Awaits: db.TypeZSet, OnTimeout: (*resp.Writer).NullArray, Write: bzmpop,
		},
	}
}

// end is the end of the order that members are taken from.
type end uint8

const (
	lowest end = iota
	highest
)

// event is what a change is called, word the command that does it.
func (e end) event() string {
	if e == lowest {
		return "zpopmin"
	}
	return "zpopmax"
}

func (e end) word() []byte {
	if e == lowest {
		return wordPopMin
	}
	return wordPopMax
}

// Names that effects are written with.
var (
	wordPopMin = []byte("ZPOPMIN")
	wordPopMax = []byte("ZPOPMAX")
)

// span returns the ranks of up to count members at the end of n.
func (e end) span(count int64, n int) (from, to int) {
	count = min(count, int64(n))
	if e == lowest {
		return 0, int(count)
	}
	return n - int(count), n
}

func zpop(c *command.Call, tx db.Txn, e end) error {
	key, count, many := c.Args.Key(), int64(1), c.Args.More()
	if c.Args.Len() > 1 {
		return resp.ErrSyntax
	}
	if many {
		count = c.Args.IntRange(0, math.MaxInt64, resp.ErrNotPositive)
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	z, err := zset.Write(tx, key)
	if err != nil {
		return err
	}
	from, to := e.span(count, z.Len())
	mark := c.Reply.Mark()
	if many {
		replyRange(c.Reply, &z, from, to, e == highest, true)
	} else {
		replyFlat(c.Reply, &z, from, to)
	}
	if err := dropRange(tx, key, &z, from, to, e.event()); err != nil {
		c.Reply.Rewind(mark)
		return err
	}
	return nil
}

// replyFlat writes members with their scores as an array that is flat in RESP3, too.
func replyFlat(w *resp.Writer, z *zset.ZSet, from, to int) {
	w.Array(2 * (to - from))
	var it zset.Iter
	for it.Start(z, from, to, false); it.Next(); {
		replyMember(w, z, &it)
		w.Double(it.Score())
	}
}

func bzpop(c *command.Call, tx db.Txn, e end) error {
	keys := c.Args.Argv()[1 : len(c.Args.Argv())-1]
	c.Args.Skip(len(keys))
	timeout := c.Args.Timeout(tx.Now())
	if err := c.Args.Done(); err != nil {
		return err
	}
	key, z, err := firstOf(c, tx, keys)
	switch {
	case err != nil:
		return err
	case key == nil:
		return c.Wait(timeout)
	}
	from, to := e.span(1, z.Len())
	mark := c.Reply.Mark()
	c.Reply.Array(3)
	c.Reply.Bulk(key)
	var it zset.Iter
	for it.Start(&z, from, to, false); it.Next(); {
		replyMember(c.Reply, &z, &it)
		c.Reply.Double(it.Score())
	}
	if err := dropRange(tx, key, &z, from, to, e.event()); err != nil {
		c.Reply.Rewind(mark)
		return err
	}
	c.ReplicateAs(e.word(), key)
	return nil
}

// firstOf returns the first key that has members, nil when none has. The key whose write
// woke the command comes before all others. Where the command has
// waited, keys of other types are passed over.
func firstOf(c *command.Call, tx db.Txn, keys [][]byte) (key []byte, z zset.ZSet, err error) {
	if ready := c.Ready(); ready != nil {
		if key, z, err = tryKey(c, tx, ready); key != nil || err != nil {
			return key, z, err
		}
	}
	for _, k := range keys {
		if bytes.Equal(k, c.Ready()) && c.Ready() != nil {
			continue
		}
		if key, z, err = tryKey(c, tx, k); key != nil || err != nil {
			return key, z, err
		}
	}
	return nil, z, nil
}

// tryKey returns key if it has members, nil if not.
func tryKey(c *command.Call, tx db.Txn, key []byte) ([]byte, zset.ZSet, error) {
	z, err := zset.Write(tx, key)
	switch {
	case err == db.ErrWrongType && c.Resumed():
		return nil, z, nil
	case err != nil || z.Len() == 0:
		return nil, z, err
	}
	return key, z, nil
}

func zmpop(c *command.Call, tx db.Txn) error {
	m := readMulti(&c.Args)
	if err := c.Args.Done(); err != nil {
		return err
	}
	done, err := m.pop(c, tx)
	if err == nil && !done {
		c.Reply.NullArray()
	}
	return err
}

func bzmpop(c *command.Call, tx db.Txn) error {
	c.Args.Skip(1)
	m := readMulti(&c.Args)
	if err := c.Args.Done(); err != nil {
		return err
	}
	first := command.NewArgs(c.Args.Argv()) // a wrong timeout is the last to be told
	timeout := first.Timeout(tx.Now())
	if err := first.Err(); err != nil {
		return err
	}
	done, err := m.pop(c, tx)
	if err == nil && !done {
		return c.Wait(timeout)
	}
	return err
}

// multi is what ZMPOP and BZMPOP are asked for.
type multi struct {
	keys  [][]byte
	end   end
	count int64
}

func readMulti(a *command.Args) (m multi) {
	m.count = 1
	n := a.IntRange(1, math.MaxInt64, errNumKeys)
	if n >= int64(a.Len()) {
		a.Reject(resp.ErrSyntax)
	}
	if a.Err() != nil {
		return m
	}
	m.keys = a.Argv()[len(a.Argv())-a.Len():][:n]
	a.Skip(int(n))
	switch {
	case a.Word("min"):
	case a.Word("max"):
		m.end = highest
	default:
		a.Reject(resp.ErrSyntax)
	}
	if a.Len() >= 2 && a.Word("count") {
		m.count = a.IntRange(1, math.MaxInt64, errCount)
	}
	return m
}

// pop takes members of the first key that has any, and answers; false if none has.
func (m *multi) pop(c *command.Call, tx db.Txn) (bool, error) {
	key, z, err := firstOf(c, tx, m.keys)
	if key == nil {
		return false, err
	}
	from, to := m.end.span(m.count, z.Len())
	mark := c.Reply.Mark()
	c.Reply.Array(2)
	c.Reply.Bulk(key)
	replyNested(c.Reply, &z, from, to, m.end == highest)
	if err := dropRange(tx, key, &z, from, to, m.end.event()); err != nil {
		c.Reply.Rewind(mark)
		return false, err
	}
	c.ReplicateAs(m.end.word(), key, c.Digits(int64(to-from)))
	return true, nil
}

// replyNested writes members with their scores, each an array of two in RESP2, too.
func replyNested(w *resp.Writer, z *zset.ZSet, from, to int, rev bool) {
	w.Array(to - from)
	if z.Large() != nil && to-from > streamFrom {
		kept, pin := z.Keep()
		w.Stream(&nestedStream{rangeStream{Pin: pin, z: kept, from: from, to: to, rev: rev}})
		return
	}
	var it zset.Iter
	for it.Start(z, from, to, rev); it.Next(); {
		replyPair(w, z, &it)
	}
}

func replyPair(w *resp.Writer, z *zset.ZSet, it *zset.Iter) {
	w.Array(2)
	replyMember(w, z, it)
	w.Double(it.Score())
}

// nestedStream is the rest of what replyNested writes.
type nestedStream struct{ rangeStream }

// Next writes some more elements.
func (s *nestedStream) Next(w *resp.Writer) bool {
	return s.some(w, func(it *zset.Iter) { replyPair(w, &s.z, it) })
}
