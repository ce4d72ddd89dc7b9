package listpack

import "hash/maphash"

// Seen remembers strings, and is at times wrong about one that it was not given: who fills a
// listpack asks it before looking through all entries for one that is there already, which
// for n entries would be n*n/2 looks. It is a Bloom filter (Bloom, Space/Time Trade-offs in
// Hash Coding with Allowable Errors, 1970) of two bits a string: for a hundred strings one
// look in 400 is in vain, for 512 one in 20. The zero value has seen nothing.
type Seen struct{ bits [seenBits / 64]uint64 }

const seenBits = 4096

var seenSeed = maphash.MakeSeed()

// Reset forgets all strings.
func (s *Seen) Reset() { clear(s.bits[:]) }

// Add adds a string, and reports whether it may have been there before; if false, it was not.
func (s *Seen) Add(b []byte) (maybe bool) {
	h := maphash.Bytes(seenSeed, b)
	i, j := h%seenBits, h>>32%seenBits
	maybe = s.bits[i/64]>>(i%64)&(s.bits[j/64]>>(j%64))&1 != 0
	s.bits[i/64] |= 1 << (i % 64)
	s.bits[j/64] |= 1 << (j % 64)
	return maybe
}
