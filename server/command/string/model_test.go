package str_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"heddle/server/command/cmdtest"

	"pgregory.net/rapid"
)

// model is what the string commands mean: a map, and the plainest code.
type model map[string]string

func bulkReply(s string, found bool) string {
	if !found {
		return "$-1\r\n"
	}
	return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s)
}

func intReply(n int) string { return ":" + strconv.Itoa(n) + "\r\n" }

func (m model) getrange(key string, start, end int) string {
	s, out := m[key], ""
	at := func(i int) int {
		if i < 0 {
			i += len(s)
		}
		return max(i, 0)
	}
	if start < 0 && end < 0 && start > end {
		return ""
	}
	for i := at(start); i <= at(end) && i < len(s); i++ {
		out += s[i : i+1]
	}
	return out
}

func (m model) setrange(key string, at int, val string) {
	b := []byte(m[key])
	for len(b) < at+len(val) {
		b = append(b, 0)
	}
	copy(b[at:], val)
	m[key] = string(b)
}

func (m model) incrBy(key string, n int64) string {
	old, err := int64(0), error(nil)
	if s, found := m[key]; found {
		old, err = strconv.ParseInt(s, 10, 64)
		if err != nil || strconv.FormatInt(old, 10) != s {
			return "-ERR value is not an integer or out of range\r\n"
		}
	}
	sum := old + n
	if n > 0 && sum < old || n < 0 && sum > old {
		return "-ERR increment or decrement would overflow\r\n"
	}
	m[key] = strconv.FormatInt(sum, 10)
	return ":" + m[key] + "\r\n"
}

// step draws a command, does it on the model and returns it with its reply.
func (m model) step(t *rapid.T) (argv []string, reply string) {
	key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
	other := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "other")
	val := values.Draw(t, "value")
	old, found := m[key]
	switch name := rapid.SampledFrom([]string{"set", "get", "getdel", "getset", "setnx", "msetnx", "append", "strlen",
		"getrange", "setrange", "incrby", "mget"}).Draw(t, "command"); name {
	case "set":
		m[key] = val
		return []string{name, key, val}, "+OK\r\n"
	case "get":
		return []string{name, key}, bulkReply(old, found)
	case "getdel":
		delete(m, key)
		return []string{name, key}, bulkReply(old, found)
	case "getset":
		m[key] = val
		return []string{name, key, val}, bulkReply(old, found)
	case "setnx":
		if !found {
			m[key] = val
		}
		return []string{name, key, val}, intReply(oneUnless(found))
	case "msetnx":
		_, second := m[other]
		if !found && !second {
			m[key], m[other] = val, "second"
			if key == other {
				m[key] = "second"
			}
		}
		return []string{name, key, val, other, "second"}, intReply(oneUnless(found || second))
	case "append":
		m[key] += val
		return []string{name, key, val}, intReply(len(m[key]))
	case "strlen":
		return []string{name, key}, intReply(len(old))
	case "getrange":
		start, end := rapid.IntRange(-200, 200).Draw(t, "start"), rapid.IntRange(-20000, 20000).Draw(t, "end")
		return []string{name, key, strconv.Itoa(start), strconv.Itoa(end)}, bulkReply(m.getrange(key, start, end), true)
	case "setrange":
		at := rapid.IntRange(0, 20000).Draw(t, "at")
		if val != "" {
			m.setrange(key, at, val)
		}
		return []string{name, key, strconv.Itoa(at), val}, intReply(len(m[key]))
	case "incrby":
		n := rapid.Int64().Draw(t, "n")
		return []string{name, key, strconv.FormatInt(n, 10)}, m.incrBy(key, n)
	}
	first, ok := m["a"]
	return []string{"mget", "a", key}, "*2\r\n" + bulkReply(first, ok) + bulkReply(old, found)
}

func oneUnless(found bool) int {
	if found {
		return 0
	}
	return 1
}

// values are numbers, short strings, and such about as long as what is stored
// in memory of its own.
var values = rapid.Custom(func(t *rapid.T) string {
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return strconv.FormatInt(rapid.Int64().Draw(t, "number"), 10)
	case 1:
		return strings.Repeat(rapid.StringN(1, 1, 1).Draw(t, "letter"), rapid.IntRange(16380, 16390).Draw(t, "length"))
	}
	return rapid.StringN(0, 60, 60).Draw(t, "text")
})

func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := cmdtest.New(t, families()...)
		m := model{}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			argv, want := m.step(rt)
			if got := e.Argv(argv...).Raw(); got != want {
				rt.Fatalf("%.60q: got %.80q, want %.80q", argv, got, want)
			}
		}
		for key, want := range m {
			if got := e.Argv("get", key).Raw(); got != bulkReply(want, true) {
				rt.Fatalf("%s: got %.80q, want %.80q", key, got, want)
			}
		}
	})
}
