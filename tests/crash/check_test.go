package crash

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"heddle/difftest"
	"heddle/tests/testserver"
)

// cut says how far a state that may be found has got: of each client at least and at most
// so many units, and likewise of what is shared.
type cut struct {
	what    string
	units   [][2]int
	journal [][2]int
	counter [2]int64
}

// now is how far all clients have got: what is acknowledged until, and what was sent.
func (r *run) now() cut { return r.between("the end", r.low(time.Now())) }

// low is what every client had acknowledged at an instant.
type low struct {
	units   []int
	journal []int
	counter int64
}

// low counts what was acknowledged before an instant. Of the journal and the counter only
// the newest numbers are known: they count if the instant is now.
func (r *run) low(at time.Time) low {
	var l low
	for _, c := range r.clients {
		c.note(func() {
			n := c.acked
			for n > 0 && c.history[n-1].acked.After(at) {
				n--
			}
			l.units = append(l.units, n)
			l.journal = append(l.journal, c.journal.acked)
			l.counter = max(l.counter, c.counted.seen)
		})
	}
	return l
}

// between returns the cut from what was acknowledged to what is sent.
func (r *run) between(what string, l low) cut {
	k := cut{what: what}
	var most int64
	for i, c := range r.clients {
		c.note(func() {
			k.units = append(k.units, [2]int{l.units[i], len(c.history)})
			k.journal = append(k.journal, [2]int{l.journal[i], c.journal.sent})
			most += c.counted.sent
		})
	}
	k.counter = [2]int64{l.counter, r.counterBase + most}
	return k
}

// verify compares what the server holds with what it may hold: one of some cuts. It makes
// what it found the new begin, and returns what is wrong.
func (r *run) verify(s *testserver.Server, cuts []cut) (faults []string) {
	d, err := difftest.Dial(s.Addr)
	if err != nil {
		return []string{err.Error()}
	}
	defer d.Close()
	d.Patience = patience
	p := prober{d, &faults}
	state := r.read(p)
	if len(faults) > 0 {
		return faults
	}
	var best []string
	for _, k := range cuts {
		wrong := r.compare(state, k)
		if len(wrong) == 0 {
			best = nil
			break
		}
		if best == nil || len(wrong) < len(best) {
			best = append([]string{"compared with " + k.what}, wrong...)
		}
	}
	faults = append(best, state.broken...)
	r.begin(state)
	return faults
}

// prober asks a server and notes errors.
type prober struct {
	*difftest.Client
	faults *[]string
}

func (p prober) do(argv ...string) difftest.Reply {
	r, err := p.Do(argv...)
	if err != nil || r.Kind == '-' {
		*p.faults = append(*p.faults, fmt.Sprintf("%q: %s %v", argv, r.Text, err))
	}
	return r
}

// state is what a server holds.
type state struct {
	found   []*model
	matches []map[int]*model
	journal []int // lines of each client
	counter int64
	broken  []string // what must never be
}

func (r *run) read(p prober) (s state) {
	for _, c := range r.clients {
		p.do("SELECT", strconv.Itoa(c.db))
		var replies []difftest.Reply
		for _, argv := range c.ask() {
			replies = append(replies, p.do(argv...))
		}
		if len(*p.faults) > 0 {
			return s
		}
		m := c.found(replies)
		s.found = append(s.found, m)
		s.matches = append(s.matches, c.matches(m, len(c.history)))
	}
	p.do("SELECT", "8")
	s.counter, _ = strconv.ParseInt(string(p.do("GET", "counter").Text), 10, 64)
	s.readJournal(p, r)
	s.readShared(p)
	p.do("SELECT", "9")
	if n := string(p.do("DBSIZE").Text); n != strconv.Itoa(filler) {
		s.broken = append(s.broken, fmt.Sprintf("%s keys of %d that never change", n, filler))
	}
	return s
}

