package sets

import (
	"cmp"
	"math"
	"slices"

	"heddle/db"
	"heddle/db/listpack"
	"heddle/db/set"
	"heddle/resp"
	"heddle/server/command"
)

// What several sets have in common, all members of them, what the first has alone.
//
// A reply does not list its members before it is written: the members of one or a
// few sets are marked, a bit each, while they are looked for in the others, then
// counted, then written, from clones if there are many. Only a union of more sets
// than unionMarks, and a difference in which the first set is the small part of the
// work, are collected in a set of their own, as everything is that is stored.

// operation is what is done with sets.
type operation uint8

const (
	inter operation = iota
	union
	diff
)

// SINTER key [key ...], SUNION key [key ...], SDIFF key [key ...]
func combineSpec(name string, op operation) *command.Spec {
	return &command.Spec{
		Name: name, Arity: -2, Keys: command.Range(1, -1, 1, command.KeyRO|command.KeyAccess),
		ACL: command.CatSet, Group: group, Tips: []string{"nondeterministic_output_order"},
		Read: func(c *command.Call, v db.View) error { return combine(c, v, op) },
	}
}

// scratch returns memory for the members of packed sets to be unpacked to.
func scratch(c *command.Call) *listpack.Scratch {
	return (*listpack.Scratch)(c.Room(len(listpack.Scratch{})))
}

// usualSets is for how many sets there is room without an allocation.
const usualSets = 8

// load reads sets; a missing one is empty.
func load(v db.View, keys [][]byte, room []set.Set) ([]set.Set, error) {
	if len(keys) > cap(room) {
		room = make([]set.Set, 0, len(keys))
	}
	for _, key := range keys {
		s, err := set.Read(v, key)
		if err != nil {
			return nil, err
		}
		room = append(room, s)
	}
	return room, nil
}

func combine(c *command.Call, v db.View, op operation) error {
	var room [usualSets]set.Set
	list, err := load(v, c.Args.Rest(), room[:0])
	if err != nil {
		return err
	}
	switch op {
	case inter:
		replyInter(c, list)
	case union:
		replyUnion(c, v, list)
	default:
		replyDiff(c, v, list)
	}
	return nil
}

// marks returns room for the marks of n members. A reply of most members, as it may
// become, keeps them if it is a stream.
func marks(c *command.Call, n, most int) set.Bits {
	if most > streamFrom {
		return make(set.Bits, set.BitsSize(n))
	}
	b := set.Bits(c.Room(set.BitsSize(n)))
	clear(b)
	return b
}

// mark marks the members of a set that are in all others or, if not common, in none
// of them, and returns them, for a reply of most members at most.
func mark(c *command.Call, s *set.Set, others []set.Set, common bool, most int) set.Part {
	bits := marks(c, s.Len(), most)
	n := 0
	w := s.Walk(scratch(c))
	for at := 0; w.Next(); at++ {
		m := w.Member()
		if common && inAll(others, m) || !common && !inAny(others, m) {
			bits.Put(at)
			n++
		}
	}
	return s.Chosen(bits, n)
}

// bySize puts the smallest set first.
func bySize(list []set.Set) {
	slices.SortStableFunc(list, func(a, b set.Set) int { return cmp.Compare(a.Len(), b.Len()) })
}

// inAll reports whether a member is in all sets.
func inAll(list []set.Set, m []byte) bool {
	for i := range list {
		if !list[i].Has(m) {
			return false
		}
	}
	return true
}

// inAny reports whether a member is in one of the sets.
func inAny(list []set.Set, m []byte) bool {
	for i := range list {
		if list[i].Has(m) {
			return true
		}
	}
	return false
}

func replyInter(c *command.Call, list []set.Set) {
	bySize(list)
	first, others := &list[0], list[1:]
	p := first.Whole()
	if len(others) > 0 {
		p = mark(c, first, others, true, first.Len())
	}
	c.Reply.Set(p.Len())
	replyPart(c, &p)
}

