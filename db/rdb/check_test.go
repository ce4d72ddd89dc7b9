package rdb

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"heddle/db"
)

// checked returns the output and exit code of CheckMain.
func checked(file string) (string, int) {
	var b bytes.Buffer
	code := CheckMain([]string{file}, &b, db.Millis(time.Now().UnixMilli()))
	return b.String(), code
}

// oracle returns those of redis-check-rdb.
func oracle(t *testing.T, file string) (string, int) {
	t.Helper()
	program, err := exec.LookPath("redis-check-rdb")
	if err != nil {
		t.Skip("NOT TESTED: there is no redis-check-rdb")
	}
	cmd := exec.Command(program, file)
	out, _ := cmd.Output()
	return string(out), cmd.ProcessState.ExitCode()
}

// TestCheckAsRedis compares reports with those of redis-check-rdb, on good files and on files
// that end anywhere.
func TestCheckAsRedis(t *testing.T) {
	dir := samples(t, "")
	for _, name := range []string{"redis-7.0.15", "old/encodings", "old/hash-zipmap", "old/keydb-redis-save",
		"old/keydb-redis-module-save", "old/scriptbackup", "old/list-quicklist"} {
		file := filepath.Join(dir, name+".rdb")
		want, code := oracle(t, file)
		if got, gotCode := checked(file); got != want || code != gotCode {
			t.Errorf("%s: exit %d,\n%s\nwant %d,\n%s", name, gotCode, got, code, want)
		}
	}
	whole, err := os.ReadFile(filepath.Join(dir, "redis-7.0.15.rdb"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "short.rdb")
	same := 0
	sizes := []int{0, 5, 8, 9, 10, 12, 40, 180, 200, 300, 1000, 5000, 12345, 20000, 21000, 30000, 33333, 37728, 37729, 37736}
	for _, n := range sizes {
		if err := os.WriteFile(file, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		want, code := oracle(t, file)
		got, gotCode := checked(file)
		if code != gotCode || withoutOffsets(got) != withoutOffsets(want) {
			t.Errorf("%d bytes: exit %d,\n%s\nwant %d,\n%s", n, gotCode, got, code, want)
		}
		if got == want {
			same++
		}
	}
	t.Logf("of %d reports %d have the same offsets", len(sizes), same)
}

// withoutOffsets leaves out the offset of the error: redis-check-rdb tells how far it got,
// which in an entry of many parts depends on how it reads them.
func withoutOffsets(s string) string {
	head, tail, found := strings.Cut(s, "--- RDB ERROR DETECTED ---\n[offset ")
	if !found {
		return s
	}
	_, tail, _ = strings.Cut(tail, "]")
	return head + tail
}

// TestCheckBroken looks at reports of what is wrong otherwise.
func TestCheckBroken(t *testing.T) {
	for file, want := range map[string]string{
		"REDIS0099\xff":                       "Can't handle RDB format version 99",
		"REDIX0009\xff":                       "Wrong signature trying to load DB from file",
		"REDIS0010\xfe\x00\x1a\x01a\x01b\xff": "Invalid object type: 26",
		"REDIS0010\x00\x01a\x01b\xff12345678": "RDB CRC error",
		"REDIS0010\xf6":                       "Pre-release function format not supported.",
		"REDIS0010\x0d\x01a\x03xyz":           "Hash ziplist integrity check failed",
		"REDIS0010\x02\x01a\x00":              "expected a collection with elements, found none",
	} {
		var b bytes.Buffer
		err := Check(strings.NewReader(file), "f", &b, sampleNow)
		if err == nil || !strings.Contains(b.String(), want) || !strings.Contains(b.String(), "--- RDB ERROR DETECTED ---") {
			t.Errorf("%q: %v,\n%s\nwant %q", file, err, b.String(), want)
		}
	}
}
