package hll

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

const most = 3000

// newRanks returns the registers that elements make, the plain way.
func newRanks(elements []string) *Ranks {
	r := new(Ranks)
	for _, e := range elements {
		i, rank := Place([]byte(e))
		r[i] = max(r[i], rank)
	}
	return r
}

func add(t testing.TB, b []byte, element string, most int64) []byte {
	t.Helper()
	i, rank := Place([]byte(element))
	before, err := Get(b, i)
	if err != nil {
		t.Fatal(err)
	}
	b, changed, err := Set(b, i, rank, most)
	if err != nil {
		t.Fatal(err)
	}
	if changed != (rank > before) {
		t.Fatalf("register %d was %d, rank %d: changed %v", i, before, rank, changed)
	}
	return b
}

// check compares the registers of a value with ranks.
func check(t testing.TB, b []byte, want *Ranks) {
	t.Helper()
	if !Valid(b) {
		t.Fatal("not valid")
	}
	got := new(Ranks)
	if err := got.Add(b); err != nil {
		t.Fatal(err)
	}
	if *got != *want {
		t.Fatal("registers differ")
	}
	for i := 0; i < Registers; i += 97 {
		if v, err := Get(b, i); err != nil || v != want[i] {
			t.Fatalf("register %d is %d, %v, want %d", i, v, err, want[i])
		}
	}
	n, err := Count(b)
	if err != nil || n != want.Count() {
		t.Fatalf("count %d, %v, want %d", n, err, want.Count())
	}
}

func TestSparseAndDense(t *testing.T) {
	for _, n := range []int{0, 1, 2, 10, 100, 1000, 3000, 20000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var elements []string
			small, wide, full := AppendNew(nil), AppendNew(nil), AppendNew(nil)
			full, _ = AppendDense(nil, full)
			for i := range n {
				e := fmt.Sprint("element:", i)
				elements = append(elements, e)
				small, wide, full = add(t, small, e, most), add(t, wide, e, math.MaxInt64), add(t, full, e, most)
			}
			want := newRanks(elements)
			check(t, small, want)
			check(t, wide, want)
			check(t, full, want)
			if got := float64(want.Count()); math.Abs(got-float64(n)) > 0.03*float64(n) {
				t.Errorf("estimate %v of %d", got, n)
			}
			whole, err := AppendDense(nil, wide)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(whole[header:], full[header:]) {
				t.Error("dense registers differ")
			}
			if !IsDense(small) && len(small) > most {
				t.Errorf("%d bytes", len(small))
			}
		})
	}
}

// TestSetAll: many registers at once are set as one by one.
func TestSetAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		most := int64(rapid.SampledFrom([]int{0, 20, 100, 1000, 3000, 100000}).Draw(t, "most"))
		rng := rand.New(rand.NewPCG(seed, 1))
		one := AppendNew(nil)
		for range rng.IntN(200) {
			one, _, _ = Set(one, rng.IntN(Registers)>>rng.IntN(10), uint8(1+rng.IntN(3)), most)
		}
		all := bytes.Clone(one)
		ranks := new(Ranks)
		for range rng.IntN(2000) {
			ranks[rng.IntN(Registers)>>rng.IntN(10)] = uint8(rng.IntN(5))
		}
		if rng.IntN(4) == 0 {
			ranks[rng.IntN(Registers)] = uint8(rng.IntN(50))
		}
		for i, rank := range ranks {
			if rank == 0 {
				continue
			}
			var err error
			if one, _, err = Set(one, i, rank, most); err != nil {
				t.Fatal(err)
			}
		}
		all, err := SetAll(all, ranks, most)
		if err != nil || !bytes.Equal(all, one) {
			t.Fatalf("%v: one by one\n%x\nall\n%x", err, one, all)
		}
	})
}

func TestEstimate(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	ranks := new(Ranks)
	n := 0
	var worst float64
	for _, upTo := range []int{1, 10, 100, 1000, 10_000, 100_000, 1_000_000} {
		for ; n < upTo; n++ {
			var e [8]byte
			for i := range e {
				e[i] = byte(rng.Uint32())
			}
			i, rank := Place(e[:])
			ranks[i] = max(ranks[i], rank)
		}
		worst = max(worst, math.Abs(float64(ranks.Count())-float64(n))/float64(n))
	}
	if worst > 0.03 {
		t.Errorf("an estimate is wrong by %.1f %%", worst*100)
	}
	for i := range ranks {
		ranks[i] = rankBits + 1
	}
	if n := ranks.Count(); n == 0 {
		t.Error("full registers count nothing")
	}
}

