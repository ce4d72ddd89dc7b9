// Package hll estimates how many distinct elements a set has from 16384 small
// registers, in the bytes that Redis keeps them in.
//
// Every element is hashed. The 14 lowest bits of the hash choose a register; the
// position of the first bit set among the others is the element's rank, and the
// register keeps the greatest rank that it ever met: an element of rank r comes
// once in 2^r. How the ranks are spread tells how many elements there were, with a
// standard error of 0.81 %.
//
// The value is a string that clients may read, write back and carry to another
// server, so its bytes are Redis' bytes:
//
//	"HYLL" | encoding, 1 byte | 3 bytes unused | cached cardinality, 8 bytes | registers
//
// The cached cardinality is little endian; its highest bit says that it is out of
// date. Dense registers are 6 bits each, the first in the lowest bits of the first
// byte. Sparse registers are runs (see sparse.go), which take a few bytes while
// most registers are zero.
//
// Which runs stand for given registers is not determined by them alone but by the
// order in which they were set, and by when neighbours are merged. Since replies
// to GET, DUMP and DEBUG DIGEST show it, that is part of the format, too.
//
// The estimator is that of Otmar Ertl, "New cardinality estimation algorithms for
// HyperLogLog sketches" (2017), which needs no tables of bias and is right at all
// sizes.
package hll

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

const (
	indexBits = 14
	// Registers is how many registers there are.
	Registers = 1 << indexBits
	rankBits  = 64 - indexBits // of the hash, in which the rank is looked for
	regBits   = 6
	regMax    = 1<<regBits - 1

	header    = 16
	denseSize = header + Registers*regBits/8

	// MaxDense is the size in bytes of a dense value: no value is longer, unless
	// the limit of sparse ones is.
	MaxDense = denseSize
)

// Encodings, as the fifth byte says them.
const (
	dense  = 0
	sparse = 1
)

const magic = "HYLL"

// ErrCorrupt says that the registers of a value cannot be read.
var ErrCorrupt = errors.New("hll: corrupt registers")

// Valid reports whether b looks like a value of this package: right so far as its
// header and, if dense, its length can tell. Whether the runs of a sparse one make
// sense shows when they are read.
func Valid(b []byte) bool {
	if len(b) < header || string(b[:4]) != magic {
		return false
	}
	switch b[4] {
	case dense:
		return len(b) == denseSize
	case sparse:
		return true
	}
	return false
}

// IsDense reports whether a valid value is dense.
func IsDense(b []byte) bool { return b[4] == dense }

