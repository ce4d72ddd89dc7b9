package arena

import "unsafe"

// At returns block r as a *T. T must hold no Go pointers.
func At[T any](h *Heap, r Ref) *T {
	return (*T)(unsafe.Add(h.base, uintptr(r)<<3))
}

// Bytes returns the first n bytes of block r.
func (h *Heap) Bytes(r Ref, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(h.base, uintptr(r)<<3)), n)
}

// Words returns the first n 8-byte words of block r.
func (h *Heap) Words(r Ref, n int) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Add(h.base, uintptr(r)<<3)), n)
}

// Word returns the first word of block r.
func (h *Heap) Word(r Ref) *uint64 {
	return (*uint64)(unsafe.Add(h.base, uintptr(r)<<3))
}

// Touch loads the word at r, whatever r is: a ref read without a lock may be
// stale or rubbish. Add up what it returns, so that the load is not dropped.
func (h *Heap) Touch(r Ref) uint64 {
	off := uint64(r) << 3
	if off-h.first >= h.committed.Load()-h.first {
		return 0
	}
	return *(*uint64)(unsafe.Add(h.base, off))
}

// Prefetch asks for the cache line of word r, PrefetchRecord for the first 64
// bytes of block r, whatever r is, as in Touch. Unlike Touch they wait for
// nothing, so that they can be asked for while other work goes on.
func (h *Heap) Prefetch(r Ref) { prefetch(unsafe.Add(h.base, uintptr(r)<<3)) }

// PrefetchRecord is described at Prefetch.
func (h *Heap) PrefetchRecord(r Ref) { prefetchTwo(unsafe.Add(h.base, uintptr(r)<<3)) }

// PrefetchBytes asks for the cache lines of the first n bytes of b.
func PrefetchBytes(b []byte, n int) {
	for i := 0; i < min(n, len(b)); i += 64 {
		prefetch(unsafe.Pointer(&b[i]))
	}
}
