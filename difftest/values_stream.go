package difftest

import (
	"bytes"
	"slices"
	"strconv"
)

// streamKey draws keys that hold a stream or nothing.
func (g *Generator) streamKey() []byte {
	if g.rng.Intn(40) == 0 {
		return g.key()
	}
	return strconv.AppendInt([]byte("s:"), int64(g.rng.Intn(6)), 10)
}

// streamID draws IDs: most of them somewhere among those that were given out, the late
// ones more often.
func (g *Generator) streamID() []byte {
	switch g.rng.Intn(40) {
	case 0:
		return []byte(pick(g.rng, edgeIDs))
	case 1:
		return strconv.AppendInt(nil, int64(g.batch), 10)
	}
	ms := max(int64(g.batch)-g.skewed(400), 0)
	id := strconv.AppendInt(nil, ms, 10)
	if g.rng.Intn(3) > 0 {
		id = strconv.AppendInt(append(id, '-'), int64(g.rng.Intn(6)), 10)
	}
	return id
}

// edgeIDs are IDs at the ends, and such that are spelled in an unusual way.
var edgeIDs = []string{
	"0-0", "0-1", "0", "18446744073709551615-18446744073709551615", "18446744073709551615", "18446744073709551615-0", "0-18446744073709551615",
	"9223372036854775807-1", "9223372036854775808", "01-01", "+5-+1", "5--05", " 7-1", "7- 1", "5-\x001", "1-9223372036854775808",
}

// badID draws what is no ID.
func (g *Generator) badID() []byte {
	return []byte(pick(g.rng, []string{"", "-", "+", "(", "(-", "$", ">", "*-1", "1-*", "1-", "-1", "abc", "1-2-3", "1-abc", "0x1", "18446744073709551616", "1-18446744073709551616",
		"1.5", "(0-0", "(18446744073709551615-18446744073709551615", "((1", "99999999999999999999999999999999999-1", "1 ", "\x00"}))
}

// newStreamID draws IDs for entries to be added: greater than those before, mostly.
func (g *Generator) newStreamID() []byte {
	switch g.rng.Intn(50) {
	case 0:
		return g.streamID()
	case 1:
		return g.badID()
	case 2:
		return strconv.AppendInt(nil, int64(g.batch), 10)
	case 3:
		if g.rng.Intn(30) == 0 { // the stream can only be deleted then
			return []byte(pick(g.rng, edgeIDs[:10]))
		}
	case 4:
		return strconv.AppendInt(strconv.AppendInt(nil, int64(g.batch), 10), -int64(1+g.rng.Intn(1000)), 10)
	}
	return append(strconv.AppendInt(nil, int64(g.batch), 10), "-*"...)
}

// idBound draws ends of ranges.
func (g *Generator) idBound() []byte {
	switch g.rng.Intn(12) {
	case 0:
		return g.badID()
	case 1, 2:
		return append([]byte("("), g.streamID()...)
	}
	return g.streamID()
}

// trimLength draws numbers of entries.
func (g *Generator) trimLength() []byte {
	return g.edgeOr(15, edgeInts, func() int64 { return g.skewed(300) })
}

// streamValue draws values of entries.
func (g *Generator) streamValue() []byte {
	switch g.rng.Intn(40) {
	case 0:
		return g.val()
	case 1:
		return g.bytes(pick(g.rng, []int{0, 1, 63, 64, 65, 100, 600, 4000, 4095, 4096, 5000}))
	case 2, 3, 4:
		return g.integer()
	}
	return g.bytes(g.rng.Intn(12))
}

// streamField draws names of fields.
func (g *Generator) streamField() []byte {
	if g.rng.Intn(30) == 0 {
		return g.streamValue()
	}
	return []byte(pick(g.rng, []string{"a", "b", "a", "b", "c", "name:1", "1", "2"}))
}

// streamGroupName draws names of consumer groups.
func (g *Generator) streamGroupName() []byte {
	return []byte(pick(g.rng, []string{"g", "g", "g", "h", "h", "group:1", "", "\xff\x00"}))
}

