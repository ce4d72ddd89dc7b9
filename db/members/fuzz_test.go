package members

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// FuzzTable does what bytes say to a table and its clones, and to maps.
func FuzzTable(f *testing.F) {
	f.Add([]byte("\x00\x01a1a2a3d1c0s1a4a5"))
	f.Add([]byte("\x01\xffaaaaaaaaaabbbbbbbcccccccccdddddddd"))
	f.Add([]byte{2, 0, 0, 10, 200, 0, 11, 255, 3, 0, 0, 1, 10, 0, 0, 10, 3})
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) < 2 {
			return
		}
		m := newModel(Kind(ops[0] % 3))
		if ops[1]&1 != 0 {
			m.t.mask = 0x8100000000000001 | uint64(ops[1])<<40
		}
		all := []*model{m}
		for ops = ops[2:]; len(ops) >= 3; ops = ops[3:] {
			m := all[int(ops[0]>>4)%len(all)]
			key := fmt.Sprint(ops[1])
			if ops[1]%16 == 3 {
				key = strings.Repeat(key, 300)
			}
			value := strings.Repeat(string(rune('a'+ops[2]%26)), 8+int(ops[2])*int(ops[2])/32)
			switch ops[0] % 16 {
			case 0, 1:
				m.remove(t, key)
			case 2:
				m.get(t, key)
			case 3:
				if len(all) < 6 {
					all = append(all, m.clone())
				}
			case 4:
				for i := range int(ops[2]) {
					m.set(t, fmt.Sprint(key, "-", i), value)
				}
			case 5:
				for i := range int(ops[2]) {
					m.remove(t, fmt.Sprint(key, "-", i))
				}
			default:
				m.set(t, key, value)
			}
		}
		for _, m := range all {
			m.check(t)
		}
	})
}

// TestClonesAreIndependent reads clones in other goroutines while the original goes
// on; it is for the race detector.
func TestClonesAreIndependent(t *testing.T) {
	tab := New(Bytes)
	d := NewDeadlines()
	set := func(i, v int) {
		k := fmt.Append(nil, i)
		tab.Set(k, fmt.Append(nil, v, strings.Repeat("x", v%700)))
		d.Set(k, 2)
	}
	for i := range 3000 {
		set(i, 0)
	}
	var wg sync.WaitGroup
	for round := 1; round <= 8; round++ {
		c, cd := tab.Clone(), d.Clone()
		wg.Add(1)
		go func() {
			defer wg.Done()
			n := 0
			c.Each(func(k, v []byte) bool {
				n++
				if got, found := c.Get(k); !found || string(got) != string(v) || len(v) < 1 {
					t.Errorf("%q is %q, then %q", k, v, got)
				}
				return true
			})
			if n != c.Len() || cd.Len() != cd.DueBy(5) {
				t.Errorf("%d of %d, %d deadlines", n, c.Len(), cd.Len())
			}
		}()
		for i := range 2000 {
			set(i*round%5000, round*100)
			if i%3 == 0 {
				tab.Delete(fmt.Append(nil, i+round))
				d.Delete(fmt.Append(nil, i+round))
			}
		}
	}
	wg.Wait()
	if err := tab.Check(); err != nil {
		t.Error(err)
	}
}

// TestLarge grows a table to many members and empties it again.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const n = 200_000
	tab := New(Word)
	key := make([]byte, 16)
	for i := range n {
		binary.BigEndian.PutUint64(key, uint64(i))
		tab.SetWord(key, uint64(i))
	}
	if err := tab.Check(); err != nil {
		t.Fatal(err)
	}
	full := tab.MemSize()
	t.Logf("%.1f bytes a member, %d root slots", float64(full)/n, len(tab.root))
	c := tab.Clone()
	for i := range n {
		binary.BigEndian.PutUint64(key, uint64(i))
		if w, found := tab.TakeWord(key); !found || w != uint64(i) {
			t.Fatalf("%d: %d, %v", i, w, found)
		}
		if i == n/2 {
			if m := tab.MemSize(); m > full*3/4 {
				t.Errorf("%d bytes, half of its members need %d", full, m)
			}
		}
	}
	if err := tab.Check(); err != nil {
		t.Fatal(err)
	}
	if tab.MemSize() > 1000 || c.Len() != n || c.MemSize() != full {
		t.Errorf("%d bytes of an empty table; clone %d, %d", tab.MemSize(), c.Len(), c.MemSize())
	}
}
