package sets

import (
	"heddle/db"
	"heddle/db/set"
	"heddle/resp"
)

// streamFrom is from how many members on a reply is made while it is sent.
const streamFrom = 1000

// replyPart writes the members of a part, whose header is written already. From the
// call on the part may be kept.
func replyPart(w *resp.Writer, p *set.Part) {
	if p.Large() && p.Len() > streamFrom {
		m := &memberStream{parts: []set.Part{*p}}
		m.start()
		w.Stream(m)
		return
	}
	for it := p.Iter(); it.Next(); {
		replyMember(w, it.Member())
	}
}

// replyParts is replyPart of several.
func replyParts(w *resp.Writer, parts []set.Part, n int) {
	large := false
	for i := range parts {
		large = large || parts[i].Large()
	}
	if large && n > streamFrom {
		m := &memberStream{parts: append([]set.Part(nil), parts...)}
		m.start()
		w.Stream(m)
		return
	}
	for i := range parts {
		for it := parts[i].Iter(); it.Next(); {
			replyMember(w, it.Member())
		}
	}
}

// replyMember writes a member. One that is larger than what is packed stands in
// memory of its own, which never changes, so the reply need not copy it.
func replyMember(w *resp.Writer, m []byte) {
	if len(m) > db.PackedMax {
		w.BulkExternal(m, nil)
		return
	}
	w.Bulk(m)
}

// memberStream is a resp.Stream of the members of parts, one part behind the other.
type memberStream struct {
	parts []set.Part
	it    set.Iter
}

// start makes the parts independent of their keys.
func (m *memberStream) start() {
	for i := range m.parts {
		m.parts[i].Detach()
	}
	m.it = m.parts[0].Iter()
}

// Next writes some members.
func (m *memberStream) Next(w *resp.Writer) bool {
	for w.Len() < resp.StreamPiece {
		if m.it.Next() {
			replyMember(w, m.it.Member())
			continue
		}
		if m.parts = m.parts[1:]; len(m.parts) == 0 {
			return false
		}
		m.it = m.parts[0].Iter()
	}
	return true
}

// Release lets the clones go.
func (m *memberStream) Release() { *m = memberStream{} }
