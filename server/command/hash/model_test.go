package hashes_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/db"
	"heddle/server/command/cmdtest"
)

// model is a hash as simple as it can be. Its methods give the replies of commands
// as cmdtest shows them.
type model struct {
	m   map[string]modelField
	now db.Millis
}

type modelField struct {
	value string
	at    db.Millis // 0: none
}

// TestFieldDeadlinesModel compares commands about fields that expire, which no
// server here could answer instead, and those that meet such fields, with a model.
// Limits are small, so that all forms of a hash are met.
func TestFieldDeadlinesModel(t *testing.T) {
	for seed := range uint64(24) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 5))
			e := env(t)
			s := e.Keyspace.Settings()
			s.Limits.HashEntries = []int64{0, 4, 512}[seed%3]
			e.Keyspace.SetSettings(s)
			m := &model{map[string]modelField{}, e.Now()}
			for range 600 {
				if r.IntN(4) == 0 {
					d := db.Millis(r.IntN(1500))
					e.Advance(d)
					m.now += d
				}
				m.purge()
				cmd, want := m.step(r)
				if got := e.Do(cmd).Text(); got != want {
					t.Fatalf("%s\ngot\n%s\nwant\n%s", cmd, got, want)
				}
				if r.IntN(10) == 0 {
					m.compare(t, e)
				}
			}
		})
	}
}

func (m *model) purge() {
	maps.DeleteFunc(m.m, func(_ string, f modelField) bool { return f.at != 0 && f.at <= m.now })
}

// compare asks for the whole hash in every way.
func (m *model) compare(t *testing.T, e *cmdtest.Env) {
	t.Helper()
	names := slices.Sorted(maps.Keys(m.m))
	ask := func(cmd string) []string {
		var got []string
		for _, line := range strings.Split(e.Do(cmd).Text(), "\n") {
			if _, text, ok := strings.Cut(line, ") "); ok {
				text, err := strconv.Unquote(strings.TrimSpace(text))
				if err != nil {
					continue // of HSCAN: the cursor's line, with the first field
				}
				got = append(got, text)
			}
		}
		return got
	}
	fields := ask("hkeys h")
	slices.Sort(fields)
	if !slices.Equal(fields, names) {
		t.Fatalf("HKEYS %q, want %q", fields, names)
	}
	all := ask("hgetall h")
	for i := 0; i < len(all); i += 2 {
		if m.m[all[i]].value != all[i+1] {
			t.Fatalf("HGETALL says %q is %q, want %q", all[i], all[i+1], m.m[all[i]].value)
		}
	}
	if len(all) != 2*len(names) {
		t.Fatalf("HGETALL %q, want %q", all, names)
	}
	e.Do("hlen h").WantText(integer(len(names)))
	e.Do("hrandfield h " + strconv.Itoa(len(names)+5)).WantText(e.Do("hkeys h").Text())
}

func integer(n int) string { return fmt.Sprintf("(integer) %d", n) }

func text(s string, found bool) string {
	if !found {
		return "(nil)"
	}
	return strconv.Quote(s)
}

// array shows elements as a numbered list.
func array(list []string) string {
	for i := range list {
		list[i] = fmt.Sprintf("%d) %s", i+1, list[i])
	}
	return strings.Join(list, "\n")
}

// step makes a command and says what it answers.
func (m *model) step(r *rand.Rand) (cmd, want string) {
	names := make([]string, 1+r.IntN(3))
	for i := range names {
		names[i] = fmt.Sprint("f", r.IntN(9))
	}
	field, value := names[0], fmt.Sprint(r.IntN(1000))
	f, had := m.m[field]
	list := fmt.Sprintf("fields %d %s", len(names), strings.Join(names, " "))
	switch r.IntN(13) {
	case 0:
		m.m[field] = modelField{value: value}
		return "hset h " + field + " " + value, integer(b2i(!had))
	case 1:
		delete(m.m, field)
		return "hdel h " + field, integer(b2i(had))
	case 2:
		n, _ := strconv.Atoi(f.value)
		m.m[field] = modelField{strconv.Itoa(n + 7), f.at}
		return "hincrby h " + field + " 7", integer(n + 7)
	case 3, 4, 5:
		time, at := m.time(r)
		cond := []string{"", "nx ", "xx ", "gt ", "lt "}[r.IntN(5)]
		return fmt.Sprintf("h%s h %d %s%s", time.name, time.arg, cond, list), m.each(names, func(name string) string { return m.expire(name, at, cond) })
	case 6:
		cmd := []string{"httl", "hpttl", "hexpiretime", "hpexpiretime"}[r.IntN(4)]
		return cmd + " h " + list, m.each(names, func(name string) string { return m.ttl(cmd, name) })
	case 7:
		return "hpersist h " + list, m.each(names, m.persist)
	case 8:
		return "hgetdel h " + list, m.each(names, func(name string) string {
			f, had := m.m[name]
			delete(m.m, name)
			return text(f.value, had)
		})
	case 9:
		return m.getex(r, names, list)
	case 10, 11:
		return m.setex(r, names)
	}
	return "hget h " + field, text(f.value, had)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (m *model) each(names []string, fn func(name string) string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = fn(name)
	}
	return array(out)
}