// readJournal counts each client's lines, which must be the first ones, in order.
func (s *state) readJournal(p prober, r *run) {
	at := map[string]int{}
	s.journal = make([]int, len(r.clients))
	for i, c := range r.clients {
		at[c.name] = i
	}
	for _, e := range p.do("LRANGE", r.journal(), "0", "-1").Elems {
		name, number, _ := strings.Cut(string(e.Text), " ")
		i, ok := at[name]
		if n, err := strconv.Atoi(number); !ok || err != nil || n != s.journal[i]+1 {
			s.broken = append(s.broken, fmt.Sprintf("journal: %q behind line %d of the client", e.Text, s.journal[i]))
		}
		s.journal[i]++
	}
}

// readShared checks that amounts and tokens were only moved.
func (s *state) readShared(p prober) {
	sum := 0
	for i := range accounts {
		n, _ := strconv.Atoi(string(p.do("GET", "account:"+strconv.Itoa(i)).Text))
		sum += n
	}
	if sum != 0 {
		s.broken = append(s.broken, fmt.Sprintf("the accounts' sum is %d: a transaction is torn", sum))
	}
	lists, sets := map[string]int{}, map[string]int{}
	for i := range 4 {
		for _, e := range p.do("LRANGE", "tokens:l"+strconv.Itoa(i), "0", "-1").Elems {
			lists[string(e.Text)]++
		}
		for _, e := range p.do("SMEMBERS", "tokens:S"+strconv.Itoa(i)).Elems {
			sets[string(e.Text)]++
		}
	}
	for i := range tokens {
		name := "token" + strconv.Itoa(i)
		if lists[name] != 1 || sets[name] != 1 {
			s.broken = append(s.broken, fmt.Sprintf("%s is in %d lists and %d sets", name, lists[name], sets[name]))
		}
	}
}

// compare says in what a state is none of a cut.
func (r *run) compare(s state, k cut) (wrong []string) {
	for i, c := range r.clients {
		ok := false
		for n := range s.matches[i] {
			ok = ok || n >= k.units[i][0] && n <= k.units[i][1]
		}
		if !ok {
			wrong = append(wrong, c.explain(s, i, k.units[i]))
		}
		if n := s.journal[i]; n < k.journal[i][0] || n > k.journal[i][1] {
			wrong = append(wrong, fmt.Sprintf("%s: %d lines in the journal, not %d to %d", c.name, n, k.journal[i][0], k.journal[i][1]))
		}
	}
	if s.counter < k.counter[0] || s.counter > k.counter[1] {
		wrong = append(wrong, fmt.Sprintf("the counter is at %d, not %d to %d", s.counter, k.counter[0], k.counter[1]))
	}
	return wrong
}

// explain tells how what was found of a client differs from what was acknowledged.
func (c *client) explain(s state, i int, want [2]int) string {
	head := fmt.Sprintf("%s: not the state behind one of units %d to %d", c.name, want[0], want[1])
	if len(s.matches[i]) > 0 {
		return fmt.Sprintf("%s, but behind units %v", head, slices.Sorted(maps.Keys(s.matches[i])))
	}
	m := c.base.copy()
	for _, u := range c.history[:want[0]] {
		u.apply(m)
	}
	var b strings.Builder
	b.WriteString(head + ", nor of any")
	show := func(m *model, key string) string {
		if m.keys[key] == nil {
			return "missing"
		}
		return m.keys[key].write(key)
	}
	for _, k := range kinds {
		key := c.name + ":" + k.key
		if m.sums[key] != s.found[i].sums[key] {
			fmt.Fprintf(&b, "\n   acknowledged %.300s\n   found        %.300s", show(m, key), show(s.found[i], key))
		}
	}
	for _, u := range c.history[want[0]:want[1]] {
		fmt.Fprintf(&b, "\n   not acknowledged: %.300q", u.commands)
	}
	return b.String()
}

// begin makes what was found the begin of the next cycle.
func (r *run) begin(s state) {
	r.counterBase = s.counter
	for i, c := range r.clients {
		c.base, c.history, c.acked = s.found[i], nil, 0
		c.journal.sent, c.journal.acked = 0, 0
		c.counted.sent, c.counted.seen = 0, 0
	}
}
