package resp

// PushRaw writes a message that was spelled already: its first byte, which tells the
// versions of the protocol apart, and the rest. The rest is copied if free is nil, else
// it must not change until free is released.
func (w *Writer) PushRaw(head byte, rest []byte, free Releaser) {
	w.buf = append(w.buf, head)
	if free == nil {
		w.buf = append(w.buf, rest...)
		return
	}
	w.ext = append(w.ext, External{At: len(w.buf), Data: rest, Free: free})
	w.extN += len(rest)
}

// Move makes buf, which has more room, the memory of what was written, and returns
// the memory so far.
func (w *Writer) Move(buf []byte) (old []byte) {
	old = w.buf
	w.buf = append(buf[:0], old...)
	return old
}
