// Package hyperloglog has the commands that count distinct elements
// approximately, in strings of a few KB: PFADD and its kin.
package hyperloglog

import (
	"heddle/db"
	"heddle/db/hll"
	"heddle/resp"
	"heddle/server/command"
)

// Family returns the commands of the group, made anew by each call.
func Family() command.Family {
	return command.Family{Name: group, Specs: []*command.Spec{
		pfaddSpec(), pfcountSpec(), pfmergeSpec(), pfdebugSpec(), pfselftestSpec(),
	}}
}

const group = "hyperloglog"

// What the commands say of values that are not theirs.
const (
	errNotHLL  resp.Error = "WRONGTYPE Key is not a valid HyperLogLog string value."
	errCorrupt resp.Error = "INVALIDOBJ Corrupted HLL object detected"
)

// Names that effects are written with.
var (
	wordSet     = []byte("SET")
	wordKeepTTL = []byte("KEEPTTL")
)

// embedMax is the length up to which a string may have the encoding embstr.
const embedMax = 44

// value checks that a string is one of ours, and returns its bytes.
func value(s *db.Str) ([]byte, error) {
	if s.IsInt || !hll.Valid(s.B) {
		return nil, errNotHLL
	}
	return s.B, nil
}

// valueToChange is value for a command that may change it: the string is raw
// afterwards.
func valueToChange(tx db.Txn, key []byte, s *db.Str) ([]byte, error) {
	b, err := value(s)
	if err != nil || len(b) > embedMax {
		return b, err
	}
	return tx.Edit(key, len(b))
}

// PFADD key [element ...]
func pfaddSpec() *command.Spec {
	return &command.Spec{
		Name: "pfadd", Arity: -2, Keys: command.Key(1, command.KeyRW|command.KeyInsert),
		Flags: command.Fast | command.DenyOOM, ACL: command.CatHyperLogLog, Group: group, Write: pfadd,
	}
}

func pfadd(c *command.Call, tx db.Txn) error {
	key, elements := c.Args.Key(), c.Args.Rest()
	s, found, err := tx.Current(key)
	if err != nil {
		return err
	}
	if !found {
		return pfaddTo(c, tx, key, hll.AppendNew(room(c, tx, 0)), elements, db.NoExpiry, 1)
	}
	b, err := valueToChange(tx, key, &s)
	if err != nil {
		return err
	}
	for i, e := range elements {
		register, rank := hll.Place(e)
		old, err := hll.Get(b, register)
		switch {
		case err != nil:
			return errCorrupt
		case old >= rank:
		case hll.IsDense(b):
			return pfaddDense(c, tx, key, len(b), elements[i:])
		default:
			return pfaddTo(c, tx, key, append(room(c, tx, len(b)), b...), elements[i:], db.KeepExpiry, 0)
		}
	}
	c.Reply.Int(0)
	return nil
}

// room returns memory for a value of size bytes, 0 if it is new, to grow in. Sparse
// values grow by a few bytes an element.
func room(c *command.Call, tx db.Txn, size int) []byte {
	const most = 2 * hll.MaxDense
	limit := int(min(max(tx.Limits().HLLSparseBytes, 0), most))
	return c.Room(max(size, min(limit, size+1024)) + 64)[:0]
}

// pfaddTo adds elements to a value that stands in memory of its own, and stores it.
// updated counts the changes so far.
func pfaddTo(c *command.Call, tx db.Txn, key, b []byte, elements [][]byte, e db.Expiry, updated int64) error {
	most := tx.Limits().HLLSparseBytes
	for _, e := range elements {
		register, rank := hll.Place(e)
		var changed bool
		var err error
		if b, changed, err = hll.Set(b, register, rank, most); err != nil {
			return errCorrupt
		}
		if changed {
			updated++
		}
	}
	hll.Invalidate(b)
	if err := tx.SetRaw(key, b, e); err != nil {
		return err
	}
	return added(c, tx, key, updated)
}

// pfaddDense adds elements, of which the first changes a register, in place.
func pfaddDense(c *command.Call, tx db.Txn, key []byte, size int, elements [][]byte) error {
	b, err := tx.Edit(key, size)
	if err != nil {
		return err
	}
	updated := int64(0)
	for _, e := range elements {
		register, rank := hll.Place(e)
		if hll.DenseSet(b, register, rank) {
			updated++
		}
	}
	hll.Invalidate(b)
	return added(c, tx, key, updated)
}

// added tells that updated registers changed, a new key counting as one.
func added(c *command.Call, tx db.Txn, key []byte, updated int64) error {
	tx.Touched(key, db.ClassString, "pfadd")
	tx.Dirty(updated - 1)
	c.Reply.Int(1)
	return nil
}

