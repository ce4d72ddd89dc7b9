package rdb_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/hash"
	"heddle/db/rdb"
	"heddle/db/set"
	"heddle/db/zset"
)

// load makes a new world of a file.
func load(t *testing.T, file []byte, at db.Millis) (*world, rdb.Result) {
	t.Helper()
	w := newWorld(t, 1, db.Options{})
	res, err := rdb.Load(bytes.NewReader(file), "file", w.ks, rdb.LoadOptions{Now: at})
	w.must(err)
	return w, res
}

// encodings tells what OBJECT ENCODING says of all keys, and when they expire.
func (w *world) encodings() map[string]string {
	all := map[string]string{}
	for n := range w.ks.Databases() {
		var keys [][]byte
		sn := w.ks.Snapshot(nil)
		sn.Each(n, func(it *db.Item) bool {
			keys = append(keys, bytes.Clone(it.Key))
			return true
		})
		sn.Close()
		w.edit(n, func(tx *db.Tx) {
			for _, k := range keys {
				m, _ := tx.Meta(k)
				all[string(k)] = fmt.Sprint(m.Encoding, m.Len, m.Expire)
			}
		})
	}
	return all
}

// TestRoundTrip loads what was saved, in all versions.
func TestRoundTrip(t *testing.T) {
	w := newWorld(t, 9, db.Options{})
	w.fill(0, 200)
	w.fill(7, 30)
	for _, version := range []int{0, 10, 11, 12} {
		o := options()
		o.Version, o.Compress = version, version != 11
		o.Functions = [][]byte{[]byte("#!lua name=x"), []byte(strings.Repeat("long ", 100))}
		m, st := w.save(o)
		if want := max(version, 10); st.Version != want && version != 0 || version == 0 && st.Version != 11 {
			t.Fatal(st.Version, version)
		}
		got, res := load(t, m.Bytes(), now)
		if got.digest() != w.digest() || len(res.Functions) != 2 || res.Loaded != 230 {
			t.Fatalf("version %d: %s became %s, %d keys, %d functions", version, w.digest(), got.digest(), res.Loaded, len(res.Functions))
		}
		want := w.encodings()
		for k, e := range got.encodings() {
			if e != want[k] && !strings.Contains(want[k]+e, "list") && (version > 10 || !strings.HasPrefix(want[k], "listpack")) {
				t.Errorf("version %d: %s was %s, is %s", version, k, want[k], e)
			}
		}
	}
}

// TestRoundTripUneven carries large collections of which some elements are long, in pieces of
// several lengths: what is read ahead must not be what comes next.
func TestRoundTripUneven(t *testing.T) {
	w := newWorld(t, 3, db.Options{})
	w.edit(0, func(tx *db.Tx) {
		s, err := set.Write(tx, []byte("set"))
		w.must(err)
		h, err := hash.Write(tx, []byte("hash"))
		w.must(err)
		z, err := zset.Write(tx, []byte("zset"))
		w.must(err)
		for i := range 5000 {
			m := fmt.Appendf(nil, "%d:", i)
			switch {
			case i%37 == 0:
				m = append(m, w.text(9000)...)
			case i%2 == 0:
				m = append(m, w.text(70)...)
			}
			_, err := s.Add(m)
			w.must(err)
			_, err = h.Set(m, w.text(100))
			w.must(err)
			z.Find(m)
			w.must(z.Put(float64(w.rng.IntN(100))))
		}
		for _, k := range []string{"set", "hash", "zset"} {
			tx.Touched([]byte(k), db.ClassGeneric, "made")
		}
	})
	file, _ := w.save(options())
	for _, piece := range []int{64, 777, 5000, 1 << 20} {
		got := newWorld(t, 1, db.Options{})
		o := rdb.LoadOptions{Now: now}
		o.SetPiece(piece)
		_, err := rdb.Load(bytes.NewReader(file.Bytes()), "file", got.ks, o)
		got.must(err)
		if got.digest() != w.digest() {
			t.Errorf("in pieces of %d %s became %s", piece, w.digest(), got.digest())
		}
	}
}

// timed makes collections whose members have deadlines, some of them passed by now.
func (w *world) timed(tx *db.Tx) {
	for _, n := range []int{3, 900} {
		h, err := hash.Write(tx, fmt.Appendf(nil, "hash:%d", n))
		w.must(err)
		s, err := set.Write(tx, fmt.Appendf(nil, "set:%d", n))
		w.must(err)
		z, err := zset.Write(tx, fmt.Appendf(nil, "zset:%d", n))
		w.must(err)
		for i := range n {
			m := fmt.Appendf(nil, "m%d", i)
			_, err := h.Set(m, w.text(40))
			w.must(err)
			_, err = s.Add(m)
			w.must(err)
			z.Find(m)
			w.must(z.Put(float64(i)))
		}
		for i := range n {
			m, at := fmt.Appendf(nil, "m%d", i), later+db.Millis(n-i)
			if i%3 == 0 {
				w.must(h.SetDeadline(m, at))
				w.must(s.SetDeadline(m, at))
				z.Find(m)
				w.must(z.SetDeadline(m, at))
			}
		}
		for _, k := range []string{"hash", "set", "zset"} {
			tx.Touched(fmt.Appendf(nil, "%s:%d", k, n), db.ClassGeneric, "made")
		}
	}
}

