package rdb_test

import (
	"fmt"
	"strconv"
	"testing"

	"heddle/db"
	"heddle/db/hash"
	"heddle/db/rdb"
	"heddle/db/set"
	"heddle/db/zset"
)

// TestLimitsAsRedis loads hashes, sorted sets and sets of integers under other limits than
// those that they were saved under: encodings are those that redis-server has then. (Lists
// and other sets have forms since 7.2 that the server at hand need not know.)
func TestLimitsAsRedis(t *testing.T) {
	w := newWorld(t, 11, db.Options{})
	keys := fillForms(w)
	o := options()
	file, _ := w.save(o)
	for _, c := range []struct {
		limits   db.Limits
		settings []string
	}{
		{},
		{settings: []string{"hash-max-listpack-entries", "10", "zset-max-listpack-entries", "10", "set-max-intset-entries", "10"}},
		{settings: []string{"hash-max-listpack-entries", "1000", "zset-max-listpack-entries", "1000", "set-max-intset-entries", "2000"}},
		{settings: []string{"hash-max-listpack-value", "8", "zset-max-listpack-value", "8"}},
	} {
		c.limits = db.DefaultLimits()
		for i := 0; i < len(c.settings); i += 2 {
			n, _ := strconv.ParseInt(c.settings[i+1], 10, 64)
			*limit(&c.limits, c.settings[i]) = n
		}
		fresh := startRedis(t, file.Bytes())
		for i := 0; i < len(c.settings); i += 2 {
			if got := fresh.ask("CONFIG", "SET", c.settings[i], c.settings[i+1]); got != "OK" {
				t.Fatal(got)
			}
		}
		if got := fresh.ask("DEBUG", "RELOAD"); got != "OK" {
			t.Fatal(got)
		}
		ks, _ := loadInPieces(t, file.Bytes(), rdb.LoadOptions{Limits: &c.limits})
		got := encodings(ks)
		for _, key := range keys {
			want := fresh.ask("OBJECT", "ENCODING", key)
			var enc string
			_, _ = fmt.Sscan(got[fmt.Sprintf("0 %q", key)], &enc)
			if _, line, ok := cutLine(want); !ok || line != enc {
				t.Errorf("%v: key %s is %s, want %s", c.settings, key, enc, want)
			}
		}
	}
}

// cutLine takes the length off a bulk reply.
func cutLine(s string) (size, text string, ok bool) {
	for i := range len(s) - 1 {
		if s[i] == '\r' && s[i+1] == '\n' {
			return s[:i], s[i+2:], true
		}
	}
	return "", s, false
}

// limit returns the limit that a directive sets.
func limit(l *db.Limits, name string) *int64 {
	return map[string]*int64{
		"hash-max-listpack-entries": &l.HashEntries, "hash-max-listpack-value": &l.HashValue,
		"zset-max-listpack-entries": &l.ZSetEntries, "zset-max-listpack-value": &l.ZSetValue,
		"set-max-intset-entries": &l.SetIntset,
	}[name]
}

// fillForms makes collections around the limits.
func fillForms(w *world) (keys []string) {
	for _, n := range []int{1, 9, 10, 11, 127, 128, 129, 400, 512, 513, 1500} {
		for _, size := range []int{4, 9, 64, 65} {
			name := func(i int) []byte { return fmt.Appendf(nil, "%0*d.", size-1, i) }
			if n > 600 && size > 9 {
				continue
			}
			w.edit(0, func(tx *db.Tx) {
				key := fmt.Sprintf("hash:%d:%d", n, size)
				keys = append(keys, key)
				h, err := hash.Write(tx, []byte(key))
				w.must(err)
				for i := range n {
					_, err := h.Set(name(i), []byte("v"))
					w.must(err)
				}
				key = fmt.Sprintf("zset:%d:%d", n, size)
				keys = append(keys, key)
				z, err := zset.Write(tx, []byte(key))
				w.must(err)
				for i := range n {
					z.Find(name(i))
					w.must(z.Put(float64(i)))
				}
			})
		}
		w.edit(0, func(tx *db.Tx) {
			key := fmt.Sprintf("set:%d", n)
			keys = append(keys, key)
			s, err := set.Write(tx, []byte(key))
			w.must(err)
			for i := range n {
				_, err := s.Add(strconv.AppendInt(nil, int64(i), 10))
				w.must(err)
			}
		})
	}
	return keys
}
