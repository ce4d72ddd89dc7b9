package aof

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// garbage is what redis-check-aof shows of memory that it did not read.
var garbage = regexp.MustCompile(`(Expected \\r\\n, got: )[0-9a-f]{4}`)

// stamps are in front of what redis-check-aof says about manifests.
var stamps = regexp.MustCompile(`(?m)^\d+:C \d+ \w+ \d+ [\d:.]+ # |^\n`)

func normal(b []byte) string {
	text := garbage.ReplaceAllString(stamps.ReplaceAllString(string(b), ""), "${1}")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }), "\n")
}

// both runs the check and redis-check-aof on copies of the same files, and compares what they say and leave.
func both(t *testing.T, oracle string, files map[string]string, stdin string, args ...string) {
	t.Helper()
	var out [2]string
	var status [2]int
	var left [2]map[string]string
	for i := range 2 {
		dir := t.TempDir()
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if i == 0 {
			cmd := exec.Command(oracle, args...)
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
			b, err := cmd.Output()
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				status[0] = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			out[0] = normal(b)
		} else {
			t.Chdir(dir)
			var b bytes.Buffer
			status[1] = CheckMain(args, strings.NewReader(stdin), &b, CheckOptions{Program: oracle, RDB: noRDB})
			out[1] = normal(b.Bytes())
		}
		left[i] = map[string]string{}
		for name := range files {
			b, _ := os.ReadFile(filepath.Join(dir, name))
			left[i][name] = string(b)
		}
	}
	if out[0] != out[1] || status[0] != status[1] {
		t.Errorf("%q of %q:\nredis-check-aof (%d):\n%s\nhere (%d):\n%s", args, files, status[0], out[0], status[1], out[1])
	}
	for name := range files {
		if left[0][name] != left[1][name] {
			t.Errorf("%q: %s is %q after redis-check-aof, %q here", args, name, left[0][name], left[1][name])
		}
	}
}

func noRDB(r io.Reader, name string, report io.Writer) error { return errors.New("no RDB here") }

func oracleCheck(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("redis-check-aof")
	if err != nil {
		t.Skip("there is no redis-check-aof")
	}
	return path
}

// TestCheckAsRedis compares the check with redis-check-aof: files that are whole, and with bytes changed, taken out
// and cut off.
func TestCheckAsRedis(t *testing.T) {
	oracle := oracleCheck(t)
	set, multi, end := string(resp("SET", "foo", "hello")), string(resp("multi")), string(resp("EXEC"))
	good := []string{"", set, set + set, multi + set + end, set + multi + set + set + end + set, "#TS:100\r\n" + set + "#TS:200\r\n" + set,
		"#x\r\n" + set, set + multi + set, set + end, multi + multi + end, set + "*0\r\n", set + "*-1\r\n", set + "*1\r\n$-5\r\n",
		set + "*3\r\n$3\r\nset\r\n$99999999999\r\nabc", set + "!!!"}
	for _, g := range good {
		both(t, oracle, map[string]string{"a.aof": g}, "", "a.aof")
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		g := []byte(good[1+r.IntN(len(good)-2)])
		switch at := r.IntN(len(g)); r.IntN(3) {
		case 0:
			g[at] = "*$#\r\n01x\x00"[r.IntN(9)]
		case 1:
			g = append(g[:at:at], g[at+1:]...)
		case 2:
			g = g[:at]
		}
		if bytes.Contains(g, []byte{0}) || bytes.HasPrefix(g, []byte("file")) {
			continue
		}
		args := [][]string{{"a.aof"}, {"--fix", "a.aof"}}[r.IntN(2)]
		both(t, oracle, map[string]string{"a.aof": string(g)}, []string{"y\n", "n\n", ""}[r.IntN(3)], args...)
	}
	for _, args := range [][]string{{}, {"--fix"}, {"--fix", "x", "y"}, {"none"}, {"--truncate-to-timestamp", "x", "y"}, {"."}} {
		both(t, oracle, nil, "", args...)
	}
	stamped := "#TS:100\r\n" + set + "#TS:200\r\n" + set + "#TS:300\r\n"
	for _, at := range []int{50, 100, 150, 299, 300, 400} {
		both(t, oracle, map[string]string{"a.aof": stamped}, "", "--truncate-to-timestamp", fmt.Sprint(at), "a.aof")
	}
}

func TestCheckManifestAsRedis(t *testing.T) {
	oracle := oracleCheck(t)
	set := string(resp("SET", "foo", "hello"))
	cut, stamped := set[:len(set)-3], "#TS:100\r\n"+set+"#TS:200\r\n"+set
	three := "file b seq 1 type b\nfile i1 seq 1 type i\nfile i2 seq 2 type i\n"
	for i, m := range []string{three, "file b seq 1 type b\n", "file i1 seq 1 type i\nfile i2 seq 2 type i\n", "file x seq 1 type h\n",
		three + "file i2 seq 2 type i\n", three + "file x seq 3 type i\n", "file x seq 1 type b\n", "file b seq 1 type b", "file b\n", "# c\n" + three} {
		for j, files := range []map[string]string{{"b": set, "i1": set, "i2": set}, {"b": "", "i1": "", "i2": cut}, {"b": set, "i1": cut, "i2": set},
			{"b": cut, "i1": set, "i2": set}, {"b": stamped, "i1": set, "i2": stamped}, {"b": set, "i1": set, "i2": stamped}} {
			files["m"] = m
			for k, args := range [][]string{{"m"}, {"--fix", "m"}, {"--truncate-to-timestamp", "150", "m"}} {
				if i > 0 && (i+j+k)%5 > 0 {
					continue // all of the first manifest, some of the others
				}
				both(t, oracle, files, "y\n", args...)
			}
		}
	}
}
