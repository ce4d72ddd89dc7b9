// Package zset keeps sorted sets: members in the order of their scores, and of their
// bytes where scores are equal.
//
// A small one is packed into the record of its key: a listpack of pairs of member and
// score, in order, searched from the front. A large one is an Object: a table of members
// for the score of a member, beside a counted B+tree for ranks and ranges. Both
// are made of blocks without pointers and cloned in constant time.
//
// A ZSet is a handle to either, which the commands use, for one command:
//
//	z, err := zset.Write(tx, key)
//	old, found := z.Find(member)
//	err = z.Put(old + 1)
//	tx.Touched(key, db.ClassZSet, "zincr")
//
// Rejected: to give the tree's place of a member instead of its score to the table, which
// would change with every split; and no table (two lookups in a tree by score need
// the score first).
package zset

import (
	"bytes"
	"fmt"
	"math"

	"heddle/db"
	"heddle/db/listpack"
	"heddle/db/members"
	"heddle/db/zset/tree"
)

// ZSet is a sorted set as a command sees it, valid for the command. It is
// packed, or an Object, or absent, which is empty.
type ZSet struct {
	tx  db.Txn // nil: for reading
	key []byte
	p   []byte    // packed
	o   *Object   // large
	now db.Millis // members that are due by then are passed over, see ReadFew; 0: there are none

	// the member that was last looked for
	member []byte
	found  bool
	at     int // where it stands, if packed
	old    float64
	value  listpack.Value

	batch   bool // what is packed is in room for now
	changed bool // and differs from what is in the record
	room    []byte
}

// Members that are due may be in a large set, see db.Timed: those who look at members by
// their names, by ReadFew and WriteFew, pass over them. To all others ranks matter, and
// what is due must be out of the tree: Read and Write have it removed, and may return
// db.ErrDue.

// Read returns the sorted set at key. It counts as an access, and as a hit or miss.
// ErrWrongType, ErrDue.
func Read(v db.View, key []byte) (ZSet, error) {
	c, found, err := v.Collection(key, db.TypeZSet)
	if found && hasDue(&c, v.Due()) {
		c, found, err = v.Clear(key, db.TypeZSet)
	}
	if !found {
		return ZSet{}, err
	}
	return Of(&c, v.Due()), nil
}

// Current is Read without a hit or miss, for commands that read in order to write
// something else.
func Current(tx db.Txn, key []byte) (ZSet, error) {
	c, found, err := tx.CurrentCollection(key, db.TypeZSet)
	if found && hasDue(&c, tx.Due()) {
		c, found, err = tx.Clear(key, db.TypeZSet)
	}
	if !found {
		return ZSet{}, err
	}
	return Of(&c, tx.Due()), nil
}

// hasDue reports whether members are due.
func hasDue(c *db.Coll, now db.Millis) bool {
	return c.Object != nil && c.Object.(*Object).deadlines.AnyDue(now)
}

// ReadFew is Read for who asks for the number of members, or for some by their names.
// ErrWrongType; ErrDue only where a large range was removed a moment ago.
func ReadFew(v db.View, key []byte) (ZSet, error) {
	c, found, err := v.Collection(key, db.TypeZSet)
	switch {
	case !found:
		return ZSet{}, err
	case !hasDue(&c, v.Due()):
		return Of(&c, v.Due()), nil
	case c.Object.(*Object).gone.spans != nil: // deadlines may be those of ghosts
		return Read(v, key)
	}
	return ZSet{o: c.Object.(*Object), now: v.Due()}, nil
}

// Of returns the sorted set that a collection is, without members that are due by now.
func Of(c *db.Coll, now db.Millis) ZSet {
	if c.Packing != db.NotPacked {
		return ZSet{p: c.Packed}
	}
	return ZSet{o: c.Object.(*Object).alive(now)}
}

// Computed returns a handle to an Object that is under no key, to be read.
func Computed(o *Object) ZSet { return ZSet{o: o} }

// Write returns the sorted set at key to be changed; Put makes it if it is absent.
// ErrWrongType, ErrOutOfMemory, ErrDue.
func Write(tx db.Txn, key []byte) (ZSet, error) { return edit(tx, key, false) }

// WriteFew is Write for who changes some members, which Find names. The ranks of others
// must not matter. ErrWrongType, ErrOutOfMemory; ErrDue as for ReadFew.
func WriteFew(tx db.Txn, key []byte) (ZSet, error) { return edit(tx, key, true) }

func edit(tx db.Txn, key []byte, few bool) (ZSet, error) {
	c, found, err := tx.EditCollection(key, db.TypeZSet)
	if found && hasDue(&c, tx.Due()) {
		if few && c.Object.(*Object).gone.spans == nil {
			return ZSet{tx: tx, key: key, o: c.Object.(*Object), now: tx.Due()}, nil
		}
		c, found, err = tx.Clear(key, db.TypeZSet)
	}
	switch {
	case err != nil:
		return ZSet{}, err
	case !found:
		return ZSet{tx: tx, key: key}, nil
	case c.Packing != db.NotPacked:
		return ZSet{tx: tx, key: key, p: c.Packed}, nil
	}
	return ZSet{tx: tx, key: key, o: c.Object.(*Object)}, nil
}

