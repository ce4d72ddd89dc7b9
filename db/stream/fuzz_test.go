package stream

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"heddle/db/listpack"
)

// FuzzBlock takes bytes for a block: what the check lets pass can be read, and spelled
// again it is the same.
func FuzzBlock(f *testing.F) {
	s := New()
	r := rand.New(rand.NewPCG(1, 1))
	for id, ok := (ID{5, 1}), true; ok && s.Len() < 60; id, ok = nextID(r, id) {
		if s.last.Before(id) {
			s.Append(id, bytesOf(randomPairs(r)), Limits{NodeBytes: 2000})
		}
	}
	for p := (place{}); s.blocks.has(p); p = s.blocks.next(p) {
		l := s.blocks.at(p)
		f.Add(l.val.data, l.key.Ms, l.key.Seq, l.val.start)
	}
	f.Fuzz(func(t *testing.T, data []byte, ms, seq uint64, start uint32) {
		key := ID{ms, seq}
		ids, err := checkBlock(data, key, int(start))
		if err != nil || len(ids) == 0 {
			return
		}
		s := New()
		b := block{data: data, live: uint32(len(ids)), last: ids[len(ids)-1], start: start}
		p := s.blocks.push(s.own, key, b)
		s.blocks.add(p, len(ids), 1)
		s.length, s.last = len(ids), b.last
		copyOf := append([]byte(nil), data[:start]...)
		prev := before(key)
		it := s.Range(ID{}, MaxID)
		for i := range ids {
			e, ok := it.Next()
			if !ok || e.ID != ids[i] {
				t.Fatalf("entry %d: %v %v, want %v", i, e.ID, ok, ids[i])
			}
			copyOf = appendHead(copyOf, prev, e.ID, e.own)
			if e.own {
				copyOf = appendUvarint(copyOf, uint64(e.Len()))
			}
			for own := e.own; e.Len() > 0; {
				name, value := e.Pair()
				if own {
					copyOf = listpack.Append(copyOf, name.Append(nil))
				}
				copyOf = listpack.Append(copyOf, value.Append(nil))
			}
			prev = ids[i]
		}
		if len(copyOf) == len(data) && !bytes.Equal(copyOf, data) {
			t.Fatalf("%x spelled again is %x", data, copyOf)
		}
		back := s.RangeReverse(ID{}, MaxID)
		for i := len(ids) - 1; i >= 0; i-- {
			if e, ok := back.Next(); !ok || e.ID != ids[i] {
				t.Fatalf("backwards, entry %d: %v %v, want %v", i, e.ID, ok, ids[i])
			}
		}
	})
}

// FuzzStream does what the bytes say to a stream and to the model.
func FuzzStream(f *testing.F) {
	f.Add(uint64(1), []byte("aaaaaaaddddaaaatttaaaacdddt"))
	f.Add(uint64(9), []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 200, 100, 50, 3, 3, 3})
	f.Fuzz(func(t *testing.T, seed uint64, ops []byte) {
		if len(ops) > 400 {
			return
		}
		r := rand.New(rand.NewPCG(seed, 3))
		l := []Limits{{4096, 100}, {0, 0}, {0, 5}, {300, 0}}[seed%4]
		s, m := New(), &model{}
		keep := s.Clone().(*Stream)
		kept := m.clone()
		for _, op := range ops {
			all := m.live()
			switch {
			case op < 160:
				if id, ok := nextID(r, m.last); ok && m.last.Before(id) {
					pairs := randomPairs(r)
					s.Append(id, bytesOf(pairs), l)
					m.add(id, pairs, l)
				}
			case op < 240 && len(all) > 0:
				id := all[int(op)*7%len(all)].id
				if got, want := s.Delete(id), m.remove(id); got != want {
					t.Fatalf("delete %v: %v", id, got)
				}
			case op < 250 && len(all) > 0:
				trim := Trim{ByID: op&1 == 0, Approximate: op&2 == 0, MaxLen: int64(len(all)) / 2, MinID: all[len(all)/3].id}
				if got, want := s.TrimTo(trim), m.trim(trim); got != want {
					t.Fatalf("trim %+v: %d, want %d", trim, got, want)
				}
			default:
				keep, kept = s.Clone().(*Stream), m.clone()
			}
		}
		compare(t, s, m, r)
		compare(t, keep, kept, r)
	})
}
