package difftest

import (
	"bytes"
	"slices"
	"strconv"
)

// Commands that draw elements at random answer differently on each server. What they
// drew is held against the collection itself, and where the elements were removed,
// those that the oracle removed are removed from ours instead.

// contentsOf are the commands that show the collection that another draws from; the
// values are those that it shows beside the members.
var contentsOf = map[string][]string{
	"spop": {"SMEMBERS"}, "srandmember": {"SMEMBERS"}, "hrandfield": {"HGETALL"}, "zrandmember": {"ZRANGE", "0", "-1", "WITHSCORES"},
}

// elements are the members of a collection, with their values if it has any.
type elements map[string]string

// contents reads the collection at the step's key.
func (c *Client) contents(s Step) (elements, bool) {
	show := contentsOf[string(bytes.ToLower(s.Argv[0]))]
	argv := append([]string{show[0], string(s.Argv[1])}, show[1:]...)
	reply, err := c.Do(argv...)
	if err != nil || reply.Kind == '-' {
		return nil, false
	}
	texts := reply.texts(nil)
	step := 2
	if show[0] == "SMEMBERS" {
		step = 1
	}
	all := elements{}
	for i := 0; i+step <= len(texts); i += step {
		all[texts[i]] = texts[i+step-1]
	}
	return all, true
}

// texts appends the texts of a reply's innermost elements.
func (r Reply) texts(dst []string) []string {
	if r.Elems == nil {
		if r.Null || bytes.IndexByte([]byte("*~%"), r.Kind) >= 0 {
			return dst
		}
		return append(dst, string(r.Text))
	}
	for _, e := range r.Elems {
		dst = e.texts(dst)
	}
	return dst
}

// alike reports whether two replies of random elements have the same form.
func alike(want, got Reply) bool {
	if want.Kind != got.Kind || want.Kind == '-' || want.Null != got.Null || len(want.Elems) != len(got.Elems) {
		return false
	}
	for i := range want.Elems {
		if !alike(want.Elems[i], got.Elems[i]) {
			return false
		}
	}
	return true
}

// drawn checks the reply of SRANDMEMBER, HRANDFIELD or ZRANDMEMBER.
func drawn(p *Pair, s Step, want, got Reply) bool {
	if !alike(want, got) || contentsOf[string(bytes.ToLower(s.Argv[0]))] == nil {
		return false
	}
	all, ok := p.conns[s.Conn][0].contents(s)
	if !ok {
		return false
	}
	texts, step := got.texts(nil), 1
	if len(s.Argv) > 3 {
		step = 2 // with values
	}
	again := false
	if len(s.Argv) > 2 {
		n, err := strconv.Atoi(string(s.Argv[2]))
		again = err == nil && n < 0
	}
	for i := 0; i+step <= len(texts); i += step {
		value, found := all[texts[i]]
		if !found || step == 2 && value != texts[i+1] {
			return false
		}
		if !again {
			delete(all, texts[i])
		}
	}
	return len(texts)%step == 0
}

// taken checks the reply of SPOP: on each server what was taken and what is left are
// the same set. Then it changes ours to have lost what the oracle lost.
func taken(p *Pair, s Step, want, got Reply) bool {
	if !alike(want, got) || !s.is("spop") {
		return false
	}
	var sets [2]elements
	lost := [2][]string{want.texts(nil), got.texts(nil)}
	for side, c := range p.conns[s.Conn] {
		left, ok := c.contents(s)
		if !ok {
			return false
		}
		for _, member := range lost[side] {
			if _, twice := left[member]; twice {
				return false
			}
			left[member] = member
		}
		sets[side] = left
	}
	if len(sets[0]) != len(sets[1]) {
		return false
	}
	for member := range sets[0] {
		if _, ok := sets[1][member]; !ok {
			return false
		}
	}
	return p.conns[s.Conn][1].exchange(string(s.Argv[1]), lost[1], lost[0])
}

// exchange adds the members back that are only in one list, and removes those that are
// only in the other.
func (c *Client) exchange(key string, back, away []string) bool {
	without := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(m string) bool { return slices.Contains(other, m) })
	}
	back, away = without(back, away), without(away, back)
	if len(back) == 0 {
		return true
	}
	for _, argv := range [][]string{append([]string{"SADD", key}, back...), append([]string{"SREM", key}, away...)} {
		reply, err := c.Do(argv...)
		if n, ok := reply.int(); err != nil || !ok || n != int64(len(argv)-2) {
			return false
		}
	}
	return true
}
