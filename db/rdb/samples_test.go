package rdb

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/digest"
)

// sampleDir is where files of real servers lie beside the checkout, with what is in them.
const sampleDir = "../../../shared/reference/rdb"

// samples returns the path of a folder of samples; it skips the test, and says so, where
// they are not there.
func samples(t *testing.T, sub string) string {
	t.Helper()
	dir := filepath.Join(sampleDir, sub)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("NOT TESTED: no files of real servers in %s", dir)
	}
	return dir
}

// openKeyspace makes a keyspace for a test.
func openKeyspace(t testing.TB) *db.Keyspace {
	t.Helper()
	ks, err := db.Open(db.Options{Shards: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ks.Close)
	return ks
}

// sampleNow is when the samples are loaded.
const sampleNow = db.Millis(1_800_000_000_000)

// sampleKey is what the description of a sample says of a key.
type sampleKey struct {
	Digest   string `json:"digest"`
	Encoding string `json:"encoding"`
	Expire   any    `json:"pexpiretime"`
	Type     string `json:"type"`
}

// encodingNow is what a key of an encoding shows itself as after it was loaded here, where
// that is another.
func encodingNow(server string, k sampleKey, key string) string {
	switch {
	case key == "hash:3" && server == "keydb-6.3.4":
		return "listpackex" // a field has a deadline
	case k.Encoding == "ziplist":
		return "listpack"
	case key == "hll:sparse":
		return "embstr" // it was raw because it was edited
	case k.Type == "list" && k.Encoding == "quicklist" && key != "list:big":
		return "listpack"
	case k.Type == "set" && key == "set:3" || key == "set:100":
		return "listpack" // an older server has tables
	}
	return k.Encoding
}

// TestLoadSamples loads files that five servers wrote and compares keys, types, encodings,
// expiries and digests with their descriptions.
func TestLoadSamples(t *testing.T) {
	dir := samples(t, "")
	files, _ := filepath.Glob(filepath.Join(dir, "*.rdb"))
	if len(files) < 5 {
		t.Fatalf("there are only %d samples in %s", len(files), dir)
	}
	for _, file := range files {
		server := strings.TrimSuffix(filepath.Base(file), ".rdb")
		t.Run(server, func(t *testing.T) {
			for _, threads := range []int{1, 3} {
				loadSample(t, file, server, threads)
			}
		})
	}
}

func loadSample(t *testing.T, file, server string, threads int) {
	want := describe(t, strings.TrimSuffix(file, ".rdb")+".json")
	ks := openKeyspace(t)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var log []string
	r, err := Load(f, file, ks, LoadOptions{Now: sampleNow, Threads: threads, Log: func(s string) { log = append(log, s) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r.Version, r.Loaded, r.Expired, r.Empty, r.Skipped, len(r.Functions), strings.Join(log, "; "))
	sn := ks.Snapshot(nil)
	defer sn.Close()
	sn.Items(func(n int, it *db.Item) bool {
		k, ok := want[string(it.Key)]
		if !ok {
			t.Errorf("key %q is not in the description", it.Key)
			return true
		}
		tx := ks.NewTx()
		ks.Lock(ks.AllShards())
		tx.Begin(n, sampleNow, ks.AllShards(), false)
		m, _ := tx.Meta(it.Key)
		ks.Unlock(ks.AllShards())
		if it.Type.String() != k.Type || m.Encoding != encodingNow(server, k, string(it.Key)) {
			t.Errorf("key %q is a %v, %s; want %s, %s", it.Key, it.Type, m.Encoding, k.Type, encodingNow(server, k, string(it.Key)))
		}
		if at, ok := k.Expire.(float64); ok && db.Expiry(at) != it.Expire {
			t.Errorf("key %q expires at %d, want %v", it.Key, it.Expire, k.Expire)
		}
		if on, ok := k.Expire.(bool); ok && on != (it.Expire != db.NoExpiry) {
			t.Errorf("key %q expires at %d, want %v", it.Key, it.Expire, k.Expire)
		}
		return true
	})
	for key, k := range want {
		if k.Type != "unknown" && lookup(sn, key) == "" {
			t.Errorf("key %q was not loaded", key)
		}
	}
	compareDigests(t, sn, server, want)
	if err := ks.Check(); err != nil {
		t.Error(err)
	}
}

// lookup returns the digest of a key, "" if it is not there.
func lookup(sn *db.Snapshot, key string) (sum string) {
	sn.Items(func(_ int, it *db.Item) bool {
		if string(it.Key) == key {
			d := digest.Value(it, sampleNow)
			sum = d.String()
		}
		return sum == ""
	})
	return sum
}

// compareDigests compares digests of values. Since 7.2 scores are spelled in another way
// for a digest, and since 7.4 deadlines of fields are a part of it: then that of the same
// value in 7.0 counts.
func compareDigests(t *testing.T, sn *db.Snapshot, server string, keys map[string]sampleKey) {
	old := describe(t, filepath.Join(sampleDir, "redis-7.0.15.json"))
	for key, k := range keys {
		want := k.Digest
		if k.Type == "zset" || k.Type == "hash" && server == "redis-7.4.1" {
			want = old[key].Digest
		}
		if got := lookup(sn, key); got != want && k.Type != "unknown" {
			t.Errorf("digest of %q (%s, %s) is %s, want %s", key, k.Type, k.Encoding, got, want)
		}
	}
}

// describe reads the description of a sample.
func describe(t *testing.T, file string) map[string]sampleKey {
	t.Helper()
	var d struct {
		Keys map[string]sampleKey `json:"keys"`
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d.Keys
}
