package sets_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/db"
	"heddle/server/command/cmdtest"
)

// model is what the set commands mean, by key.
type model struct {
	t    *testing.T
	e    *cmdtest.Env
	rng  *rand.Rand
	sets map[string]map[string]bool
	span int // of members
}

func (m *model) key() string { return string("abcde"[m.rng.IntN(5)]) }

func (m *model) keys() (list []string) {
	for range 1 + m.rng.IntN(6) {
		list = append(list, m.key())
	}
	return list
}

func (m *model) member() string {
	n := strconv.Itoa(m.rng.IntN(m.span))
	if m.rng.IntN(3) == 0 {
		return "m" + n
	}
	return n
}

// list runs a command and returns the members it answers with, sorted.
func (m *model) list(line string) []string {
	m.t.Helper()
	raw := m.e.Do(line).Raw()
	parts := strings.Split(raw, "\r\n")
	n, err := strconv.Atoi(strings.TrimLeft(parts[0], "*~"))
	if err != nil {
		m.t.Fatalf("%.60s: %.100q", line, raw)
	}
	var out []string
	for i := 2; i < len(parts); i += 2 {
		out = append(out, parts[i])
	}
	if len(out) != n {
		m.t.Fatalf("%.60s: %d members, %d announced", line, len(out), n)
	}
	slices.Sort(out)
	return out
}

func (m *model) same(line string, want map[string]bool) {
	m.t.Helper()
	got := m.list(line)
	if !slices.Equal(got, sorted(want)) {
		m.t.Fatalf("%.60s: %d members, want %d", line, len(got), len(want))
	}
}

func sorted(s map[string]bool) []string {
	list := make([]string, 0, len(s))
	for k := range s {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func (m *model) set(key string) map[string]bool {
	if m.sets[key] == nil {
		m.sets[key] = map[string]bool{}
	}
	return m.sets[key]
}

func (m *model) add() {
	key, line, n := m.key(), "", 0
	for range 1 + m.rng.IntN(m.span/4) {
		x := m.member()
		line += " " + x
		if !m.set(key)[x] {
			n++
		}
		m.set(key)[x] = true
	}
	m.e.Do("sadd " + key + line).WantText(fmt.Sprintf("(integer) %d", n))
}

func (m *model) remove() {
	key, line, n := m.key(), "", 0
	for range 1 + m.rng.IntN(m.span/4) {
		x := m.member()
		line += " " + x
		if m.set(key)[x] {
			n++
		}
		delete(m.set(key), x)
	}
	m.e.Do("srem " + key + line).WantText(fmt.Sprintf("(integer) %d", n))
}

func (m *model) combine() {
	keys := m.keys()
	in := map[string]int{}
	for _, k := range keys {
		for x := range m.set(k) {
			in[x]++
		}
	}
	inter, union, diff := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for x, n := range in {
		union[x] = true
		if n == len(keys) {
			inter[x] = true
		}
	}
	for x := range m.set(keys[0]) {
		others := 0
		for _, k := range keys[1:] {
			if m.set(k)[x] {
				others++
			}
		}
		if others == 0 {
			diff[x] = true
		}
	}
	line := strings.Join(keys, " ")
	m.same("sinter "+line, inter)
	m.same("sunion "+line, union)
	m.same("sdiff "+line, diff)
	m.e.Do(fmt.Sprintf("sintercard %d %s", len(keys), line)).WantText(fmt.Sprintf("(integer) %d", len(inter)))
	limit := 1 + m.rng.IntN(m.span)
	m.e.Do(fmt.Sprintf("sintercard %d %s limit %d", len(keys), line, limit)).WantText(fmt.Sprintf("(integer) %d", min(limit, len(inter))))
	op := m.rng.IntN(3)
	result := []map[string]bool{inter, union, diff}[op]
	to := m.key()
	m.e.Do([]string{"sinterstore ", "sunionstore ", "sdiffstore "}[op] + to + " " + line).WantText(fmt.Sprintf("(integer) %d", len(result)))
	m.sets[to] = result
	m.same("smembers "+to, result)
}

func (m *model) move() {
	from, to, x := m.key(), m.key(), m.member()
	want := ":0\r\n"
	if m.set(from)[x] {
		want = ":1\r\n"
		delete(m.set(from), x)
		m.set(to)[x] = true
	}
	m.e.Do("smove " + from + " " + to + " " + x).Want(want)
}

func (m *model) draw() {
	key := m.key()
	s := m.set(key)
	count := m.rng.IntN(len(s)*5/4 + 1)
	got := m.list(fmt.Sprintf("srandmember %s %d", key, count))
	if len(got) != min(count, len(s)) || len(slices.Compact(slices.Clone(got))) != len(got) {
		m.t.Fatalf("%d different members of %d, want %d", len(slices.Compact(got)), len(s), count)
	}
	for _, x := range append(got, m.list(fmt.Sprintf("srandmember %s %d", key, -count))...) {
		if !s[x] {
			m.t.Fatalf("%q was drawn", x)
		}
	}
	if len(s) > 0 && m.rng.IntN(3) == 0 {
		for _, x := range m.list(fmt.Sprintf("spop %s %d", key, count)) {
			if !s[x] {
				m.t.Fatalf("%q was popped", x)
			}
			delete(s, x)
		}
		m.same("smembers "+key, s)
	}
}

// scan goes over a set while it changes.
func (m *model) scan() {
	key := m.key()
	s := m.set(key)
	stay, seen := map[string]bool{}, map[string]bool{}
	for x := range s {
		stay[x] = true
	}
	for cursor := "0"; ; {
		raw := m.e.Do(fmt.Sprintf("sscan %s %s count %d", key, cursor, 1+m.rng.IntN(40))).Raw()
		parts := strings.Split(raw, "\r\n")
		for i := 5; i < len(parts); i += 2 {
			if !s[parts[i]] {
				m.t.Fatalf("%q was scanned", parts[i])
			}
			seen[parts[i]] = true
		}
		if cursor = parts[2]; cursor == "0" {
			break
		}
		for range m.rng.IntN(8) {
			x := m.member()
			if m.rng.IntN(2) == 0 {
				m.e.Do("srem " + key + " " + x)
				delete(s, x)
				delete(stay, x)
			} else if m.e.Do("sadd " + key + " " + x); !s[x] {
				s[x] = true
			}
		}
	}
	for x := range stay {
		if !seen[x] {
			m.t.Fatalf("%q was not scanned", x)
		}
	}
}

func TestModel(t *testing.T) {
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := &model{
				t: t, e: cmdtest.New(t, families()...), rng: rand.New(rand.NewPCG(seed, 9)), sets: map[string]map[string]bool{},
				span: []int{10, 60, 300, 4000}[seed%4],
			}
			if seed%3 > 0 {
				m.e.Keyspace.ChangeSettings(func(s *db.Settings) {
					s.Limits.SetIntset, s.Limits.SetEntries = []int64{10, 5000}[seed%3-1], []int64{10, 5000}[seed%3-1]
				})
			}
			steps := []func(){m.add, m.add, m.add, m.remove, m.combine, m.move, m.draw, m.scan}
			for range 4000 / (m.span/20 + 10) {
				steps[m.rng.IntN(len(steps))]()
			}
			for key := range m.sets {
				m.same("smembers "+key, m.set(key))
			}
		})
	}
}
