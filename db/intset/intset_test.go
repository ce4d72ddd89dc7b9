package intset_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/db/intset"

	"pgregory.net/rapid"
)

// numbers draws members at the edges of the widths as often as others.
func numbers() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64Range(-20, 20),
		rapid.Int64(),
		rapid.SampledFrom([]int64{
			math.MinInt16, math.MaxInt16, math.MinInt16 - 1, math.MaxInt16 + 1,
			math.MinInt32, math.MaxInt32, math.MinInt32 - 1, math.MaxInt32 + 1, math.MinInt64, math.MaxInt64,
		}),
	)
}

func TestAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b []byte
		model := map[int64]bool{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			v := numbers().Draw(t, "v")
			var changed bool
			if rapid.Bool().Draw(t, "add") {
				b, changed = intset.Insert(b, v)
				if changed == model[v] {
					t.Fatalf("insert %d: new %v, but there %v", v, changed, model[v])
				}
				model[v] = true
			} else {
				b, changed = intset.Remove(b, v)
				if changed != model[v] {
					t.Fatalf("remove %d: %v, want %v", v, changed, model[v])
				}
				delete(model, v)
			}
			compare(t, b, model)
		}
	})
}

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

// compare checks a set whole against a map.
func compare(t failer, b []byte, model map[int64]bool) {
	t.Helper()
	if intset.Len(b) != len(model) {
		t.Fatalf("%d members, want %d", intset.Len(b), len(model))
	}
	if len(b) == 0 {
		return
	}
	if err := intset.Check(b); err != nil {
		t.Fatalf("%v", err)
	}
	want := make([]int64, 0, len(model))
	for v := range model {
		want = append(want, v)
	}
	slices.Sort(want)
	for i, v := range want {
		if intset.At(b, i) != v {
			t.Fatalf("member %d is %d, want %d", i, intset.At(b, i), v)
		}
		if at, found := intset.Search(b, v); !found || at != i {
			t.Fatalf("%d found at %d, %v", v, at, found)
		}
		if v < math.MaxInt64 && !model[v+1] && intset.Has(b, v+1) {
			t.Fatalf("%d is not there", v+1)
		}
	}
}

// TestStretching adds and removes as the owner of the bytes does: what Room asks
// for holds anything.
func TestStretching(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var b []byte
		model := map[int64]bool{}
		for range 50 {
			v := int64(rng.Uint64()) >> rng.IntN(64)
			i, found := intset.Search(b, v)
			if found {
				at, del := intset.Hole(b, i)
				b = slices.Delete(b, at, at+del)
				intset.Removed(b)
				delete(model, v)
			} else {
				at, ins := intset.Room(b, i, v)
				fill := byte(0xee)
				if len(b) == 0 {
					fill = 0
				}
				b = slices.Insert(b, at, slices.Repeat([]byte{fill}, ins)...)
				intset.Put(b, i, v)
				model[v] = true
			}
			compare(t, b, model)
		}
	}
}

func TestMost(t *testing.T) {
	var b []byte
	for v := range int64(intset.MaxLen) {
		b, _ = intset.Insert(b, v-math.MaxInt16)
	}
	if intset.Len(b) != intset.MaxLen || intset.Check(b) != nil {
		t.Fatalf("%d members: %v", intset.Len(b), intset.Check(b))
	}
}

// FuzzCheck: what passes Check can be read and changed.
func FuzzCheck(f *testing.F) {
	for _, list := range [][]int64{{}, {1}, {-5, 1, 70000}, {math.MinInt64, 0, math.MaxInt64}} {
		b := []byte{0, 0, 2}
		for _, v := range list {
			b, _ = intset.Insert(b, v)
		}
		f.Add(b, int64(1))
	}
	f.Add([]byte{2, 0, 2, 1, 0, 1, 0}, int64(3))
	f.Add([]byte{1, 0, 3, 1, 0, 1}, int64(3))
	f.Fuzz(func(t *testing.T, b []byte, v int64) {
		if intset.Check(b) != nil {
			return
		}
		model := map[int64]bool{}
		for i := range intset.Len(b) {
			model[intset.At(b, i)] = true
		}
		compare(t, b, model)
		if len(model) == intset.MaxLen {
			return
		}
		b, _ = intset.Insert(slices.Clone(b), v)
		model[v] = true
		compare(t, b, model)
		b, _ = intset.Remove(b, v)
		delete(model, v)
		compare(t, b, model)
	})
}

func BenchmarkSearch(b *testing.B) {
	var set []byte
	for v := range int64(512) {
		set, _ = intset.Insert(set, v*7)
	}
	b.ReportAllocs()
	for v := int64(0); b.Loop(); v++ {
		intset.Has(set, v%3600)
	}
}

func BenchmarkInsertRemove(b *testing.B) {
	var set []byte
	for v := range int64(512) {
		set, _ = intset.Insert(set, v*7)
	}
	b.ReportAllocs()
	for v := int64(0); b.Loop(); v++ {
		set, _ = intset.Insert(set, v%512*7+1)
		set, _ = intset.Remove(set, v%512*7+1)
	}
}
