package sortedset

import (
	"heddle/db"
	"heddle/db/set"
	"heddle/db/zset"
)

// source is an input of a combination: a sorted set, or a set, whose members all have
// the score 1.
type source struct {
	weight float64
	n      int
	plain  bool
	set    set.Set
	z      zset.ZSet
}

// open reads what is at key.
func (s *source) open(v db.View, key []byte) (err error) {
	s.weight = 1
	if s.plain = v.Type(key) == db.TypeSet; s.plain {
		s.set, err = set.Read(v, key)
		s.n = s.set.Len()
		return err
	}
	s.z, err = zset.Read(v, key)
	s.n = s.z.Len()
	return err
}

// find returns the score of a member.
func (s *source) find(member []byte) (float64, bool) {
	if s.plain {
		return 1, s.set.Has(member)
	}
	return s.z.Find(member)
}

// each calls fn with all members until it returns false.
func (s *source) each(fn func(member []byte, score float64) bool) {
	if s.plain {
		s.set.Each(func(member []byte) bool { return fn(member, 1) })
		return
	}
	s.z.Each(0, s.n, false, fn)
}