// unionMarks is up to how many sets a union is marked: each member is looked for in
// all sets before its own.
const unionMarks = 4

func replyUnion(c *command.Call, v db.View, list []set.Set) {
	list = slices.DeleteFunc(list, func(s set.Set) bool { return s.Len() == 0 })
	if len(list) > unionMarks {
		all := set.NewUnion(v.Limits())
		addAll(&all, list, scratch(c))
		p := all.Whole()
		c.Reply.Set(p.Len())
		replyPart(c, &p)
		return
	}
	bySize(list)
	slices.Reverse(list)
	var parts [unionMarks]set.Part
	n, most := 0, 0
	for i := range list {
		most += list[i].Len()
	}
	for i := range list {
		if i == 0 {
			parts[i] = list[i].Whole()
		} else {
			parts[i] = mark(c, &list[i], list[:i], false, most)
		}
		n += parts[i].Len()
	}
	c.Reply.Set(n)
	replyParts(c, parts[:len(list)], n)
}

// addAll adds all members of sets to another, which has no key.
func addAll(to *set.Set, list []set.Set, room *listpack.Scratch) {
	for i := range list {
		for w := list[i].Walk(room); w.Next(); {
			_, _ = to.Add(w.Member()) // without a key it does not fail
		}
	}
}

// diffBySubtracting reports whether it is less work to take the members of all other
// sets from a copy of the first than to look for each of the first in the others.
// The latter is worth twice its number of steps, since it ends early, and fills
// nothing.
func diffBySubtracting(list []set.Set) bool {
	looking, subtracting := 0, 0
	for i := range list {
		if n := list[i].Len(); n > 0 {
			looking += list[0].Len()
			subtracting += n
		}
	}
	return looking/2 > subtracting
}

// subtract collects the members that only the first set has.
func subtract(l *db.Limits, list []set.Set, room *listpack.Scratch) set.Set {
	rest := set.NewUnion(l)
	addAll(&rest, list[:1], room)
	for i := range list[1:] {
		for w := list[1+i].Walk(room); w.Next() && rest.Len() > 0; {
			_, _ = rest.Delete(w.Member())
		}
	}
	return rest
}

// largestFirst sorts the sets behind the first, since a member is likelier to be in a
// large one.
func largestFirst(list []set.Set) {
	bySize(list[1:])
	slices.Reverse(list[1:])
}

func replyDiff(c *command.Call, v db.View, list []set.Set) {
	first, others := &list[0], list[1:]
	var p set.Part
	switch {
	case first.Len() == 0 || len(others) == 0:
		p = first.Whole()
	case diffBySubtracting(list):
		rest := subtract(v.Limits(), list, scratch(c))
		p = rest.Whole()
	default:
		largestFirst(list)
		p = mark(c, first, others, false, first.Len())
	}
	c.Reply.Set(p.Len())
	replyPart(c, &p)
}

// SINTERCARD numkeys key [key ...] [LIMIT limit]
func sintercardSpec() *command.Spec {
	return &command.Spec{
		Name: "sintercard", Arity: -3, Keys: command.NumKeys(1, command.KeyRO|command.KeyAccess),
		ACL: command.CatSet, Group: group, Read: sintercard,
	}
}

const (
	errNumKeys  resp.Error = "ERR numkeys should be greater than 0"
	errManyKeys resp.Error = "ERR Number of keys can't be greater than number of args"
	errLimit    resp.Error = "ERR LIMIT can't be negative"
)