// AppendNew appends a value without elements to dst: sparse, its cached
// cardinality up to date.
func AppendNew(dst []byte) []byte {
	dst = append(dst, magic...)
	dst = append(dst, sparse, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	return appendZeros(dst, Registers)
}

// Cached returns the cached cardinality; false if it is out of date.
func Cached(b []byte) (n uint64, ok bool) {
	n = binary.LittleEndian.Uint64(b[8:])
	return n, n>>63 == 0
}

// SetCached notes the cardinality that was just computed.
func SetCached(b []byte, n uint64) { binary.LittleEndian.PutUint64(b[8:], n) }

// Invalidate says that the cached cardinality is out of date.
func Invalidate(b []byte) { b[15] |= 1 << 7 }

// Place returns the register that an element belongs to and its rank, 1 to 51.
func Place(element []byte) (register int, rank uint8) {
	h := murmur64(element, hashSeed)
	// The bit above the hash bounds the rank.
	return int(h & (Registers - 1)), uint8(bits.TrailingZeros64(h>>indexBits|1<<rankBits) + 1)
}

const hashSeed = 0xadc83b19

// murmur64 is MurmurHash64A by Austin Appleby.
func murmur64(b []byte, seed uint64) uint64 {
	const m, r = 0xc6a4a7935bd1e995, 47
	h := seed ^ uint64(len(b))*m
	for len(b) >= 8 {
		k := binary.LittleEndian.Uint64(b) * m
		k = (k ^ k>>r) * m
		h = (h ^ k) * m
		b = b[8:]
	}
	if len(b) > 0 {
		var k uint64
		for i, c := range b {
			k |= uint64(c) << (8 * i)
		}
		h = (h ^ k) * m
	}
	h = (h ^ h>>r) * m
	return h ^ h>>r
}

// Get returns a register's rank.
func Get(b []byte, register int) (uint8, error) {
	if IsDense(b) {
		return denseGet(b[header:], register), nil
	}
	op, _, err := findRun(b, register, origin())
	return uint8(op.value), err
}

// denseGet reads one register; r are the bytes behind the header.
func denseGet(r []byte, register int) uint8 {
	bit := register * regBits
	at, shift := bit/8, bit%8
	v := uint(r[at]) >> shift
	if shift > 8-regBits {
		v |= uint(r[at+1]) << (8 - shift)
	}
	return uint8(v & regMax)
}

// DenseSet raises a register of a dense value to rank, and reports whether it
// was lower.
func DenseSet(b []byte, register int, rank uint8) bool {
	r := b[header:]
	old := denseGet(r, register)
	if old >= rank {
		return false
	}
	bit := register * regBits
	at, shift := bit/8, bit%8
	diff := uint(old^rank) << shift
	r[at] ^= byte(diff)
	if shift > 8-regBits {
		r[at+1] ^= byte(diff >> 8)
	}
	return true
}

// AppendDense appends a value to dst as a dense one, the cached cardinality as it
// is. If it is corrupt nothing is appended.
func AppendDense(dst, b []byte) ([]byte, error) {
	if IsDense(b) {
		return append(dst, b...), nil
	}
	at := len(dst)
	dst = append(dst, b[:header]...)
	dst[at+4] = dense
	for range denseSize - header {
		dst = append(dst, 0)
	}
	err := eachRun(b, func(op run, first int) {
		if op.kind == runValue {
			for i := range op.length {
				DenseSet(dst[at:], first+i, uint8(op.value))
			}
		}
	})
	if err != nil {
		return dst[:at], err
	}
	return dst, nil
}

// Ranks are the registers of one value or the union of several, unpacked.
type Ranks [Registers]uint8

// Add raises the registers to those of a value.
func (r *Ranks) Add(b []byte) error {
	if IsDense(b) {
		r.addDense(b[header:denseSize])
		return nil
	}
	return eachRun(b, func(op run, first int) {
		if op.kind == runValue {
			for i := first; i < first+op.length; i++ {
				r[i] = max(r[i], uint8(op.value))
			}
		}
	})
}

// addDense reads 8 registers at a time: 48 bits.
func (r *Ranks) addDense(b []byte) {
	for i := 0; i < Registers; i += 8 {
		part := b[i*regBits/8:][:regBits]
		x := uint64(binary.LittleEndian.Uint32(part)) | uint64(binary.LittleEndian.Uint16(part[4:]))<<32
		for j := range r[i : i+8] {
			r[i+j] = max(r[i+j], uint8(x>>(j*regBits)&regMax))
		}
	}
}

// Count estimates the number of distinct elements.
func (r *Ranks) Count() uint64 {
	var h histogram
	for _, v := range r {
		h[v&regMax]++
	}
	return h.estimate()
}

// Count estimates the number of distinct elements of a value.
func Count(b []byte) (uint64, error) {
	var h histogram
	if IsDense(b) {
		for i := header; i < denseSize; i += regBits {
			x := uint64(binary.LittleEndian.Uint32(b[i:])) | uint64(binary.LittleEndian.Uint16(b[i+4:]))<<32
			for range 8 {
				h[x&regMax]++
				x >>= regBits
			}
		}
		return h.estimate(), nil
	}
	err := eachRun(b, func(op run, _ int) { h[op.value] += op.length })
	return h.estimate(), err
}

// histogram is how many registers have each rank.
type histogram [regMax + 1]int

// estimate is Ertl's formula. Each product is rounded for itself: where the
// compiler may fuse a multiplication with an addition, the last bit, and so the
// estimate, would depend on the processor.
func (h *histogram) estimate() uint64 {
	const m = float64(Registers)
	const alpha = 0.721347520444481703680 // 1 / (2 ln 2)
	z := m * tau((m-float64(h[rankBits+1]))/m)
	for k := rankBits; k >= 1; k-- {
		z += float64(h[k])
		z *= 0.5
	}
	z += float64(m * sigma(float64(h[0])/m))
	return uint64(math.Round(alpha * m * m / z))
}

// sigma corrects for registers that are zero, a part x of all.
func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for {
		x *= x
		before := z
		z += float64(x * y)
		y += y
		if z == before {
			return z
		}
	}
}

// tau corrects for registers that cannot go higher; all but a part x of them.
func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		x = math.Sqrt(x)
		before := z
		y *= 0.5
		d := 1 - x
		z -= float64(float64(d*d) * y)
		if z == before {
			return z / 3
		}
	}
}
