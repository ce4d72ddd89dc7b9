package difftest

import (
	"bytes"
	"slices"
	"strings"
)

// Matcher says how the replies to a command are compared where their bytes
// differ. Equal bytes always match.
type Matcher struct {
	Name   string
	same   func(want, got Reply) bool
	closes bool // the command closes its connection
	// check, where it is set, looks at the servers themselves, and may change ours so
	// that they are alike again. It needs a command that is the last of its batch,
	// outside of MULTI.
	check func(p *Pair, s Step, want, got Reply) bool
}

// exact accepts nothing but equal bytes.
var exact = Matcher{Name: "exact", same: func(want, got Reply) bool { return false }}

// matchers are the ways of comparing that templates name.
func matchers() map[string]Matcher {
	return map[string]Matcher{
		// a number of seconds or milliseconds that passes while we ask
		"second":       {Name: "second", same: near(1, 1)},
		"milliseconds": {Name: "milliseconds", same: near(2000, 1)},
		"idle":         {Name: "idle", same: near(1, 0)},
		// elements in any order
		"unordered": {Name: "unordered", same: func(a, b Reply) bool {
			return a.Kind == b.Kind && slices.Equal(a.sorted(), b.sorted())
		}},
		// any elements, but as many
		"length": {Name: "length", same: func(a, b Reply) bool {
			return a.Kind == b.Kind && strings.ContainsRune("*~%", rune(a.Kind)) && a.Null == b.Null && len(a.Elems) == len(b.Elems)
		}},
		// a cursor, and elements in any order
		"scanned": {Name: "scanned", same: func(a, b Reply) bool {
			return a.Kind == '*' && b.Kind == '*' && len(a.Elems) == 2 && len(b.Elems) == 2 &&
				bytes.Equal(a.Elems[0].Raw, b.Elems[0].Raw) && slices.Equal(a.Elems[1].sorted(), b.Elems[1].sorted())
		}},
		// pairs of name and value in any order
		"pairs": {Name: "pairs", same: func(a, b Reply) bool {
			return a.Kind == b.Kind && slices.Equal(a.sortedPairs(), b.sortedPairs())
		}},
		// a cursor, and pairs in any order
		"scanpairs": {Name: "scanpairs", same: func(a, b Reply) bool {
			return len(a.Elems) == 2 && len(b.Elems) == 2 && bytes.Equal(a.Elems[0].Raw, b.Elems[0].Raw) &&
				slices.Equal(a.Elems[1].sortedPairs(), b.Elems[1].sortedPairs())
		}},
		// a value that is the server's own: only its kind must be the same,
		// but errors must have the same text
		"shape": {Name: "shape", same: sameShape},
		// a size, or none: Redis shows one for a key that is dead and not yet
		// removed
		"usage": {Name: "usage", same: func(want, got Reply) bool {
			size := func(r Reply) bool { return r.Kind == ':' || r.Null }
			return size(want) && size(got)
		}},
		// pending entries, with times
		"pending": {Name: "pending", same: samePending},
		// HELLO: version, id and modules are the server's own
		"hello":  {Name: "hello", same: sameHello},
		"info":   {Name: "info", same: sameInfo},
		"closes": {Name: "closes", same: exact.same, closes: true},
		// elements of a collection, drawn at random
		"drawn": {Name: "drawn", same: exact.same, check: drawn},
		// the same, removed from it
		"taken": {Name: "taken", same: exact.same, check: taken},
	}
}

// near accepts two numbers, both at least min, that are close.
func near(distance, min int64) func(want, got Reply) bool {
	return func(want, got Reply) bool {
		a, ok1 := want.int()
		b, ok2 := got.int()
		return ok1 && ok2 && a >= min && b >= min && a-b <= distance && b-a <= distance
	}
}

func sameShape(want, got Reply) bool {
	return want.Kind == got.Kind && want.Kind != '-' && want.Null == got.Null
}

// sameHello compares the maps of HELLO but for the values of version, id and
// modules.
func sameHello(want, got Reply) bool {
	if want.Kind != got.Kind || want.Kind == '-' || len(want.Elems) != len(got.Elems) {
		return false
	}
	for i := 0; i+1 < len(want.Elems); i += 2 {
		name := want.Elems[i]
		if !bytes.Equal(name.Raw, got.Elems[i].Raw) {
			return false
		}
		switch string(name.Text) {
		case "version", "id", "modules":
			continue
		}
		if !bytes.Equal(want.Elems[i+1].Raw, got.Elems[i+1].Raw) {
			return false
		}
	}
	return true
}

// sameInfo compares INFO's text with all numbers taken out: average times to
// live are measured, not stored (and overflow in Redis).
func sameInfo(want, got Reply) bool {
	noDigits := func(r Reply) []byte {
		return bytes.Map(func(c rune) rune {
			if '0' <= c && c <= '9' || c == '-' {
				return -1
			}
			return c
		}, r.Text)
	}
	return want.Kind == got.Kind && bytes.Equal(noDigits(want), noDigits(got))
}

// comparison compares the replies of one connection in order: it knows what
// was queued in MULTI, so that EXEC's array is compared command by command.
type comparison struct {
	queue []Step
}

// same reports whether got is what a server in place of the one that said want
// may say to step.
func (c *comparison) same(step Step, want, got Reply) bool {
	defer c.note(step, want.Raw)
	if bytes.Equal(want.Raw, got.Raw) || step.allowed(want, got) {
		return true
	}
	if !step.is("exec") || want.Kind != '*' || got.Kind != '*' ||
		len(want.Elems) != len(got.Elems) || len(want.Elems) != len(c.queue) {
		return false
	}
	for i, queued := range c.queue {
		a, b := want.Elems[i], got.Elems[i]
		if !bytes.Equal(a.Raw, b.Raw) && !queued.allowed(a, b) {
			return false
		}
	}
	return true
}

func (s Step) allowed(want, got Reply) bool {
	return s.Match.same != nil && s.Match.same(want, got) || deliberate(s, want, got)
}

// note keeps what MULTI has queued.
func (c *comparison) note(step Step, want []byte) {
	switch {
	case string(want) == "+QUEUED\r\n":
		c.queue = append(c.queue, step)
	case step.is("exec"), step.is("discard"), step.is("reset"):
		c.queue = nil // a second MULTI is refused and changes nothing
	}
}

// is reports whether the step is the named command.
func (s Step) is(lower string) bool {
	return len(s.Argv) > 0 && bytes.EqualFold(s.Argv[0], []byte(lower))
}
