//go:build invariants

package db

import "testing"

// TestLockOrder locks shards the wrong way round until that is noticed.
func TestLockOrder(t *testing.T) {
	ks := open(t, Options{})
	wrong := func() (noticed bool) {
		ks.Lock(1 << 5)
		defer ks.Unlock(1 << 5)
		defer func() { noticed = recover() != nil }()
		ks.Lock(1 << 3)
		ks.Unlock(1 << 3)
		return false
	}
	for range 10_000 {
		if wrong() {
			return
		}
	}
	t.Error("not noticed")
}
