package sortedset

import (
	"heddle/db"
	"heddle/db/zset"
)

// source is an input of a combination: a sorted set, or a set, whose members all have
// the score 1.
type source struct {
	weight float64
	z      zset.ZSet
}

// open reads what is at key.
func (s *source) open(v db.View, key []byte) (err error) {
	s.weight = 1
	s.z, err = zset.Read(v, key)
	return err
}

func (s *source) size() int { return s.z.Len() }

// find returns the score of a member.
func (s *source) find(member []byte) (float64, bool) { return s.z.Find(member) }

// each calls fn with all members until it returns false.
func (s *source) each(fn func(member []byte, score float64) bool) { s.z.Each(0, s.z.Len(), false, fn) }