// timeArg is a time as a command takes it.
type timeArg struct {
	name   string // of the command, without its h
	option string // of HGETEX and HSETEX
	arg    int64
}

func (m *model) time(r *rand.Rand) (timeArg, db.Millis) {
	ms := db.Millis(r.IntN(4000) - 300)
	s := db.Millis(r.IntN(4))
	switch r.IntN(4) {
	case 0:
		ms = max(ms, 0)
		return timeArg{"pexpire", "px", int64(ms)}, m.now + ms
	case 1:
		return timeArg{"expire", "ex", int64(s)}, m.now + s*1000
	case 2:
		return timeArg{"pexpireat", "pxat", int64(m.now + ms)}, m.now + ms
	}
	at := m.now/1000 + s - 1
	return timeArg{"expireat", "exat", int64(at)}, at * 1000
}

func (m *model) expire(name string, at db.Millis, cond string) string {
	f, had := m.m[name]
	switch {
	case !had:
		return integer(-2)
	case cond == "nx " && f.at != 0, cond == "xx " && f.at == 0,
		cond == "gt " && (f.at == 0 || at <= f.at), cond == "lt " && f.at != 0 && at >= f.at:
		return integer(0)
	case at <= m.now:
		delete(m.m, name)
		return integer(2)
	}
	m.m[name] = modelField{f.value, at}
	return integer(1)
}

func (m *model) ttl(cmd, name string) string {
	f, had := m.m[name]
	switch {
	case !had:
		return integer(-2)
	case f.at == 0:
		return integer(-1)
	}
	at := int(f.at)
	if strings.HasSuffix(cmd, "ttl") {
		at -= int(m.now)
	}
	if !strings.HasPrefix(cmd, "hp") {
		at = (at + 999) / 1000
	}
	return integer(at)
}

func (m *model) persist(name string) string {
	f, had := m.m[name]
	switch {
	case !had:
		return integer(-2)
	case f.at == 0:
		return integer(-1)
	}
	m.m[name] = modelField{value: f.value}
	return integer(1)
}

func (m *model) getex(r *rand.Rand, names []string, list string) (cmd, want string) {
	time, at := m.time(r)
	option := fmt.Sprintf("%s %d ", time.option, time.arg)
	change := func(name string) { m.expire(name, at, "") }
	switch r.IntN(3) {
	case 0:
		option, change = "", func(string) {}
	case 1:
		option, change = "persist ", func(name string) { m.persist(name) }
	}
	return "hgetex h " + option + list, m.each(names, func(name string) string {
		f, had := m.m[name]
		change(name)
		return text(f.value, had)
	})
}

func (m *model) setex(r *rand.Rand, names []string) (cmd, want string) {
	time, at := m.time(r)
	option := fmt.Sprintf("%s %d ", time.option, time.arg)
	kind := r.IntN(3)
	if kind < 2 {
		option = []string{"", "keepttl "}[kind]
	}
	cond := []string{"", "fnx ", "fxx "}[r.IntN(3)]
	pairs, met := "", true
	for i, name := range names {
		pairs += fmt.Sprintf(" %s %d", name, i)
		_, had := m.m[name]
		met = met && (cond == "" || had == (cond == "fxx "))
	}
	cmd = fmt.Sprintf("hsetex h %s%sfields %d%s", cond, option, len(names), pairs)
	if !met {
		return cmd, integer(0)
	}
	for i, name := range names {
		f := modelField{value: strconv.Itoa(i)}
		switch kind {
		case 1:
			f.at = m.m[name].at
		case 2:
			f.at = at
		}
		m.m[name] = f
	}
	m.purge()
	return cmd, integer(1)
}
