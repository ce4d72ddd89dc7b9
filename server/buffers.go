package server

import (
	"fmt"

	"heddle/resp"
	"heddle/server/poll"
)

// The sizes of pooled buffers, and how many spare ones of each a worker keeps.
var (
	bufferSizes  = [...]int{512, 4 << 10, 16 << 10, 64 << 10}
	bufferSpares = [...]int{256, 64, 256, 32}
)

// mappedMin is the size from which on input buffers are memory maps: they grow
// without a copy, and go back to the system at once.
const mappedMin = 128 << 10

// buffers are a worker's spare buffers. Connections own some only while they
// hold unfinished input or unsent output.
type buffers struct {
	spare [len(bufferSizes)][][]byte

	producer resp.Writer // for outQueue.produce
	made     []piece
	crash    string // what became of a stream that panicked, for the log
}

// get returns a buffer of length 0 and at least n bytes of room.
func (p *buffers) get(n int) []byte {
	for i, size := range bufferSizes {
		if n > size {
			continue
		}
		if k := len(p.spare[i]); k > 0 {
			b := p.spare[i][k-1]
			p.spare[i] = p.spare[i][:k-1]
			return b
		}
		return make([]byte, 0, size)
	}
	return make([]byte, 0, n)
}

// put takes a buffer back. One of an unusual size is left to the collector.
func (p *buffers) put(b []byte) {
	for i, size := range bufferSizes {
		if cap(b) == size {
			if len(p.spare[i]) < bufferSpares[i] {
				p.spare[i] = append(p.spare[i], b[:0])
			}
			return
		}
	}
}

// input is what a connection sent and has not been consumed.
type input struct {
	b      []byte // its memory
	r, w   int    // the bytes in use are b[r:w]
	mapped bool
}

func (in *input) len() int      { return in.w - in.r }
func (in *input) bytes() []byte { return in.b[in.r:in.w] }

// room is the free memory, as CLIENT LIST's qbuf-free.
func (in *input) room() int { return len(in.b) - in.w }

// take drops n bytes from the front, and the memory with the last.
func (in *input) take(p *buffers, n int) {
	in.r += n
	if in.r == in.w {
		in.release(p)
	}
}

// release gives the memory back.
func (in *input) release(p *buffers) {
	switch {
	case in.mapped:
		if err := poll.Unmap(in.b); err != nil {
			panic(fmt.Sprintf("unmapping a buffer: %v", err))
		}
	case in.b != nil:
		p.put(in.b[:0])
	}
	*in = input{}
}

// append adds bytes; false when memory is out.
func (in *input) append(p *buffers, data []byte) bool {
	if !in.reserve(p, len(data)) {
		return false
	}
	in.w += copy(in.b[in.w:], data)
	return true
}

// reserve makes room for n further bytes; false when memory is out. Moving
// what is there costs no more than what was consumed or is allocated.
func (in *input) reserve(p *buffers, n int) bool {
	if len(in.b)-in.w >= n {
		return true
	}
	used := in.len()
	if in.r >= used && used+n <= len(in.b) {
		copy(in.b, in.bytes())
		in.r, in.w = 0, used
		return true
	}
	size := used + n
	if in.b != nil {
		size = max(size, 2*used)
	}
	if size < mappedMin {
		in.moveTo(p, size)
		return true
	}
	return in.grow(p, size)
}

// moveTo makes a pooled buffer of at least size bytes the memory.
func (in *input) moveTo(p *buffers, size int) {
	b := p.get(size)
	b = b[:cap(b)]
	n := copy(b, in.bytes())
	in.release(p)
	in.b, in.w = b, n
}

// grow makes a mapping of at least size bytes the memory.
func (in *input) grow(p *buffers, size int) bool {
	size = (size + 4095) &^ 4095
	if in.mapped {
		b, err := poll.Remap(in.b, in.r+size)
		if err == nil {
			in.b = b
		}
		return err == nil
	}
	b, err := poll.Map(size)
	if err != nil {
		return false
	}
	n := copy(b, in.bytes())
	in.release(p)
	in.b, in.w, in.mapped = b, n, true
	return true
}
