package rdb

import (
	"bytes"
	"testing"

	"heddle/db"
)

// What is decompressed is forgotten with its task, also where nothing waits to be stored, as
// when a file is checked.
func TestRoomIsGivenBack(t *testing.T) {
	limits := db.DefaultSettings().Limits
	w := newWorker(&loader{o: &LoadOptions{Limits: &limits}, free: make(chan []byte, 1)})
	var b []byte
	for range 100 {
		b = appendRaw(append(b, typeString), []byte("key"))
		b = appendString(b, bytes.Repeat([]byte("compress me "), 50), new(compressor))
	}
	for range 3 {
		w.run(&task{data: b})
	}
	if w.d.err != nil || w.l.loaded.Load() != 300 || len(w.batch.room) != 0 {
		t.Errorf("%v; %d keys, %d bytes are kept", w.d.err, w.l.loaded.Load(), len(w.batch.room))
	}
	if cap(w.batch.room) == 0 {
		t.Error("nothing was compressed")
	}
}
