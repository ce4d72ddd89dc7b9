package resp

// A Stream is a part of a reply that is made piece by piece while it is sent: the
// members of a collection that is too large to be copied. What it needs of the data
// it holds by itself, such as a clone of a collection, for it is asked for pieces when
// the command has ended and its keys are not locked any more. The header of what it is
// a part of, with the number of elements, was written before.
type Stream interface {
	// Next writes the next piece, StreamPiece bytes or so, and reports whether there
	// are more. It is called by one goroutine at a time, while no locks are held. w
	// speaks the version of the protocol that was in use when the reply began. What is
	// lent by BulkExternal must stay valid beyond Release.
	Next(w *Writer) (more bool)
	// Held returns how many bytes of memory are in use because of the stream alone: of a
	// collection that is gone but for the clone, say. It may change from call to call, without
	// anything being asked of the stream; it is called as Next is.
	Held() int64
	// Release ends the stream, whether it came to its end or not. It is called exactly once.
	Release()
}

const (
	// StreamPiece is how many bytes a Stream should write at a time: as soon as there
	// are so many it should stop. The buffer that it writes to has a little more.
	StreamPiece = 60 << 10
	// StreamLen is what a stream counts for in Writer.Len: as a long reply, behind which
	// no more commands of its batch should run before it is on its way.
	StreamLen = 1 << 20
)

// Stream puts s in the place of the bytes that it will write.
func (w *Writer) Stream(s Stream) {
	w.ext = append(w.ext, External{At: len(w.buf), Stream: s, Proto: w.Proto()})
	w.extN += StreamLen
	w.lazy++
}

// Release gives back what the piece holds.
func (e *External) Release() {
	switch {
	case e.Stream != nil:
		e.Stream.Release()
	case e.Free != nil:
		e.Free.Release()
	}
}

// Take appends all that another writer holds, external pieces and streams included,
// and leaves that empty, its memory to be used again.
func (w *Writer) Take(from *Writer) {
	at := len(w.buf)
	w.buf = append(w.buf, from.buf...)
	for _, e := range from.ext {
		e.At += at
		w.ext = append(w.ext, e)
	}
	w.extN += from.extN
	w.lazy += from.lazy
	from.Reset(from.buf)
}

// Flatten appends to dst all that was written, external pieces and streams in their
// places, and gives them back. The writer is empty afterwards. It is for replies that do
// not go to a socket.
func (w *Writer) Flatten(dst []byte) []byte {
	at := 0
	for i := range w.ext {
		e := &w.ext[i]
		dst = append(dst, w.buf[at:e.At]...)
		dst = append(dst, e.Data...)
		at = e.At
		if e.Stream != nil {
			part := &Writer{proto: e.Proto}
			for more := true; more; {
				more = e.Stream.Next(part)
				dst = part.Flatten(dst)
			}
		}
		e.Release()
	}
	dst = append(dst, w.buf[at:]...)
	w.Reset(w.buf)
	return dst
}
