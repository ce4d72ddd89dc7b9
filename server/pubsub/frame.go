package pubsub

import (
	"strconv"
	"sync/atomic"
)

// sharedMin is the size from which on a frame is not copied for each branch and
// each connection: what it costs to count its users and to send it by itself is
// less then than two copies.
const sharedMin = 8 << 10

// message is what is published.
type message struct {
	kind             Kind
	channel, payload []byte
}

// size is about how long the message's frame is.
func (m *message) size() int { return len(m.channel) + len(m.payload) }

// append appends the message as the subscribers of a topic get it, in RESP2.
func (m *message) append(dst []byte, t *topic) []byte {
	switch {
	case t.pattern != nil:
		dst = append(dst, "*4\r\n$8\r\npmessage\r\n"...)
		dst = appendBulk(dst, t.pattern)
	case m.kind == Shard:
		dst = append(dst, "*3\r\n$8\r\nsmessage\r\n"...)
	default:
		dst = append(dst, "*3\r\n$7\r\nmessage\r\n"...)
	}
	return appendBulk(appendBulk(dst, m.channel), m.payload)
}

func appendBulk(dst, b []byte) []byte {
	dst = append(dst, '$')
	dst = strconv.AppendInt(dst, int64(len(b)), 10)
	dst = append(dst, '\r', '\n')
	dst = append(dst, b...)
	return append(dst, '\r', '\n')
}

// Frame is a long message, as RESP2 spells it, that all who send it share. Its
// memory is counted once, until the last user released it.
type Frame struct {
	buf   []byte
	users atomic.Int64
	hub   *Hub
}

// newFrame makes the frame of a message; it has one user.
func (h *Hub) newFrame(m *message, t *topic) *Frame {
	f := &Frame{buf: m.append(make([]byte, 0, m.size()+len(t.pattern)+128), t), hub: h}
	f.users.Store(1)
	h.memory(int64(cap(f.buf)))
	return f
}

// Bytes is the whole frame.
func (f *Frame) Bytes() []byte { return f.buf }

// Retain adds a user, who has to call Release.
func (f *Frame) Retain() { f.users.Add(1) }

// Release ends one use. From any goroutine.
func (f *Frame) Release() {
	if f.users.Add(-1) == 0 {
		f.hub.memory(-int64(cap(f.buf)))
	}
}
