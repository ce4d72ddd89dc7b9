package aof

import (
	"fmt"
	"sync"
	"time"
)

// fakeSource is an oplog: groups in a slice, offsets counted in bytes of RESP and 10 for each record.
type fakeSource struct {
	mu       sync.Mutex
	cond     *sync.Cond
	groups   [][]Record
	at       int64
	end      int64
	released int64
	poked    bool
	closed   bool
	max      int // groups of a batch
}

func newSource() *fakeSource {
	s := &fakeSource{max: 100}
	s.cond = sync.NewCond(&s.mu)
	return s
}

// effect is a command and its database.
type effect struct {
	db   int
	argv []string
}

func resp(argv ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(argv))
	for _, a := range argv {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}

// add appends a group and returns the offset behind it.
func (s *fakeSource) add(millis int64, effects ...effect) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var group []Record
	for i := 0; i < len(effects); {
		r := Record{Start: s.end, DB: effects[i].db, Millis: millis, First: i == 0}
		for ; i < len(effects) && effects[i].db == r.DB; i++ {
			r.RESP = append(r.RESP, resp(effects[i].argv...)...)
			r.Effects++
		}
		r.Last = i == len(effects)
		s.end += int64(len(r.RESP)) + 10
		r.End = s.end
		group = append(group, r)
	}
	s.groups = append(s.groups, group)
	s.cond.Broadcast()
	return s.end
}

func (s *fakeSource) Next(dst []Record, wait time.Duration) ([]Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if s.closed {
			return dst, ErrClosed
		}
		n := 0
		for _, g := range s.groups {
			if g[0].Start == s.at && n < s.max {
				dst = append(dst, g...)
				s.at = g[len(g)-1].End
				n++
			}
		}
		if n > 0 || wait == 0 || s.poked {
			s.poked = false
			return dst, nil
		}
		s.cond.Wait()
	}
}

func (s *fakeSource) Rewind(at int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at < s.released || at > s.end {
		return fmt.Errorf("rewind to %d: kept is %d to %d", at, s.released, s.end)
	}
	s.at = at
	return nil
}

func (s *fakeSource) Release(upTo int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = max(s.released, upTo)
	for len(s.groups) > 0 && s.groups[0][len(s.groups[0])-1].End <= s.released {
		s.groups = s.groups[1:]
	}
}

func (s *fakeSource) End() int64 { s.mu.Lock(); defer s.mu.Unlock(); return s.end }

func (s *fakeSource) Interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.poked = true
	s.cond.Broadcast()
}

func (s *fakeSource) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.cond.Broadcast()
}
