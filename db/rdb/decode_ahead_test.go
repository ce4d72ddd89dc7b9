package rdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// collection makes a file of one collection, and returns where each element begins.
func collection(typ byte, names []string) (file []byte, at []int) {
	file = makeFile(func(b []byte) []byte {
		b = appendLength(appendRaw(append(b, typ), []byte("k")), uint64(len(names)))
		for i, name := range names {
			at = append(at, len(b))
			b = appendRaw(b, []byte(name))
			switch typ {
			case typeHash:
				b = appendRaw(b, fmt.Append(nil, "value:", i))
			case typeZSet2:
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(i)))
			}
		}
		return b
	})
	return file, at
}

// TestTwice repeats an element, near and far from the first, also where elements wait to be
// added: the error names it and where the second stands.
func TestTwice(t *testing.T) {
	for _, typ := range []byte{typeSet, typeHash, typeZSet2} {
		for _, n := range []int{3, 200, aheadFrom - 1, aheadFrom, 3000} {
			for _, back := range []int{1, aheadBy - 1, aheadBy, aheadBy + 1, n - 1} {
				for _, second := range []int{n / 2, n - 1} {
					for _, size := range []int{1, aheadMax + 1} {
						first := second - back
						if first < 0 {
							continue
						}
						names := make([]string, n)
						for i := range names {
							names[i] = fmt.Sprintf("%0*d", 4, i)
						}
						names[first] = strings.Repeat("x", size)
						names[second] = names[first]
						file, at := collection(typ, names)
						for _, piece := range []int{100, pieceSize} {
							err := tryLoad(t, file, LoadOptions{NoChecksum: true, piece: piece, Threads: 1})
							var e *Error
							if !errors.As(err, &e) || !strings.Contains(e.Msg, "x") || !strings.Contains(e.Msg, "twice") || e.Offset != int64(at[second]) {
								t.Fatalf("type %d of %d, elements %d and %d are the same: %v, want offset %d", typ, n, first, second, err, at[second])
							}
						}
						names[second] = "another"
						file, _ = collection(typ, names)
						if err := tryLoad(t, file, LoadOptions{NoChecksum: true, piece: 100 + n, Threads: 1}); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		}
	}
}
