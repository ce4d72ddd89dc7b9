package rdb

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"heddle/db"
)

// FuzzLoad loads any bytes, and checks them: an error that says where, or a sound keyspace.
// The two must agree in whether a file is good, empty keys and duplicates aside.
func FuzzLoad(f *testing.F) {
	for _, b := range corpus(f) {
		f.Add(b, uint16(100))
	}
	ks, err := db.Open(db.Options{Shards: 2})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(ks.Close)
	f.Fuzz(func(t *testing.T, file []byte, piece uint16) {
		if len(file) > 1<<16 {
			return
		}
		err := loadInto(t, ks, file, LoadOptions{NoChecksum: true, Threads: 2, piece: 64 + int(piece)})
		checked := Check(bytes.NewReader(file), "f", io.Discard, sampleNow)
		if err != nil && checked == nil && !errors.Is(err, ErrDuplicate) && !differs(err) {
			t.Fatalf("load says %v, check nothing", err)
		}
	})
}

// differs reports whether an error of Load is none of Check: numbers of databases, modules.
func differs(err error) bool {
	var e *Error
	return errors.As(err, &e) && (bytes.Contains([]byte(e.Msg), []byte("a database below")) ||
		bytes.Contains([]byte(e.Msg), []byte("module")) || bytes.Contains([]byte(e.Msg), []byte("behind its expiry")) ||
		bytes.Contains([]byte(e.Msg), []byte("and its deadline")))
}

// FuzzParseDump makes a value of any bytes, as the payload of a DUMP whose footer is right.
func FuzzParseDump(f *testing.F) {
	for _, s := range handMade {
		f.Add([]byte(s)[len("REDIS0009"):])
	}
	for _, s := range []string{
		"\x00\x01a", "\x00\xc0\x07", "\x02\x02\x01a\xc0\x05", "\x0b\x0c\x02\x00\x00\x00\x02\x00\x00\x00\x01\x00\x02\x00",
		"\x0a\x0f\x0f\x00\x00\x00\x0c\x00\x00\x00\x02\x00\x00\xf2\x02\xf3\xff",
		"\x10\x0d\x0d\x00\x00\x00\x02\x00\x81f\x02\x81v\x02\xff",
		"\x12\x02\x02\x0a\x0a\x00\x00\x00\x01\x00\x81a\x02\xff\x01\x03big",
		"\x05\x01\x01a\x00\x00\x00\x00\x00\x00\xf0\x3f", "\x09\x07\x01\x01f\x01\x00v\xff",
		"\x18\x00\x00\x00\x00\x00\x04\x00\x00\x02\x01\x01f\x01v\x00\x01g\x01w",
	} {
		f.Add([]byte(s))
	}
	ks, err := db.Open(db.Options{Shards: 2})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(ks.Close)
	f.Fuzz(func(t *testing.T, body []byte) {
		payload := append(bytes.Clone(body), 12, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		v, err := ParseDump(payload, DumpOptions{NoChecksum: true, Now: sampleNow, NewBig: ks.NewBig})
		if err != nil {
			if !errors.Is(err, ErrDumpFormat) && !errors.Is(err, ErrDumpVersion) {
				t.Fatalf("error %v is no good one", err)
			}
			return
		}
		if v.Empty() {
			return
		}
		putAndCompare(t, ks, v)
	})
}

// putAndCompare stores a value, makes a payload of it, and a value of that: they are equal.
func putAndCompare(t *testing.T, ks *db.Keyspace, v Value) {
	t.Helper()
	put := func(v Value) (sum string) {
		tx := ks.NewTx()
		ks.Lock(ks.AllShards())
		tx.Begin(0, sampleNow, ks.AllShards(), true)
		err := v.Put(tx, []byte("k"), db.NoExpiry)
		tx.End()
		ks.Unlock(ks.AllShards())
		if err != nil {
			t.Fatal(err)
		}
		sound(t, ks)
		sn := ks.Snapshot(nil)
		defer sn.Close()
		return lookup(sn, "k")
	}
	first := put(v)
	var payload []byte
	ks.Whole(sampleNow).Items(func(_ int, it *db.Item) bool {
		payload = AppendDump(nil, it, DumpFormat{Now: sampleNow, Version: Version74})
		return true
	})
	again, err := ParseDump(payload, DumpOptions{Now: sampleNow, NewBig: ks.NewBig})
	if err != nil {
		t.Fatalf("the payload of what was put is no good one: %v", err)
	}
	if second := put(again); first != second {
		t.Fatalf("digest %s, then %s", first, second)
	}
	ks.Whole(sampleNow).Flush(-1, false)
}