func TestCorrupt(t *testing.T) {
	head := AppendNew(nil)[:header]
	for _, runs := range []string{"", "\x00", "\x7f", "\x7f\xff\x00", "\x7f\xff\x80", "\x7f\xfe", "\x7f\xff\x7f\xff"} {
		b := append(bytes.Clone(head), runs...)
		if _, err := Count(b); err != ErrCorrupt {
			t.Errorf("%x: count: %v", runs, err)
		}
		if err := new(Ranks).Add(b); err != ErrCorrupt {
			t.Errorf("%x: union: %v", runs, err)
		}
		if d, err := AppendDense([]byte("x"), b); err != ErrCorrupt || string(d) != "x" {
			t.Errorf("%x: dense: %v, %d bytes", runs, err, len(d))
		}
	}
	for _, b := range []string{"", "HYLL", "HYLL\x02aaaaaaaaaaa", "HYLL\x00aaaaaaaaaaa", "HYLK\x01aaaaaaaaaaa"} {
		if Valid([]byte(b)) {
			t.Errorf("%q is not valid", b)
		}
	}
}

// FuzzValue: whatever a client writes, reading and changing it ends well.
func FuzzValue(f *testing.F) {
	f.Add(AppendNew(nil), "a", uint16(3000))
	b := AppendNew(nil)
	for i := range 300 {
		b, _, _ = Set(b, i*i%Registers, uint8(1+i%7), most)
	}
	f.Add(b, "b", uint16(600))
	f.Add(append(AppendNew(nil), 0x7f), "", uint16(0))
	f.Add([]byte("HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x7f\xfe\x80"), "c", uint16(30))
	f.Fuzz(func(t *testing.T, b []byte, element string, most uint16) {
		if !Valid(b) {
			return
		}
		old := bytes.Clone(b)
		count, countErr := Count(b)
		ranks := new(Ranks)
		mergeErr := ranks.Add(b)
		if countErr != mergeErr || countErr == nil && count != ranks.Count() {
			t.Fatalf("%d, %v; %d, %v", count, countErr, ranks.Count(), mergeErr)
		}
		d, err := AppendDense(nil, b)
		if err != mergeErr {
			t.Fatalf("dense: %v, want %v", err, mergeErr)
		}
		if err == nil {
			check(t, d, ranks)
		}
		AppendRuns(nil, b)
		if !bytes.Equal(b, old) {
			t.Fatal("reading changes")
		}
		i, rank := Place([]byte(element))
		out, changed, err := Set(b, i, rank, int64(most))
		if err != nil && !bytes.Equal(out, old) {
			t.Fatal("failing changes")
		}
		if err == nil && changed {
			if v, err := Get(out, i); err != nil || v != rank {
				t.Fatalf("register %d: %d, %v, want %d", i, v, err, rank)
			}
		}
		if err == nil && mergeErr == nil {
			ranks[i] = max(ranks[i], rank)
			check(t, out, ranks)
		}
	})
}

func BenchmarkPlace(b *testing.B) {
	e := []byte("element:1234567")
	for b.Loop() {
		Place(e)
	}
}

func BenchmarkCount(b *testing.B) {
	for _, n := range []int{100, 1000, 100000} {
		v := AppendNew(nil)
		for i := range n {
			v = add(b, v, fmt.Sprint(i), most)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Count(v)
			}
		})
	}
}

func BenchmarkUnion(b *testing.B) {
	v, _ := AppendDense(nil, AppendNew(nil))
	for i := range 100000 {
		v = add(b, v, fmt.Sprint(i), most)
	}
	var r Ranks
	for b.Loop() {
		r.Add(v)
	}
}

func BenchmarkSetAll(b *testing.B) {
	ranks := new(Ranks)
	for i := range 1500 {
		ranks[i*11%Registers] = uint8(1 + i%6)
	}
	for b.Loop() {
		SetAll(AppendNew(nil), ranks, 100000)
	}
}
