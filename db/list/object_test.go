package list

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/db/listpack"
)

// element is a value of one of several kinds and sizes.
func element(r *rand.Rand) string {
	switch r.IntN(12) {
	case 0:
		return strings.Repeat("x", r.IntN(6000))
	case 1:
		return strings.Repeat("big element \xff ", 1+r.IntN(900))
	case 2, 3:
		return strconv.Itoa(r.IntN(100))
	case 4:
		return strconv.FormatInt(int64(r.Uint64())>>r.IntN(64), 10)
	case 5:
		return ""
	}
	return "element:" + strconv.Itoa(r.IntN(50))
}

// slice reads a list forwards, backwards and by index, and compares.
func slice(t *testing.T, o *Object) (out []string) {
	t.Helper()
	for it := o.Iter(0); it.Next(); {
		out = append(out, string(it.Entry().Append(nil)))
	}
	var back []string
	var it Reverse
	for it.From(&List{o: o}, o.n-1); it.Next(); {
		back = append(back, string(it.Entry().Append(nil)))
	}
	slices.Reverse(back)
	if !slices.Equal(out, back) {
		t.Fatalf("%d elements forwards, %d backwards, not the same", len(out), len(back))
	}
	return out
}

// model is an Object beside a slice.
type model struct {
	t    *testing.T
	o    *Object
	want []string
}

func (m *model) value(s string) *listpack.Value {
	v := new(listpack.Value)
	v.Set([]byte(s))
	return v
}

// step makes one random change.
func (m *model) step(r *rand.Rand, grow bool) {
	n := len(m.want)
	s := element(r)
	op := r.IntN(12)
	if grow && op >= 6 || n == 0 {
		op = r.IntN(3)
	}
	switch op {
	case 0:
		m.o.push(true, m.value(s))
		m.want = slices.Insert(m.want, 0, s)
	case 1:
		m.o.push(false, m.value(s))
		m.want = append(m.want, s)
	case 2:
		i := r.IntN(n + 1)
		m.o.insert(i, m.value(s))
		m.want = slices.Insert(m.want, i, s)
	case 3, 4:
		i := r.IntN(n)
		m.o.set(i, m.value(s))
		m.want[i] = s
	case 5:
		i := r.IntN(n)
		m.cut(i, 1+r.IntN(min(n-i, 10)))
	case 6:
		m.cut(0, 1)
	case 7:
		m.cut(n-1, 1)
	case 8:
		i := r.IntN(n)
		m.cut(i, 1+r.IntN(min(n-i, 1000)))
	default:
		m.remove(m.want[r.IntN(n)], 1+r.IntN(20), r.IntN(2) == 0)
	}
}

func (m *model) cut(i, n int) {
	m.o.delete(i, n)
	m.want = slices.Delete(m.want, i, i+n)
}

func (m *model) remove(s string, most int, last bool) {
	gone := 0
	if last {
		for i := len(m.want) - 1; i >= 0 && gone < most; i-- {
			if m.want[i] == s {
				m.want = slices.Delete(m.want, i, i+1)
				gone++
			}
		}
	} else {
		for i := 0; i < len(m.want) && gone < most; i++ {
			if m.want[i] == s {
				m.want = slices.Delete(m.want, i, i+1)
				gone++
				i--
			}
		}
	}
	if got := m.o.remove(m.value(s), most, last); got != gone {
		m.t.Fatalf("removed %d, want %d", got, gone)
	}
}

func (m *model) verify() {
	m.t.Helper()
	if err := m.o.check(); err != nil {
		m.t.Fatal(err)
	}
	if m.o.n != len(m.want) {
		m.t.Fatalf("%d elements, want %d", m.o.n, len(m.want))
	}
	if n := len(m.want); n > 0 {
		for _, i := range []int{0, n - 1, n / 2, n / 3} {
			if got := string(m.o.at(i).Append(nil)); got != m.want[i] {
				m.t.Fatalf("element %d is %q, want %q", i, got, m.want[i])
			}
		}
	}
}

// TestModel changes a list at random beside a slice, with clones alive that
// must stay as they were and clones that are changed, too.
func TestModel(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := &model{t: t, o: newObject(nil, false)}
		m.o.quick = seed%2 == 0
		type frozen struct {
			o    *Object
			want []string
		}
		var clones []frozen
		for i := range 3000 {
			m.step(r, i%1500 < 1000)
			m.verify()
			switch {
			case r.IntN(100) == 0:
				clones = append(clones, frozen{m.o.clone(), slices.Clone(m.want)})
			case r.IntN(300) == 0: // go on with the clone
				clones = append(clones, frozen{m.o, slices.Clone(m.want)})
				m.o = m.o.clone()
			}
			if len(clones) > 3 {
				c := clones[0]
				clones = clones[1:]
				if err := c.o.check(); err != nil {
					t.Fatalf("seed %d, a clone: %v", seed, err)
				}
				if !slices.Equal(slice(t, c.o), c.want) {
					t.Fatalf("seed %d: a clone changed", seed)
				}
			}
		}
		if !slices.Equal(slice(t, m.o), m.want) {
			t.Fatalf("seed %d: not the same in the end", seed)
		}
	}
}

// TestDeep makes a tree of several levels and takes it apart from all sides.
func TestDeep(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	m := &model{t: t, o: newObject(nil, false)}
	pad := strings.Repeat("\xfe", 1300)
	for i := range 15000 {
		s := pad + strconv.Itoa(i)
		m.o.push(i%3 == 0, m.value(s))
		if i%3 == 0 {
			m.want = append(m.want, "") // turned round below
		}
	}
	m.want = slice(t, m.o)
	m.verify()
	for _, i := range []int{0, 1, 4999, 5000, 7500, 14998, 14999} {
		if got := string(m.o.at(i).Append(nil)); got != m.want[i] {
			t.Fatalf("element %d is %.30q", i, got)
		}
	}
	before, want := m.o.clone(), slices.Clone(m.want)
	for len(m.want) > 0 {
		n := len(m.want)
		i := r.IntN(n)
		m.cut(i, min(n-i, 1+r.IntN(400)))
		if r.IntN(4) == 0 {
			s := element(r)
			i := r.IntN(len(m.want) + 1)
			m.o.insert(i, m.value(s))
			m.want = slices.Insert(m.want, i, s)
		}
		if r.IntN(16) == 0 {
			m.verify()
		}
	}
	if err := before.check(); err != nil || !slices.Equal(slice(t, before), want) {
		t.Fatalf("the clone changed: %v", err)
	}
}

// TestQueue runs lists as queues and stacks of several depths.
func TestQueue(t *testing.T) {
	for _, depth := range []int{1, 100, 300, 5000} {
		for way := range 4 {
			m := &model{t: t, o: newObject(nil, false)}
			front, back := way&1 == 0, way&2 == 0
			for i := range 4 * depth {
				s := "job:" + strconv.Itoa(i)
				m.o.push(front, m.value(s))
				if front {
					m.want = slices.Insert(m.want, 0, s)
				} else {
					m.want = append(m.want, s)
				}
				if len(m.want) > depth {
					if back {
						m.cut(len(m.want)-1, 1)
					} else {
						m.cut(0, 1)
					}
				}
				if i%97 == 0 {
					m.verify()
				}
			}
			m.verify()
			if got := m.o.MemSize(); depth == 5000 && got > 5000*9*12/10 {
				t.Errorf("%d elements take %d bytes", depth, got)
			}
		}
	}
}
