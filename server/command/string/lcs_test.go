package str

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// naiveLCS fills the whole table, as in every textbook, and walks back.
func naiveLCS(a, b []byte) (common []byte, table [][]int) {
	table = make([][]int, len(a)+1)
	table[0] = make([]int, len(b)+1)
	for i := range a {
		table[i+1] = make([]int, len(b)+1)
		for j := range b {
			if a[i] == b[j] {
				table[i+1][j+1] = table[i][j] + 1
			} else {
				table[i+1][j+1] = max(table[i][j+1], table[i+1][j])
			}
		}
	}
	for i, j := len(a), len(b); i > 0 && j > 0; {
		switch {
		case a[i-1] == b[j-1]:
			common = append([]byte{a[i-1]}, common...)
			i, j = i-1, j-1
		case table[i-1][j] > table[i][j-1]:
			i--
		default:
			j--
		}
	}
	return common, table
}

func TestLCSAgainstTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]byte("abc\x00")[:rapid.IntRange(1, 4).Draw(t, "letters")])
		a := rapid.SliceOfN(letters, 0, 150).Draw(t, "a")
		b := rapid.SliceOfN(letters, 0, 200).Draw(t, "b")
		want, table := naiveLCS(a, b)
		got := newLCSTable(a, b)
		if n := got.length(); n != len(want) {
			t.Fatalf("length %d, want %d", n, len(want))
		}
		if c := got.common(); !bytes.Equal(c, want) {
			t.Fatalf("common %q, want %q", c, want)
		}
		for i := 1; i <= len(a); i++ {
			for j := 1; j <= len(b); j++ {
				if got.grows(i, j) != (table[i][j] > table[i][j-1]) {
					t.Fatalf("cell %d,%d", i, j)
				}
			}
		}
	})
}

func TestLCSRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]byte("ab"))
		a := rapid.SliceOfN(letters, 0, 80).Draw(t, "a")
		b := rapid.SliceOfN(letters, 0, 80).Draw(t, "b")
		table := newLCSTable(a, b)
		var joined []byte
		for _, r := range table.ranges(0) {
			if !bytes.Equal(a[r.a:r.a+r.n], b[r.b:r.b+r.n]) {
				t.Fatalf("range %+v differs", r)
			}
			joined = append(append([]byte{}, a[r.a:r.a+r.n]...), joined...)
		}
		if !bytes.Equal(joined, table.common()) {
			t.Fatalf("ranges give %q, want %q", joined, table.common())
		}
		for _, r := range table.ranges(3) {
			if r.n < 3 {
				t.Fatalf("range %+v is too short", r)
			}
		}
	})
}

func BenchmarkLCS(b *testing.B) {
	x, y := make([]byte, 4000), make([]byte, 4000)
	for i := range x {
		x[i], y[i] = "ACGT"[i*7%4], "ACGT"[i*i%4]
	}
	for b.Loop() {
		newLCSTable(x, y).common()
	}
}
