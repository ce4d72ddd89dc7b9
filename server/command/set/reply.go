package sets

import (
	"heddle/db"
	"heddle/db/listpack"
	"heddle/db/members"
	"heddle/db/set"
	"heddle/resp"
	"heddle/server/command"
)

// streamFrom is from how many members on a reply is made while it is sent.
const streamFrom = 1000

// replyPart writes the members of a part, whose header is written already. From the
// call on what the part was made of may be kept.
func replyPart(c *command.Call, p *set.Part) {
	if p.Large() {
		replyLarge(c.Reply, []set.Part{*p}, p.Len())
		return
	}
	for it := p.Iter(scratch(c)); it.Next(); {
		c.Reply.Bulk(it.Member())
	}
}

// replyParts is replyPart of several that have n members together.
func replyParts(c *command.Call, parts []set.Part, n int) {
	large := false
	for i := range parts {
		large = large || parts[i].Large()
	}
	if large {
		replyLarge(c.Reply, append([]set.Part(nil), parts...), n)
		return
	}
	for i := range parts {
		replyPart(c, &parts[i])
	}
}

// replyLarge writes the n members of parts, some of them large: at once, or while they
// are sent.
func replyLarge(w *resp.Writer, parts []set.Part, n int) {
	m := &memberStream{parts: parts}
	if n > streamFrom {
		m.pins = make([]db.Pin, len(parts))
		for i := range parts {
			m.pins[i] = parts[i].Detach()
		}
		m.it = parts[0].Iter(&m.room)
		w.Stream(m)
		return
	}
	m.it = parts[0].Iter(&m.room)
	for m.write(w) {
	}
}

// replyStored writes a member that stands in the memory of a large set. One that is
// larger than what is packed stands in memory of its own, which never changes, so the
// reply need not copy it.
func replyStored(w *resp.Writer, m []byte) {
	if len(m) > db.PackedMax {
		w.BulkExternal(m, nil)
		return
	}
	w.Bulk(m)
}

// replyRandom writes a random member.
func replyRandom(w *resp.Writer, s *set.Set, r members.Source) {
	if s.Large() {
		replyStored(w, s.RandomStored(r))
		return
	}
	w.Bulk(s.Random(r))
}

// memberStream is a resp.Stream of the members of parts, one part behind the other.
type memberStream struct {
	parts []set.Part // those that are not through
	pins  []db.Pin   // the claims on them, if they are clones
	it    set.Iter
	room  listpack.Scratch
}

// write writes a member; false when there is none left.
func (m *memberStream) write(w *resp.Writer) bool {
	for !m.it.Next() {
		m.through()
		if len(m.parts) == 0 {
			return false
		}
		m.it = m.parts[0].Iter(&m.room)
	}
	if m.parts[0].Large() {
		replyStored(w, m.it.Member())
	} else {
		w.Bulk(m.it.Member())
	}
	return true
}

// Next writes some members.
func (m *memberStream) Next(w *resp.Writer) bool {
	for w.Len() < resp.StreamPiece {
		if !m.write(w) {
			return false
		}
	}
	return true
}

// through lets the first part go.
func (m *memberStream) through() {
	m.parts[0], m.parts = set.Part{}, m.parts[1:]
	if len(m.pins) > 0 {
		m.pins[0].Release()
		m.pins = m.pins[1:]
	}
}

// Held is what the clones hold.
func (m *memberStream) Held() (n int64) {
	for i := range m.pins {
		n += m.pins[i].Held()
	}
	return n
}

// Release lets the clones go.
func (m *memberStream) Release() {
	for i := range m.pins {
		m.pins[i].Release()
	}
	*m = memberStream{}
}
