package rdb_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"testing"

	"heddle/db"
	"heddle/db/digest"
	"heddle/db/rdb"
	"heddle/db/stream"
)

// loadInPieces reads a file into an empty keyspace.
func loadInPieces(t testing.TB, file []byte, o rdb.LoadOptions) (*db.Keyspace, rdb.Result) {
	t.Helper()
	ks, err := db.Open(db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ks.Close)
	if o.Now == 0 {
		o.Now = now
	}
	r, err := rdb.Load(bytes.NewReader(file), "file", ks, o)
	if err != nil {
		t.Fatal(err)
	}
	return ks, r
}

// encodings tells keys with their encodings, and what else a digest does not tell.
func encodings(ks *db.Keyspace) map[string]string {
	m := map[string]string{}
	tx := ks.NewTx()
	ks.Whole(now).Items(func(n int, it *db.Item) bool {
		ks.Lock(ks.AllShards())
		tx.Begin(n, now, ks.AllShards(), false)
		meta, _ := tx.Meta(it.Key)
		ks.Unlock(ks.AllShards())
		m[fmt.Sprintf("%d %q", n, it.Key)] = fmt.Sprintf("%s %d %d %s", meta.Encoding, meta.Len, it.Expire, tellStream(it))
		return true
	})
	return m
}

// tellStream tells what there is to a stream beside its entries.
func tellStream(it *db.Item) (text string) {
	if it.Type != db.TypeStream {
		return ""
	}
	s := stream.Of(it.Coll)
	text = fmt.Sprint(s.First(), s.LastID(), s.MaxDeleted(), s.Added(), s.RadixNodes())
	s.EachGroup(func(name string, g *stream.Group) bool {
		text += fmt.Sprint(name, g.Last, g.Read, g.Len())
		g.EachConsumer(func(c *stream.Consumer) bool {
			text += fmt.Sprint(c.Name, c.Seen, c.Active, c.Len())
			for h, p := c.HeldRange(stream.ID{}, stream.MaxID), 0; ; p++ {
				id, ok := h.Next()
				if !ok {
					break
				}
				e := g.Pending(id)
				text += fmt.Sprint(id, e.Time, e.Count)
			}
			return true
		})
		return true
	})
	return text
}

// checkStreams verifies all streams.
func checkStreams(t testing.TB, ks *db.Keyspace) {
	t.Helper()
	ks.Whole(now).Items(func(_ int, it *db.Item) bool {
		if it.Type == db.TypeStream {
			if err := stream.Of(it.Coll).Check(); err != nil {
				t.Errorf("stream %q: %v", it.Key, err)
			}
		}
		return true
	})
	if err := ks.Check(); err != nil {
		t.Error(err)
	}
}

// TestRoundTripInPieces saves random keyspaces and loads them, in pieces of all lengths and by
// several workers: all values, encodings, expiries, groups are as they were.
func TestRoundTripInPieces(t *testing.T) {
	for seed := range uint64(3) {
		w := newWorld(t, 100+seed, db.Options{})
		w.fill(0, 60)
		w.fill(3, 10)
		want := encodings(w.ks)
		for _, version := range []int{rdb.Version70, rdb.Version72, rdb.Version74} {
			o := options()
			o.Version, o.Compress, o.Functions = version, seed%2 == 0, [][]byte{[]byte("#!lua name=x\n")}
			file, _ := w.save(o)
			for i, piece := range []int{0, 64, 1000, 20000} {
				lo := rdb.LoadOptions{Threads: 1 + i}
				lo.SetPiece(piece)
				ks, r := loadInPieces(t, file.Bytes(), lo)
				if r.Loaded != 70 || r.Bytes != int64(file.Len()) || len(r.Functions) != 1 {
					t.Fatalf("result %+v of a file of %d bytes", r, file.Len())
				}
				if sum := digest.All(ks.Whole(now), now); sum.String() != w.digest() {
					t.Fatalf("seed %d, version %d, pieces of %d: the digest is another", seed, version, piece)
				}
				for k, got := range encodings(ks) {
					if got != want[k] && version > rdb.Version70 {
						t.Errorf("key %s is\n%s, was\n%s", k, got, want[k])
					}
				}
				checkStreams(t, ks)
			}
		}
	}
}

// TestDumpRoundTrip makes payloads of all keys and values of them.
func TestDumpRoundTrip(t *testing.T) {
	w := newWorld(t, 7, db.Options{})
	w.fill(0, 80)
	ks, _ := loadInPieces(t, mustSave(w), rdb.LoadOptions{})
	want := encodings(ks)
	other, err := db.Open(db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx := other.NewTx()
	w.ks.Whole(now).Items(func(_ int, it *db.Item) bool {
		payload := rdb.AppendDump(nil, it, rdb.DumpFormat{Now: now, Compress: true})
		v, err := rdb.ParseDump(payload, rdb.DumpOptions{Now: now, NewBig: other.NewBig})
		if err != nil {
			t.Fatalf("key %q: %v", it.Key, err)
		}
		other.Lock(other.AllShards())
		tx.Begin(0, now, other.AllShards(), true)
		err = v.Put(tx, it.Key, it.Expire)
		tx.End()
		other.Unlock(other.AllShards())
		if err != nil {
			t.Fatal(err)
		}
		return true
	})
	if sum := digest.All(other.Whole(now), now); sum.String() != w.digest() {
		t.Error("the digest is another")
	}
	for k, got := range encodings(other) {
		if got != want[k] {
			t.Errorf("key %s is\n%s, was\n%s", k, got, want[k])
		}
	}
}

func mustSave(w *world) []byte {
	o := options()
	o.Version = rdb.Version72
	file, _ := w.save(o)
	return file.Bytes()
}

// TestLoadReadsExactly lets something follow the RDB.
func TestLoadReadsExactly(t *testing.T) {
	w := newWorld(t, 3, db.Options{})
	w.fill(0, 50)
	file := append(mustSave(w), "*1\r\n$4\r\nPING\r\n"...)
	for name, open := range map[string]func(o *rdb.LoadOptions) io.Reader{
		"seeker": func(*rdb.LoadOptions) io.Reader { return bytes.NewReader(file) },
		"peeker": func(*rdb.LoadOptions) io.Reader { return bufio.NewReader(bytes.NewReader(file)) },
		"exact": func(o *rdb.LoadOptions) io.Reader {
			o.Exact = true
			return io.MultiReader(bytes.NewReader(file))
		},
	} {
		t.Run(name, func(t *testing.T) {
			ks, err := db.Open(db.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer ks.Close()
			o := rdb.LoadOptions{Now: now}
			r := open(&o)
			if _, err := rdb.Load(r, "file", ks, o); err != nil {
				t.Fatal(err)
			}
			rest, err := io.ReadAll(r)
			if err != nil || string(rest) != "*1\r\n$4\r\nPING\r\n" {
				t.Fatalf("rest %q, %v", rest, err)
			}
		})
	}
}