// PFCOUNT key [key ...]
func pfcountSpec() *command.Spec {
	spec := &command.Spec{
		Name: "pfcount", Arity: -2, Keys: command.Range(1, -1, 1, command.KeyRW|command.KeyAccess),
		Flags: command.Reads, ACL: command.CatHyperLogLog, Group: group, Write: pfcount,
	}
	spec.Keys[0].Notes = "RW because it may change the internal representation of the key, and propagate to replicas"
	return spec
}

func pfcount(c *command.Call, tx db.Txn) error {
	if keys := c.Args.Rest(); len(keys) > 1 {
		return pfcountUnion(c, tx, keys)
	}
	key := c.Args.Argv()[1]
	s, found, err := tx.String(key)
	if err != nil {
		return err
	}
	if !found {
		c.Reply.Int(0)
		return nil
	}
	b, err := valueToChange(tx, key, &s)
	if err != nil {
		return err
	}
	if n, ok := hll.Cached(b); ok {
		c.Reply.Int(int64(n))
		return nil
	}
	n, err := hll.Count(b)
	if err != nil {
		return errCorrupt
	}
	// Whoever comes next need not count.
	if b, err = tx.Edit(key, len(b)); err != nil {
		return err
	}
	hll.SetCached(b, n)
	tx.Touched(key, db.ClassString, "")
	c.Reply.Int(int64(n))
	return nil
}

func pfcountUnion(c *command.Call, tx db.Txn, keys [][]byte) error {
	var ranks hll.Ranks
	if _, err := addAll(&ranks, tx, keys); err != nil {
		return err
	}
	c.Reply.Int(int64(ranks.Count()))
	return nil
}

// addAll raises ranks to those of the values at some keys, of which some may not be there,
// and reports whether one was dense.
func addAll(ranks *hll.Ranks, v db.View, keys [][]byte) (anyDense bool, err error) {
	for _, key := range keys {
		s, found, err := v.String(key)
		if err != nil {
			return false, err
		}
		if !found {
			continue
		}
		b, err := value(&s)
		if err != nil {
			return false, err
		}
		if ranks.Add(b) != nil {
			return false, errCorrupt
		}
		anyDense = anyDense || hll.IsDense(b)
	}
	return anyDense, nil
}

// PFMERGE destkey [sourcekey ...]
func pfmergeSpec() *command.Spec {
	return &command.Spec{
		Name: "pfmerge", Arity: -2,
		Keys: []command.KeySpec{
			{Begin: 1, Step: 1, Flags: command.KeyRW | command.KeyAccess | command.KeyInsert},
			{Begin: 2, Last: -1, Step: 1, Flags: command.KeyRO | command.KeyAccess},
		},
		Flags: command.DenyOOM, ACL: command.CatHyperLogLog, Group: group, Write: pfmerge,
	}
}

func pfmerge(c *command.Call, tx db.Txn) error {
	keys := c.Args.Rest()
	var ranks hll.Ranks
	anyDense, err := addAll(&ranks, tx, keys)
	if err != nil {
		return err
	}
	b, e, err := merged(c, tx, keys[0], &ranks, anyDense)
	if err != nil {
		return err
	}
	if err = tx.SetRaw(keys[0], b, e); err != nil {
		return err
	}
	tx.Touched(keys[0], db.ClassString, "pfadd")
	if e == db.KeepExpiry {
		c.ReplicateAs(wordSet, keys[0], b, wordKeepTTL)
	} else {
		c.ReplicateAs(wordSet, keys[0], b)
	}
	c.Reply.OK()
	return nil
}

// merged returns what the value at key becomes when its registers are raised to
// ranks, and its time to live.
func merged(c *command.Call, tx db.Txn, key []byte, ranks *hll.Ranks, toDense bool) ([]byte, db.Expiry, error) {
	s, found, err := tx.Current(key)
	if err != nil {
		return nil, 0, err
	}
	old, e := s.B, db.KeepExpiry
	if !found {
		old, e = hll.AppendNew(nil), db.NoExpiry
	}
	b := c.Room(max(hll.MaxDense, len(old)) + 64)[:0]
	if toDense {
		b, err = hll.AppendDense(b, old)
	} else {
		b = append(b, old...)
	}
	if err == nil {
		b, err = hll.SetAll(b, ranks, tx.Limits().HLLSparseBytes)
	}
	if err != nil {
		return nil, 0, errCorrupt
	}
	hll.Invalidate(b)
	return b, e, nil
}
