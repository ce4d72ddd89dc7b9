package members

import (
	"encoding/binary"
	"math/bits"
)

// side holds entries that are too large for a block, by number. It is an array
// of pages, copied on write like all else, and pages with free places form a
// list. An entry is bytes: the hash of its member (so that a split need not read
// megabytes), the length of the member, the member, the value. They are never
// changed in place, as clones share them.
type side struct {
	owner uint64
	n     int
	first int32 // the first page with free places + 1
	pages []*sidePage
}

const (
	sidePlaces  = 128
	sideHeader  = 16
	sidePageMem = 24*sidePlaces + 48 + pointerSize
)

type sidePage struct {
	owner  uint64
	next   int32 // the next page with free places + 1
	listed bool
	taken  [sidePlaces / 64]uint64
	data   [sidePlaces]sideEntry
}

type sideEntry []byte

func (e sideEntry) hash() uint64 { return binary.LittleEndian.Uint64(e) }

func (e sideEntry) member() []byte {
	n := sideHeader + int(binary.LittleEndian.Uint64(e[8:]))
	return e[sideHeader:n:n]
}

func (e sideEntry) value() []byte {
	return e[sideHeader+int(binary.LittleEndian.Uint64(e[8:])):]
}

func (s *side) get(i uint32) sideEntry { return s.pages[i/sidePlaces].data[i%sidePlaces] }

// ownPage returns a page that may be changed by owner.
func (s *side) ownPage(owner uint64, i int32) *sidePage {
	p := s.pages[i]
	if p.owner == owner {
		return p
	}
	s.ownRoot(owner)
	c := *p
	c.owner = owner
	s.pages[i] = &c
	return &c
}

func (s *side) ownRoot(owner uint64) {
	if s.owner != owner {
		s.pages = append(make([]*sidePage, 0, len(s.pages)+1), s.pages...)
		s.owner = owner
	}
}

// add keeps an entry and returns its number and the bytes of memory taken.
func (s *side) add(owner, hash uint64, member, value []byte) (i uint32, mem int64) {
	e := make(sideEntry, sideHeader+len(member)+len(value))
	binary.LittleEndian.PutUint64(e, hash)
	binary.LittleEndian.PutUint64(e[8:], uint64(len(member)))
	copy(e[sideHeader:], member)
	copy(e[sideHeader+len(member):], value)
	mem = int64(len(e))
	if s.first == 0 {
		s.ownRoot(owner)
		s.pages = append(s.pages, &sidePage{owner: owner, listed: true})
		s.first = int32(len(s.pages))
		mem += sidePageMem
	}
	at := s.first - 1
	p := s.ownPage(owner, at)
	place := 0
	for p.taken[place/64] == ^uint64(0) {
		place += 64
	}
	place += bits.TrailingZeros64(^p.taken[place/64])
	p.taken[place/64] |= 1 << (place % 64)
	p.data[place] = e
	full := true
	for _, w := range p.taken {
		full = full && w == ^uint64(0)
	}
	if full {
		s.first, p.next, p.listed = p.next, 0, false
	}
	s.n++
	return uint32(at)*sidePlaces + uint32(place), mem
}

// free gives a place back and returns the bytes of memory given up.
func (s *side) free(owner uint64, i uint32) (mem int64) {
	at, place := int32(i/sidePlaces), i%sidePlaces
	mem = int64(len(s.pages[at].data[place]))
	if s.n--; s.n == 0 {
		mem += int64(len(s.pages)) * sidePageMem
		*s = side{}
		return mem
	}
	p := s.ownPage(owner, at)
	p.data[place] = nil
	p.taken[place/64] &^= 1 << (place % 64)
	if !p.listed {
		p.next, p.listed = s.first, true
		s.first = at + 1
	}
	return mem
}