// deadlines counts members with deadlines, and adds them up.
func (w *world) deadlines() (n, sum db.Millis) {
	sn := w.ks.Snapshot(nil)
	defer sn.Close()
	see := func(at db.Millis, found bool) {
		if found {
			n, sum = n+1, sum+at
		}
	}
	sn.Each(0, func(it *db.Item) bool {
		for i := range 900 {
			m := fmt.Appendf(nil, "m%d", i)
			switch it.Type {
			case db.TypeHash:
				h := hash.Of(it.Coll, now)
				see(h.Deadline(m))
			case db.TypeSet:
				s := set.Of(it.Coll, now)
				see(s.Deadline(m))
			case db.TypeZSet:
				z := zset.Of(&it.Coll, now)
				see(z.Deadline(m))
			}
		}
		return true
	})
	return n, sum
}

// TestMemberDeadlines saves deadlines of members in all versions, and has Redis load those
// that it knows.
func TestMemberDeadlines(t *testing.T) {
	w := newWorld(t, 3, db.Options{})
	w.edit(0, w.timed)
	n, sum := w.deadlines()
	if n != 903 {
		t.Fatal(n)
	}
	for _, version := range []int{0, 10, 11, 12} {
		o := options()
		o.Version = version
		m, st := w.save(o)
		if version == 0 && st.Version != 12 {
			t.Fatal(st.Version)
		}
		got, _ := load(t, m.Bytes(), now)
		if n2, sum2 := got.deadlines(); n2 != n || sum2 != sum || got.digest() != w.digest() {
			t.Fatalf("version %d: %d deadlines, want %d", version, n2, n)
		}
		if version == 10 {
			if s := startRedis(t, m.Bytes()); s.ask("DEBUG", "DIGEST") != w.digest() {
				t.Fatal("Redis has other values")
			}
		}
		w.dumps(got, version)
	}
}

// dumps compares payloads of all keys before and after they were loaded from a payload.
func (w *world) dumps(like *world, version int) {
	w.t.Helper()
	sn := like.ks.Snapshot(nil)
	defer sn.Close()
	to := newWorld(w.t, 1, db.Options{})
	sn.Each(0, func(it *db.Item) bool {
		payload := rdb.AppendDump(nil, it, rdb.DumpFormat{Version: version, Compress: true, Now: now})
		v, err := rdb.ParseDump(payload, rdb.DumpOptions{Now: now})
		w.must(err)
		to.edit(0, func(tx *db.Tx) {
			w.must(v.Put(tx, it.Key, it.Expire))
			tx.Touched(it.Key, db.ClassGeneric, "restore")
		})
		return true
	})
	n, sum := like.deadlines()
	if n2, sum2 := to.deadlines(); n2 != n || sum2 != sum || to.digest() != like.digest() {
		w.t.Fatalf("version %d: other values, or %d deadlines of %d, by DUMP", version, n2, n)
	}
}

// TestDumpForRedis restores payloads in redis-server.
func TestDumpForRedis(t *testing.T) {
	w := newWorld(t, 12, db.Options{})
	w.fill(0, 60)
	w.edit(0, w.timed)
	empty := newWorld(t, 0, db.Options{})
	m, _ := empty.save(options())
	s := startRedis(t, m.Bytes())
	sn := w.ks.Snapshot(nil)
	defer sn.Close()
	sn.Each(0, func(it *db.Item) bool {
		payload := rdb.AppendDump(nil, it, rdb.DumpFormat{Version: 10, Compress: w.rng.IntN(2) == 0, Now: now})
		ttl := fmt.Sprint(max(it.Expire, 0))
		if got := s.ask("RESTORE", string(it.Key), ttl, string(payload), "ABSTTL"); got != "OK" {
			t.Errorf("%s: %s", it.Key, got)
		}
		return true
	})
	if got := s.ask("DEBUG", "DIGEST"); got != w.digest() {
		t.Fatalf("digest %s, in Redis %s", w.digest(), got)
	}
}

// TestSamplesAgain writes what servers wrote.
func TestSamplesAgain(t *testing.T) {
	for _, name := range []string{"redis-7.2.6", "redis-7.4.1", "keydb-6.3.4"} {
		file, err := os.ReadFile("../../../shared/reference/rdb/" + name + ".rdb")
		if err != nil {
			t.Skip("SKIPPED, NOTHING WAS COMPARED: the samples are not here")
		}
		w, _ := load(t, file, now)
		m, _ := w.save(rdb.SaveOptions{Compress: true, Checksum: true})
		again, _ := load(t, m.Bytes(), now)
		if again.digest() != w.digest() {
			t.Errorf("%s: another digest", name)
		}
	}
}
