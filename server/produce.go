package server

import (
	"fmt"
	"runtime/debug"
	"slices"

	"heddle/resp"
)

// streamBuffer is the memory for a piece of a stream.
const streamBuffer = 64 << 10

// streamHeld is about what a stream itself costs, what it keeps of others' aside.
const streamHeld = 512

// produce has the stream that is the first piece write what comes next, and puts that
// before it, or in its place when it has come to its end; false when it failed.
func (q *outQueue) produce(p *buffers) bool {
	x := &q.list[q.head]
	w := &p.producer
	w.Reset(p.get(streamBuffer))
	w.SetProto(x.proto)
	more, ok := p.next(x.stream)
	if !ok {
		return false
	}
	buf, at := w.Bytes(), 0
	made := p.made[:0]
	for _, e := range w.Externals() {
		made = append(made, piece{data: buf[at:e.At]}, piece{data: e.Data, free: e.Free, stream: e.Stream, proto: e.Proto})
		at = e.At
	}
	made = append(made, piece{data: buf[at:], buf: buf})
	w.Reset(nil)
	if !more {
		q.drop(p, x)
	}
	q.unshift(made)
	clear(made)
	p.made = made
	return true
}

// next has a stream write into the producer; false when it panicked, and the reply
// cannot be ended.
func (p *buffers) next(s resp.Stream) (more, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			p.crash = fmt.Sprintf("BUG: a reply under way: panic: %v\n%s", r, debug.Stack())
			p.producer.Rewind(resp.Mark{})
			p.put(p.producer.Bytes())
			p.producer.Reset(nil)
		}
	}()
	return s.Next(&p.producer), true
}

// unshift puts pieces before the first one.
func (q *outQueue) unshift(pieces []piece) {
	for i := range pieces {
		q.count(&pieces[i])
	}
	if n := len(pieces); q.head < n {
		q.list = slices.Insert(q.list, q.head, pieces[q.head:]...)
		copy(q.list, pieces[:q.head])
		q.head = 0
	} else {
		q.head -= n
		copy(q.list[q.head:], pieces)
	}
}
