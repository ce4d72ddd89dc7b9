package db

import "testing"

// TestCheckBesideLazyFree: a database whose keys are gone, but not its expiry
// index, is flushed; the index is no leak while it waits to be freed.
func TestCheckBesideLazyFree(t *testing.T) {
	ks := open(t, Options{Shards: 1})
	tx := ks.NewTx()
	for i := range 300 {
		key := []byte("k")
		set := ks.AllShards()
		ks.Lock(set)
		tx.Begin(0, Millis(i), set, true)
		if err := tx.SetString(key, []byte("v"), Millis(i)+1_000_000); err != nil {
			t.Fatal(err)
		}
		tx.Delete(key)
		tx.End()
		ks.Unlock(set)
		ks.Whole(Millis(i)).Flush(0, true)
		if err := ks.Check(); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
	}
}
