package db

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// resident returns the bytes of memory that the process has.
func resident(t *testing.T) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	n, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n * int64(os.Getpagesize())
}

// TestLongZeros wants a string that is made long by its last byte, or grows so, to be made
// without touching what lies between: half a gigabyte took a second under the lock.
func TestLongZeros(t *testing.T) {
	const size, slack = 256 << 20, 16 << 20
	ks := open(t, Options{Shards: 1, Databases: 1})
	tx := ks.NewTx()
	before := resident(t)
	for _, key := range []string{"new", "short", "grows"} {
		with(ks, tx, 0, 1, func(tx *Tx) {
			k := []byte(key)
			switch key {
			case "short":
				if err := tx.SetString(k, []byte("text"), NoExpiry); err != nil {
					t.Fatal(err)
				}
			case "grows":
				if _, err := tx.Edit(k, 3*BigMin); err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Edit(k, size/2); err != nil {
					t.Fatal(err)
				}
			}
			b, err := tx.Edit(k, size)
			if err != nil || len(b) != size {
				t.Fatal(len(b), err)
			}
			for i := 10; i < size; i += size / 10 {
				if b[i] != 0 {
					t.Errorf("%s: byte %d is not zero", key, i)
				}
			}
			b[size-1] = 'x'
		})
		limit := before + slack
		if key == "grows" {
			limit += size/2 + slack // the first half was copied
		}
		if after := resident(t); after > limit {
			t.Errorf("%s: %d MB are in memory", key, (after-before)>>20)
		}
	}
}
