package rdb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/digest"
)

// TestLoadOld loads files of old servers. What is expected is what redis-server 7.0 says of
// them: DEBUG DIGEST, OBJECT ENCODING.
func TestLoadOld(t *testing.T) {
	dir := samples(t, "old")
	for _, c := range []struct {
		file, digest string
		encodings    string // of keys
		empty        int64
		err          string
	}{
		{file: "corrupt_empty_keys", digest: strings.Repeat("0", 40), empty: 9},
		{file: "corrupt_ziplist", err: "Hash ziplist integrity check failed"},
		{
			file: "encodings", digest: "b7324c5e2d3a7618126155c2bf9e40c794649565",
			encodings: "compressible raw hash listpack hash_zipped listpack list listpack list_zipped listpack number int set listpack " +
				"set_zipped_1 intset set_zipped_2 intset set_zipped_3 intset string embstr zset listpack zset_zipped listpack",
		},
		{file: "hash-ziplist", digest: "3ca39ed0cb3b979b5b125ae0d1e54f2c40b7c5e6", encodings: "hash listpack"},
		{file: "hash-zipmap", digest: "3ca39ed0cb3b979b5b125ae0d1e54f2c40b7c5e6", encodings: "hash listpack"},
		{file: "keydb-redis-module-save", err: `module type "test___dt"`},
		{
			file: "keydb-redis-save", digest: "0cff3e9c86eb26ef3b5c0e6bac8315829ad6adf4",
			encodings: "hash listpack int int list listpack set listpack string embstr zset listpack",
		},
		{file: "list-quicklist", digest: "3d77c75a5b6cc5319b4ecf6e95101ed07ddd139e", encodings: "list listpack x int"},
		{file: "scriptbackup", digest: strings.Repeat("0", 40)},
		{file: "zset-ziplist", digest: "fa1ca919dcef4dea3e3e609298a9e329d3bb7c61", encodings: "zset listpack"},
	} {
		t.Run(c.file, func(t *testing.T) {
			ks := openKeyspace(t)
			f, err := os.Open(filepath.Join(dir, c.file+".rdb"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			r, err := Load(f, c.file, ks, LoadOptions{Now: sampleNow})
			if c.err != "" {
				var e *Error
				if !errors.As(err, &e) || !strings.Contains(err.Error(), c.err) || e.Offset <= 0 {
					t.Fatalf("loaded %d keys, error %v; want one of %q", r.Loaded, err, c.err)
				}
				t.Log(err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if sum := digest.All(ks.Whole(sampleNow), sampleNow); sum.String() != c.digest || r.Empty != c.empty {
				t.Errorf("digest %v, %d empty keys; want %s, %d", sum.String(), r.Empty, c.digest, c.empty)
			}
			checkEncodings(t, ks, c.encodings)
		})
	}
}

// checkEncodings compares encodings of keys of database 0, and verifies the keyspace.
func checkEncodings(t *testing.T, ks *db.Keyspace, want string) {
	t.Helper()
	words := strings.Fields(want)
	tx := ks.NewTx()
	for i := 0; i < len(words); i += 2 {
		ks.Lock(ks.AllShards())
		tx.Begin(0, sampleNow, ks.AllShards(), false)
		m, _ := tx.Meta([]byte(words[i]))
		ks.Unlock(ks.AllShards())
		if m.Encoding != words[i+1] {
			t.Errorf("key %s has encoding %q, want %q", words[i], m.Encoding, words[i+1])
		}
	}
	if err := ks.Check(); err != nil {
		t.Error(err)
	}
}
