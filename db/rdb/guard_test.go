package rdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"heddle/db"
)

// manyKeys is a file of n strings and a set that is longer than a piece of 4 KB.
func manyKeys(n int) []byte {
	b := append([]byte(signature+"0009"), opAux)
	b = appendRaw(appendRaw(b, []byte("name")), []byte("fact"))
	for i := range n {
		b = append(b, typeString)
		b = appendRaw(appendRaw(b, fmt.Append(nil, "key:", i)), []byte("value"))
	}
	b = appendLength(appendRaw(append(b, typeSet), []byte("set")), uint64(n))
	for i := range n {
		b = appendRaw(b, fmt.Append(nil, "member:", i))
	}
	return append(b, opEOF, 0, 0, 0, 0, 0, 0, 0, 0)
}

// TestLoadPanics holds that what panics while a file is loaded is an error, wherever that
// happens, after which no shard is locked and no goroutine is left.
func TestLoadPanics(t *testing.T) {
	file := manyKeys(5000)
	var calls atomic.Int64
	after := func(n int64, r any) {
		if calls.Add(1) == n {
			panic(r)
		}
	}
	for name, o := range map[string]LoadOptions{
		"cutter, fact":  {Aux: func(string, string) { after(1, "here") }},
		"cutter, piece": {Stop: func() error { after(3, "here"); return nil }},
		"worker":        {EachKey: func() { after(700, "here") }},
		"memory":        {EachKey: func() { after(700, db.ErrOutOfMemory) }},
	} {
		t.Run(name, func(t *testing.T) {
			calls.Store(0)
			before := runtime.NumGoroutine()
			ks := openKeyspace(t)
			o.Now, o.piece, o.Threads = sampleNow, 4096, 3
			_, err := Load(bytes.NewReader(file), "f", ks, o)
			var e *Error
			switch {
			case name == "memory":
				if !errors.Is(err, db.ErrOutOfMemory) {
					t.Fatalf("error %v, want that of memory", err)
				}
			case !errors.As(err, &e) || !strings.Contains(e.Msg, "BUG: panic: here") || e.File != "f":
				t.Fatalf("error %v, want one that tells of the panic", err)
			}
			ks.Whole(sampleNow).Flush(-1, false) // takes all locks
			for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
				}
			}
		})
	}
}

// TestStorePanics holds that a worker that panics while it stores unlocks the shard.
func TestStorePanics(t *testing.T) {
	ks := openKeyspace(t)
	l := &loader{ks: ks, o: &LoadOptions{Now: sampleNow, piece: pieceSize}, free: make(chan []byte, 1)}
	limits := db.DefaultLimits()
	l.o.Limits = &limits
	w := newWorker(l)
	w.tx = nil // any use of it panics
	data := appendRaw(appendRaw([]byte{typeString}, []byte("key")), []byte("value"))
	if next := w.guarded(&task{data: data}); next == w {
		t.Fatal("the worker is used again")
	}
	if !l.failed.Load() || !strings.Contains(l.mu.err.Error(), "BUG: panic") {
		t.Fatalf("error %v, want one that tells of the panic", l.mu.err)
	}
	ks.Whole(sampleNow).Flush(-1, false) // takes all locks
}

// devNull is an Output.
type devNull struct{ io.Writer }

func (devNull) StartSync(int64, int64) error { return nil }

// TestSavePanics holds that what panics while a file is saved is an error.
func TestSavePanics(t *testing.T) {
	ks := openKeyspace(t)
	if _, err := Load(bytes.NewReader(manyKeys(5000)), "f", ks, LoadOptions{Now: sampleNow}); err != nil {
		t.Fatal(err)
	}
	sn := ks.Snapshot(nil)
	defer sn.Close()
	var calls atomic.Int64
	_, err := Save(devNull{io.Discard}, sn, SaveOptions{Threads: 3, EachKey: func() {
		if calls.Add(1) == 2000 {
			panic("here")
		}
	}})
	if err == nil || !strings.Contains(err.Error(), "BUG: panic: here") {
		t.Fatalf("error %v, want one that tells of the panic", err)
	}
}

// TestAnnouncedKeys holds that room for announced keys is bounded by the file in all
// databases together.
func TestAnnouncedKeys(t *testing.T) {
	b := []byte(signature + "0009")
	for n := range uint64(16) {
		b = appendLength(append(b, opSelectDB), n)
		b = appendLength(appendLength(append(b, opResizeDB), 1<<62), 1<<62)
	}
	b = append(b, typeString)
	b = appendRaw(appendRaw(b, []byte("key")), make([]byte, 9<<20))
	b = append(b, opEOF, 0, 0, 0, 0, 0, 0, 0, 0)
	ks := openKeyspace(t)
	before := ks.Used()
	if _, err := Load(bytes.NewReader(b), "f", ks, LoadOptions{Now: sampleNow}); err != nil {
		t.Fatal(err)
	}
	if grown := ks.Used() - before; grown > 12*int64(len(b)) {
		t.Fatalf("a file of %d bytes takes %d", len(b), grown)
	}
}

// TestFieldDeadlines refuses deadlines of fields that Redis refuses, whether fields that are
// due are kept or not.
func TestFieldDeadlines(t *testing.T) {
	for _, c := range []struct {
		first, relative uint64
		ok              bool
	}{
		{uint64(sampleNow) + 5, 1, true},
		{uint64(sampleNow) + 5, 1 << 40, true},
		{1<<48 - 2, 1, true},
		{1<<48 - 2, 2, false},
		{1 << 62, 1 << 62, false},
		{1 << 63, 1, false},
		{5, 1<<64 - 6, false},
	} {
		for _, keep := range []bool{false, true} {
			b := binary.LittleEndian.AppendUint64([]byte{typeHashMeta}, c.first)
			b = appendLength(appendLength(b, 1), c.relative)
			b = appendRaw(appendRaw(b, []byte("field")), []byte("value"))
			_, err := parseValue(b, &DumpOptions{Now: sampleNow, KeepExpired: keep})
			if (err == nil) != c.ok {
				t.Errorf("first %d, then %d, keep %v: error %v", c.first, c.relative, keep, err)
			}
		}
	}
}
