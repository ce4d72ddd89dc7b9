package db

import (
	"testing"
	"unsafe"
)

// TestShardLines holds a shard to its layout in cache lines.
func TestShardLines(t *testing.T) {
	const line = 64
	var s shard
	if size := unsafe.Sizeof(s); size%line != 0 {
		t.Errorf("a shard takes %d bytes, %d too many for whole lines", size, size%line)
	}
	if end := unsafe.Offsetof(s.counts) + unsafe.Sizeof(s.counts); end > line {
		t.Errorf("the counters end at byte %d, beyond the line of the mutex", end)
	}
	if at := unsafe.Offsetof(s.ks); at < line {
		t.Errorf("what is only read begins at byte %d, on the line of the mutex", at)
	}
	ks := open(t, Options{})
	if at := uintptr(unsafe.Pointer(&ks.shards[0])); at%line != 0 {
		t.Errorf("the shards begin %d bytes into a line", at%line)
	}
}