// consumer draws names of consumers.
func (g *Generator) consumer() []byte {
	if g.rng.Intn(20) == 0 {
		return []byte(pick(g.rng, []string{"", "a b", "\xff\x00", "C:1", "c"}))
	}
	return strconv.AppendInt([]byte("c:"), g.skewed(200), 10)
}

// samePending compares replies of XPENDING: how long entries have been idle depends on the
// time.
func samePending(want, got Reply) bool {
	return sameElements(func(a, b Reply) bool {
		return len(a.Elems) == 4 && len(b.Elems) == 4 && near(2000, 0)(a.Elems[2], b.Elems[2]) && sameBut(a, b, 2)
	})(want, got)
}

// otherConsumers accepts replies that differ only in consumers that hold nothing.
func otherConsumers(s Step, want, got Reply) bool {
	switch {
	case s.is("xgroup"):
		return len(s.Argv) == 5 && bytes.EqualFold(s.Argv[1], []byte("createconsumer")) && want.Kind == ':' && got.Kind == ':'
	case s.is("xinfo") && want.Kind != '-' && got.Kind != '-':
		groups := sameElements(func(a, b Reply) bool { return len(a.Elems) == 12 && sameBut(a, b, 3) })
		return groups(want, got) || sameFull(want, got) || want.Kind == '*' && slices.Equal(holders(want), holders(got)) && bytes.EqualFold(s.Argv[1], []byte("consumers"))
	}
	return false
}

// sameElements accepts arrays of as many elements, each accepted by same.
func sameElements(same func(a, b Reply) bool) func(a, b Reply) bool {
	return func(a, b Reply) bool {
		if a.Kind != b.Kind || a.Kind == '-' || len(a.Elems) != len(b.Elems) {
			return false
		}
		for i := range a.Elems {
			if !same(a.Elems[i], b.Elems[i]) {
				return false
			}
		}
		return true
	}
}

// sameBut accepts replies whose elements are equal but for some.
func sameBut(a, b Reply, but ...int) bool {
	if a.Kind != b.Kind || len(a.Elems) != len(b.Elems) {
		return false
	}
	for i := range a.Elems {
		if !slices.Contains(but, i) && !bytes.Equal(a.Elems[i].Raw, b.Elems[i].Raw) {
			return false
		}
	}
	return true
}

// lookup returns the value of a name in a map, or in an array of names and values.
func (r Reply) lookup(name string) Reply {
	for i := 0; i+1 < len(r.Elems); i += 2 {
		if string(r.Elems[i].Text) == name {
			return r.Elems[i+1]
		}
	}
	return Reply{}
}

// holders lists the consumers that hold entries, and how many.
func holders(r Reply) (list []string) {
	for _, c := range r.Elems {
		n := c.lookup("pending")
		if n.Kind == '*' {
			n = c.lookup("pel-count")
		}
		if string(n.Text) != "0" {
			list = append(list, string(c.lookup("name").Text)+" "+string(n.Text))
		}
	}
	return list
}

// sameFull compares replies of XINFO STREAM FULL: the groups' consumers by what they
// hold, and times of delivery only roughly.
func sameFull(a, b Reply) bool {
	if !sameBut(a, b, 17) || len(a.Elems) != 18 {
		return false
	}
	return sameElements(func(a, b Reply) bool {
		delivered := func(time, fields int) func(a, b Reply) bool {
			return sameElements(func(a, b Reply) bool {
				return len(a.Elems) == fields && near(2000, 0)(a.Elems[time], b.Elems[time]) && sameBut(a, b, time)
			})
		}
		return sameBut(a, b, 11, 13) && delivered(2, 4)(a.lookup("pending"), b.lookup("pending")) &&
			slices.Equal(holders(a.lookup("consumers")), holders(b.lookup("consumers")))
	})(a.Elems[17], b.Elems[17])
}