func sintercard(c *command.Call, v db.View) error {
	n := c.Args.IntRange(1, math.MaxInt64, errNumKeys)
	if n > int64(c.Args.Len()) {
		c.Args.Reject(errManyKeys)
	}
	if err := c.Args.Err(); err != nil {
		return err
	}
	keys := c.Args.Argv()[2 : 2+n]
	c.Args.Skip(int(n))
	limit := int64(0)
	for c.Args.More() {
		if c.Args.Len() < 2 || !c.Args.Word("limit") {
			return resp.ErrSyntax
		}
		limit = c.Args.IntRange(0, math.MaxInt64, errLimit)
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	var room [usualSets]set.Set
	list, err := load(v, keys, room[:0])
	if err != nil {
		return err
	}
	if limit == 0 {
		limit = math.MaxInt64
	}
	c.Reply.Int(countInter(list, limit, scratch(c)))
	return nil
}

// countInter counts the members that are in all sets, up to limit.
func countInter(list []set.Set, limit int64, room *listpack.Scratch) (n int64) {
	bySize(list)
	if len(list) == 1 {
		return min(int64(list[0].Len()), limit)
	}
	for w := list[0].Walk(room); n < limit && w.Next(); {
		if inAll(list[1:], w.Member()) {
			n++
		}
	}
	return n
}

// SINTERSTORE destination key [key ...], SUNIONSTORE and SDIFFSTORE alike
func storeSpec(name string, op operation) *command.Spec {
	to := command.KeySpec{Begin: 1, Step: 1, Flags: command.KeyOW | command.KeyUpdate}
	if op == inter {
		to.Flags = command.KeyRW | command.KeyUpdate
	}
	from := command.KeySpec{Begin: 2, Last: -1, Step: 1, Flags: command.KeyRO | command.KeyAccess}
	return &command.Spec{
		Name: name, Arity: -3, Keys: []command.KeySpec{to, from}, Flags: command.DenyOOM,
		ACL: command.CatSet, Group: group,
		Write: func(c *command.Call, tx db.Txn) error { return store(c, tx, op) },
	}
}

func store(c *command.Call, tx db.Txn, op operation) error {
	to := c.Args.Key()
	var room [usualSets]set.Set
	list, err := load(tx, c.Args.Rest(), room[:0])
	if err != nil {
		return err
	}
	result := collect(tx.Limits(), list, op, scratch(c))
	if result.Len() == 0 {
		if tx.Delete(to) {
			tx.Touched(to, db.ClassGeneric, "del")
			c.ReplicateAs(wordDel, to)
		}
		c.Reply.Int(0)
		return nil
	}
	if tx.Type(to) != db.TypeNone {
		c.ReplicateAs(wordDel, to)
	}
	if err = result.Store(tx, to); err != nil {
		return err
	}
	tx.Touched(to, db.ClassSet, c.Spec.Name)
	all := result.Whole()
	replicateMembers(c, wordSAdd, to, &all)
	c.Reply.Int(int64(all.Len()))
	return nil
}

// collect returns the result of an operation, in memory of its own.
func collect(l *db.Limits, list []set.Set, op operation, room *listpack.Scratch) set.Set {
	switch op {
	case inter:
		return collectInter(l, list, room)
	case union:
		all := set.NewUnion(l)
		addAll(&all, list, room)
		return all
	}
	return collectDiff(l, list, room)
}

func collectInter(l *db.Limits, list []set.Set, room *listpack.Scratch) set.Set {
	bySize(list)
	common := set.NewInter(l)
	if list[0].Integers() {
		common = set.NewUnion(l)
	}
	if list[0].Len() == 0 {
		return common
	}
	for w := list[0].Walk(room); w.Next(); {
		if m := w.Member(); inAll(list[1:], m) {
			_, _ = common.Add(m)
		}
	}
	common.Narrow()
	return common
}

func collectDiff(l *db.Limits, list []set.Set, room *listpack.Scratch) set.Set {
	if list[0].Len() > 0 && diffBySubtracting(list) {
		return subtract(l, list, room)
	}
	rest := set.NewUnion(l)
	largestFirst(list)
	for w := list[0].Walk(room); w.Next(); {
		if m := w.Member(); !inAny(list[1:], m) {
			_, _ = rest.Add(m)
		}
	}
	return rest
}
