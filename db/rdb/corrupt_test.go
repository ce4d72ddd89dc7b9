package rdb

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/digest"
	"heddle/db/stream"
)

// tryLoad loads bytes; whatever they are, it must come back with an error that says where, or
// with a keyspace that is sound.
func tryLoad(t testing.TB, file []byte, o LoadOptions) error {
	t.Helper()
	ks, err := db.Open(db.Options{Shards: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer ks.Close()
	return loadInto(t, ks, file, o)
}

// loadInto is tryLoad into a keyspace, which is empty afterwards.
func loadInto(t testing.TB, ks *db.Keyspace, file []byte, o LoadOptions) error {
	t.Helper()
	o.Now = sampleNow
	_, err := Load(bytes.NewReader(file), "f", ks, o)
	defer ks.Whole(sampleNow).Flush(-1, false)
	if err != nil {
		var e *Error
		if !errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(len(file)) || e.Msg == "" || e.File != "f" {
			t.Fatalf("error %v is no good one", err)
		}
		return err
	}
	sound(t, ks)
	return nil
}

// sound verifies what was loaded.
func sound(t testing.TB, ks *db.Keyspace) {
	t.Helper()
	if err := ks.Check(); err != nil {
		t.Fatal(err)
	}
	digest.All(ks.Whole(sampleNow), sampleNow)
	ks.Whole(sampleNow).Items(func(_ int, it *db.Item) bool {
		if it.Type == db.TypeStream {
			if err := stream.Of(it.Coll).Check(); err != nil {
				t.Fatalf("stream %q: %v", it.Key, err)
			}
		}
		return true
	})
}

// corpus returns small files: by hand, and of real servers if they are there.
func corpus(t testing.TB) [][]byte {
	files := [][]byte{}
	for _, s := range handMade {
		files = append(files, []byte(s))
	}
	found, _ := filepath.Glob(filepath.Join(sampleDir, "old", "*.rdb"))
	for _, f := range found {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	return files
}

// handMade are files with an entry of each kind.
var handMade = []string{
	// A string, a number, an expiry in seconds, one in ms, idle time, counter.
	"REDIS0009\xfe\x00\xfb\x06\x02\x00\x01a\x01b\x00\x01n\xc0\x07\xfd\x00\x00\x00\x7f\x00\x01s\x01v" +
		"\xfc\x00\x00\x00\x00\x00\x04\x00\x00\x00\x01m\x01v\xf8\x05\x00\x01i\x01v\xf9\x07\x00\x01f\x01v" + zeros,
	// Linked list, set, hash, sorted set of each kind.
	"REDIS0009\x01\x01l\x02\x01a\xc0\x05\x02\x01s\x02\x01a\xc0\x05\x04\x01h\x01\x01f\x01v" +
		"\x03\x01z\x04\x01a\x011\x01b\xfe\x01c\xff\x01d\x031.5\x05\x01y\x01\x01a\x00\x00\x00\x00\x00\x00\xf0\x3f" + zeros,
	// A compressed string.
	"REDIS0009\x00\x01c\xc3\x06\x18\x01aa\xe0\x0d\x00" + zeros,
	// Intset, ziplist of a list, zipmap.
	"REDIS0009\x0b\x01i\x0c\x02\x00\x00\x00\x02\x00\x00\x00\x01\x00\x02\x00" +
		"\x0a\x01l\x0f\x0f\x00\x00\x00\x0c\x00\x00\x00\x02\x00\x00\xf2\x02\xf3\xff" +
		"\x09\x01h\x07\x01\x01f\x01\x00v\xff" + zeros,
	// Listpacks of a hash and of a sorted set, a quicklist of a packed and of a plain node.
	"REDIS0010\x10\x01h\x0d\x0d\x00\x00\x00\x02\x00\x81f\x02\x81v\x02\xff" +
		"\x11\x01z\x0c\x0c\x00\x00\x00\x02\x00\x81m\x02\x07\x01\xff" +
		"\x12\x01q\x02\x02\x0a\x0a\x00\x00\x00\x01\x00\x81a\x02\xff\x01\x03big" + zeros,
	// Hashes with deadlines: as a table, as a listpack.
	"REDIS0012\x18\x01h\x00\x00\x00\x00\x00\x04\x00\x00\x02\x01\x01f\x01v\x00\x01g\x01w" +
		"\x19\x01k\x00\x00\x00\x00\x00\x04\x00\x00\x17\x17\x00\x00\x00\x03\x00\x81f\x02\x81v\x02\xf4\x00\x00\x00\x00\x00\x04\x00\x00\x09\xff" + zeros,
	// A stream with a group, a consumer and a pending entry.
	"REDIS0011\x15\x01s\x01\x10" + "\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x01" +
		"\x1d\x1d\x00\x00\x00\x0a\x00\x01\x01\x00\x01\x01\x01\x81k\x02\x00\x01\x02\x01\x00\x01\x00\x01\x81v\x02\x04\x01\xff" +
		"\x01\x05\x01\x05\x01\x00\x00\x01" + "\x01\x01g\x05\x01\x01" +
		"\x01\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x01\x01\x02\x03\x04\x05\x06\x00\x00\x01" +
		"\x01\x01c\x01\x02\x03\x04\x05\x06\x00\x00\x01\x02\x03\x04\x05\x06\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\x01" + zeros,
	// Facts, a library, data of a module, KeyDB's stamp and member deadline, a slot.
	"REDIS0011\xfa\x09redis-ver\x055.0.0\xf5\x03lib\xf7\x81\xb5\xeb\x2d\xff\xff\xdd\xb4\x01\x02\x02\x02\x05\x00\xf4\x01\x02\x03" +
		"\xfa\x0bmvcc-tstamp\x0212\x02\x01s\x01\x01m\xfa\x13keydb-subexpire-key\x01m\xfa\x14keydb-subexpire-when\x0d4102444800000" + zeros,
}

// zeros end a file without a checksum.
const zeros = "\xff\x00\x00\x00\x00\x00\x00\x00\x00"

// TestHandMade loads the files by hand, in pieces of all lengths.
func TestHandMade(t *testing.T) {
	for i, s := range handMade {
		for _, piece := range []int{64, 100, pieceSize} {
			if err := tryLoad(t, []byte(s), LoadOptions{piece: piece, Threads: 2}); err != nil {
				t.Errorf("file %d: %v", i, err)
			}
		}
	}
}

// TestLoadTruncated loads files that end anywhere.
func TestLoadTruncated(t *testing.T) {
	ks := openKeyspace(t)
	for i, file := range corpus(t) {
		for n := range len(file) {
			err := loadInto(t, ks, file[:n:n], LoadOptions{piece: 64 + n%100, Threads: 1})
			if err == nil || !errors.Is(err, io.ErrUnexpectedEOF) && i < len(handMade) {
				t.Fatalf("file %d of %d bytes: %v", i, n, err)
			}
		}
	}
}

// TestLoadFlipped loads files in which a byte is another. No checksum protects them.
func TestLoadFlipped(t *testing.T) {
	ks := openKeyspace(t)
	for i, file := range corpus(t) {
		for n := range file {
			if i >= len(handMade) && n%5 > 0 {
				continue
			}
			for _, c := range []byte{file[n] ^ 1, file[n] ^ 0x80, 0, 0xff, 0x81, 0xc3} {
				b := bytes.Clone(file)
				b[n] = c
				_ = loadInto(t, ks, b, LoadOptions{NoChecksum: true, Threads: 1, piece: 64 + n%200})
			}
		}
	}
}

// TestLoadErrors looks at what is said of what is wrong.
func TestLoadErrors(t *testing.T) {
	for _, c := range []struct {
		file, want string
		is         error
	}{
		{"", "expected the signature", io.ErrUnexpectedEOF},
		{"REDIX0009", "expected the signature REDIS, found", ErrSignature},
		{"REDIS0013\xff", "expected a version from 1 to 12", ErrVersion},
		{"REDIS00x1\xff", "expected a version from 1 to 12", ErrVersion},
		{"REDIS0009\xfe\x10" + zeros, "expected a database below 16, found 16", nil},
		{"REDIS0009\x00\x01a\x01b\xff12345678", "Wrong RDB checksum expected: (3837363534333231)", ErrChecksum},
		{"REDIS0009\x00\x01a\x01b\x00\x01a\x01c" + zeros, "RDB has duplicated key in DB 0", ErrDuplicate},
		{"REDIS0009\x00\x01a\x80\xff\xff\xff\xff" + zeros, "of 4294967295 bytes", io.ErrUnexpectedEOF},
		{"REDIS0009\x00\x01a\x81\xff\xff\xff\xff\xff\xff\xff\xff" + zeros, "of 18446744073709551615 bytes", io.ErrUnexpectedEOF},
		{"REDIS0009\x04\x01a\x81\x0f\xff\xff\xff\xff\xff\xff\xff\x01f\x01v", "found the end", io.ErrUnexpectedEOF},
		{"REDIS0009\x06\x01a\x01", "of module type", nil},
		{"REDIS0009\x1a\x01a\x01", "found type 26", nil},
		{"REDIS0010\xf6", "release candidates of Redis 7.0", nil},
		{"REDIS0009\xfd\x00\x00\x00\x7f\xfe\x00" + zeros, "expected a key behind its expiry", nil},
		{"REDIS0009\x02\x01a\x02\x01x\x01x" + zeros, `expected different members of a set, found "x" twice`, nil},
		{"REDIS0009\x0b\x01i\x0c\x02\x00\x00\x00\x02\x00\x00\x00\x02\x00\x01\x00" + zeros, "Intset integrity check failed: expected ascending order", nil},
		{"REDIS0010\x12\x01q\x01\x01\x00" + zeros, "found an empty one", nil},
		{"REDIS0009\x11\x01z\x11\x11\x00\x00\x00\x04\x00\x81m\x02\x07\x01\x81n\x02\x06\x01\xff" + zeros, "", nil},
	} {
		err := tryLoad(t, []byte(c.file), LoadOptions{})
		if c.want == "" && err != nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%q: %v; want %q", c.file, err, c.want)
		}
	}
}

// TestLoadFails lets the reader fail, and stops loading, within a long key and between keys:
// the error is the reader's, and whoever stopped it.
func TestLoadFails(t *testing.T) {
	broken := errors.New("input/output error")
	for name, file := range map[string][]byte{"large": largeCollection(typeSet, 20000), "many": smallKeys(20000)} {
		for _, at := range []int{0, 5, 1000, len(file) / 2, len(file) - 1} {
			ks := openKeyspace(t)
			r := io.MultiReader(bytes.NewReader(file[:at]), failing{broken})
			_, err := Load(r, "f", ks, LoadOptions{Now: sampleNow, Threads: 2, piece: 1000})
			if !errors.Is(err, broken) {
				t.Errorf("%s: a reader that fails at %d: %v", name, at, err)
			}
			calls := 0
			_, err = Load(bytes.NewReader(file), "f", ks, LoadOptions{
				Now: sampleNow, Threads: 2, piece: 1000, Replace: true,
				Stop: func() error {
					if calls++; calls > 20 {
						return broken
					}
					return nil
				},
			})
			if !errors.Is(err, broken) {
				t.Errorf("%s: stopped: %v", name, err)
			}
		}
	}
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
