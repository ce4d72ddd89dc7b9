package crash

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// lastIncrement returns the AOF file that was written last, which holds something.
func lastIncrement(dir string) (name string, content []byte) {
	list, _ := filepath.Glob(filepath.Join(dir, "appendonlydir", "*.incr.aof"))
	slices.SortFunc(list, func(a, b string) int { return number(a) - number(b) })
	if len(list) == 0 {
		return "", nil
	}
	name = list[len(list)-1]
	content, _ = os.ReadFile(name)
	return name, content
}

// number is the sequence number in the name of an AOF file.
func number(name string) int {
	parts := strings.Split(filepath.Base(name), ".")
	n, _ := strconv.Atoi(parts[len(parts)-3])
	return n
}

// TestFindsDamage holds that this test finds what it looks for: that the end of what was
// acknowledged is missing, that a part of a transaction is, and that a value is another.
func TestFindsDamage(t *testing.T) {
	args := []string{"--appendonly", "yes", "--appendfsync", "always"} // and nothing is rewritten
	f := func(name, finding string, damage func(b []byte) []byte) {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, args...)
			done := false
			r.damage = func(dir string) {
				file, b := lastIncrement(dir)
				if after := damage(bytes.Clone(b)); after != nil {
					done = os.WriteFile(file, after, 0o644) == nil
				}
			}
			faults := r.cycle(func(until time.Time) []cut {
				time.Sleep(500 * time.Millisecond)
				return nil
			})
			if !done {
				t.Fatal("there was nothing to damage")
			}
			if text := strings.Join(faults, "\n"); !strings.Contains(text, finding) {
				t.Errorf("the damage was not found; found was: %.2000q", faults)
			}
		})
	}
	f("the end is missing", "not the state behind one of units", func(b []byte) []byte {
		return b[:len(b)*9/10]
	})
	f("a transaction is torn", "a transaction is torn", func(b []byte) []byte {
		at := bytes.LastIndex(b, []byte("*3\r\n$6\r\nDECRBY\r\n"))
		if at < 0 {
			return nil
		}
		end := at + 4 + bytes.Index(b[at+4:], []byte("*")) // amounts and names hold no star
		return slices.Delete(b, at, end)
	})
	f("a token is doubled", "lists and", func(b []byte) []byte {
		at := bytes.Index(b, []byte("*3\r\n$5\r\nRPUSH\r\n$9\r\ntokens:l0\r\n"))
		if at < 0 {
			return nil
		}
		end := at + 4 + bytes.Index(b[at+4:], []byte("*"))
		return slices.Insert(b, end, bytes.Clone(b[at:end])...)
	})
	f("a value is another", "not the state behind one of units", func(b []byte) []byte {
		found := false
		for i := range *clients { // the last that each client did to its numbers may be gone
			key := []byte("c" + strconv.Itoa(i) + ":n1\r\n$")
			if at := bytes.LastIndex(b, key); at >= 0 {
				line := b[at+len(key):]
				digit := bytes.IndexByte(line, '\n') + 1
				if line[digit] == '-' {
					digit++
				}
				line[digit] = '1' + (line[digit]-'0')%9
				found = true
			}
		}
		if !found {
			return nil
		}
		return b
	})
}
