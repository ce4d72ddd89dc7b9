package generic

import (
	"bytes"
	"slices"

	"heddle/db"
	"heddle/db/hash"
	lists "heddle/db/list"
	"heddle/db/listpack"
	"heddle/db/set"
	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
)

const errScores resp.Error = "ERR One or more scores can't be converted into double"

// load copies the elements of the key, in their order, and works out which are wanted.
func (s *sorting) load(key []byte) error {
	switch s.v.Type(key) {
	case db.TypeList:
		l, err := lists.Read(s.v, key)
		if err != nil {
			return err
		}
		s.elements = make([][]byte, 0, l.Len())
		for it := l.Iter(0); it.Next(); {
			e := it.Entry()
			if e.Len() > roomSize/64 {
				s.elements = append(s.elements, e.Append(nil))
				continue
			}
			n := s.reserve()
			s.room = e.Append(s.room)
			s.elements = append(s.elements, s.room[n:len(s.room):len(s.room)])
		}
		s.reverse()
	case db.TypeSet:
		members, err := set.Read(s.v, key)
		if err != nil {
			return err
		}
		if s.unsorted && s.stored {
			// What is stored must not depend on the order of a set.
			s.unsorted, s.alpha, s.by = false, true, nil
		}
		s.elements = make([][]byte, 0, members.Len())
		for w := members.Walk(new(listpack.Scratch)); w.Next(); {
			s.elements = append(s.elements, s.keep(w.Member()))
		}
	case db.TypeZSet:
		z, err := zset.Read(s.v, key)
		if err != nil {
			return err
		}
		s.elements = make([][]byte, 0, z.Len())
		z.Each(0, z.Len(), false, func(m []byte, _ float64) bool {
			s.elements = append(s.elements, s.keep(m))
			return true
		})
		s.reverse()
	default:
		if s.v.Exists(key) {
			return db.ErrWrongType
		}
	}
	s.limit(len(s.elements))
	return nil
}

// roomSize is how much memory for elements is made at a time: one for each of a million
// would keep the collector busy.
const roomSize = 64 << 10

// reserve makes room for an element behind those that are there, and returns where.
func (s *sorting) reserve() int {
	if cap(s.room)-len(s.room) < roomSize/64 {
		s.room = make([]byte, 0, roomSize)
	}
	return len(s.room)
}

// keep returns a copy of b. It is not nil.
func (s *sorting) keep(b []byte) []byte {
	if len(b) > roomSize/64 {
		return bytes.Clone(b)
	}
	n := s.reserve()
	s.room = append(s.room, b...)
	return s.room[n:len(s.room):len(s.room)]
}

// reverse turns round what has an order that is to be left alone, if DESC says so.
func (s *sorting) reverse() {
	if s.unsorted && s.desc {
		slices.Reverse(s.elements)
	}
}

// lookUp returns what a pattern leads to for an element, borrowed.
func (p *pattern) lookUp(v db.View, element []byte) ([]byte, bool) {
	if p.self {
		return element, true
	}
	if p.star < 0 {
		return nil, false
	}
	key := slices.Concat(p.text[:p.star], element, p.text[p.star+1:p.end])
	if p.field != nil {
		h, err := hash.Read(v, key)
		if err != nil {
			return nil, false
		}
		val, found := h.Get(p.field)
		return val, found
	}
	str, found, err := v.String(key)
	if err != nil || !found {
		return nil, false
	}
	return command.StrBytes(str, make([]byte, 0, 20)), true
}

// sortBatch is how many elements an effect names at most.
const sortBatch = 1024

var wordRPush = []byte("RPUSH")

// put stores what is wanted as a list.
func (s *sorting) put(c *command.Call, tx db.Txn) error {
	values := make([][]byte, 0, (s.to-s.from)*max(len(s.get), 1))
	for _, e := range s.elements[s.from:s.to] {
		if len(s.get) == 0 {
			values = append(values, e)
		}
		for i := range s.get {
			val, _ := s.get[i].lookUp(tx, e)
			values = append(values, bytes.Clone(val))
		}
	}
	there := tx.Type(s.store) != db.TypeNone
	if there {
		c.ReplicateAs(wordDel, s.store)
	}
	if len(values) == 0 {
		if there {
			tx.Delete(s.store)
			tx.Touched(s.store, db.ClassGeneric, "del")
		}
		c.Reply.Int(0)
		return nil
	}
	// An empty list takes the place of what is there, and then the elements come.
	err := tx.PutPacked(s.store, db.TypeList, db.Listpack, make([]byte, listpack.Header), db.NoExpiry)
	if err != nil {
		return err
	}
	l, err := lists.Write(tx, s.store)
	if err == nil {
		err = l.Push(false, values...)
	}
	if err != nil {
		tx.Touched(s.store, db.ClassList, "") // removes what is empty
		return err
	}
	tx.Touched(s.store, db.ClassList, "sortstore")
	tx.Dirty(int64(len(values)) - 1)
	if !c.Logged() {
		c.ReplicateAs(wordRPush, s.store) // no more than a note that the command is not it
	} else {
		for part := range slices.Chunk(values, sortBatch) {
			c.ReplicateAs(append([][]byte{wordRPush, s.store}, part...)...)
		}
	}
	c.Reply.Int(int64(len(values)))
	return nil
}