// Len returns the number of members.
func (z *ZSet) Len() int {
	switch {
	case z.o != nil && z.now != 0:
		return z.o.Len() - z.o.deadlines.DueBy(z.now)
	case z.o != nil:
		return z.o.Len()
	case z.p != nil:
		return listpack.Count(z.p)
	}
	return 0
}

// Find looks for a member and returns its score. Put and Drop go on from there.
func (z *ZSet) Find(member []byte) (score float64, found bool) {
	z.member, z.found, z.old = member, false, 0
	if z.o != nil {
		if z.now == 0 || !z.bury(member) {
			z.old, z.found = z.o.Score(member)
		}
		return z.old, z.found
	}
	z.value.Set(member)
	if z.p == nil {
		return 0, false
	}
	z.at = listpack.Find(z.p, listpack.Header, &z.value, 1)
	if z.at >= 0 {
		z.found = true
		z.old = readScore(listpack.At(z.p, z.at+z.value.Size()))
	}
	return z.old, z.found
}

// bury reports whether the time of a member has come, and removes it then, if the set is
// being changed.
func (z *ZSet) bury(member []byte) bool {
	if !z.o.deadlines.Passed(member, z.now) {
		return false
	}
	if z.tx != nil {
		z.o.Delete(member)
		z.tx.MemberExpired(z.key, member)
	}
	return true
}

// Has reports whether a member is there.
func (z *ZSet) Has(member []byte) bool {
	_, found := z.Find(member)
	return found
}

// Rank returns how many members come before the given one, and its score.
func (z *ZSet) Rank(member []byte) (rank int, score float64, found bool) {
	score, found = z.Find(member)
	switch {
	case !found:
		return 0, 0, false
	case z.o != nil:
		return z.o.tree.Rank(tree.At(score, member)), score, true
	}
	return rankOf(z.p, z.at), score, true
}

// Each calls fn with the members of rank from to before to, from the last if rev is
// set, until it returns false. fn must keep nothing of member.
func (z *ZSet) Each(from, to int, rev bool, fn func(member []byte, score float64) bool) {
	var it Iter
	for it.Start(z, from, to, rev); it.Next(); {
		if !fn(it.Member(), it.Score()) {
			return
		}
	}
}

// Scan is a step of ZSCAN: it calls fn with about count members from cursor on
// and returns the cursor to go on with, 0 at the end. What Redis would keep in a
// listpack is visited at once.
func (z *ZSet) Scan(cursor uint64, count int, fn func(member []byte, score float64)) uint64 {
	if !z.IsListpack() && z.o != nil {
		return z.o.table.Scan(cursor, count, func(member, word []byte) {
			if !z.o.ghost(member, members.Uint64(word)) {
				fn(member, wordScore(word))
			}
		})
	}
	z.Each(0, z.Len(), false, func(member []byte, score float64) bool {
		fn(member, score)
		return true
	})
	return 0
}

// Random returns the rank of a random member. The set must not be empty.
func (z *ZSet) Random(v db.View) int { return int(v.Rand() % uint64(z.Len())) }

// Keep returns the set as it is now, to be read after the command, without locks, and the
// caller's claim on what is large.
func (z *ZSet) Keep() (ZSet, db.Pin) {
	if z.o != nil {
		o := z.o.clone()
		return ZSet{o: o}, db.PinOf(o)
	}
	return ZSet{p: bytes.Clone(z.p)}, db.Pin{}
}

// IsListpack reports whether Redis would keep the set in a listpack.
func (z *ZSet) IsListpack() bool { return z.p != nil || z.o != nil && z.o.asList }

// Large returns the Object that the set is in, nil if it is packed or absent.
func (z *ZSet) Large() *Object { return z.o }

// Check verifies packed bytes from outside: pairs in order, each member once, scores
// numbers in their one spelling.
func Check(p []byte) error {
	if err := listpack.Check(p, 2); err != nil {
		return err
	}
	var last float64
	var before []byte
	seen := map[string]bool{}
	for at := listpack.Header; at < len(p); {
		x := pairAt(p, at)
		var v listpack.Value
		var text scoreText
		s, m := readScore(x.score), x.member.Append(nil)
		if math.IsNaN(s) || seen[string(m)] {
			return listpack.ErrInvalid
		}
		if setScore(&v, &text, s); !v.Equal(x.score) {
			return listpack.ErrInvalid
		}
		if len(seen) > 0 && (s < last || s == last && string(m) < string(before)) {
			return listpack.ErrInvalid
		}
		seen[string(m)] = true
		last, before, at = s, m, x.next()
	}
	return nil
}

// Check verifies the whole Object. It takes time in proportion to its size.
func (o *Object) Check() error {
	if err := o.tree.Check(); err != nil {
		return err
	}
	if n := o.stored(); o.table.Len() != n {
		return fmt.Errorf("zset: %d members, but %d in order, with what is gone", o.table.Len(), n)
	}
	var it Iter
	z := Computed(o)
	for it.Start(&z, 0, z.Len(), false); it.Next(); {
		if s, found := o.Score(it.Member()); !found || math.Float64bits(s) != math.Float64bits(it.Score()) {
			return fmt.Errorf("zset: %.40q has score %v in order, but %v (%v)", it.Member(), it.Score(), s, found)
		}
	}
	return nil
}
