package arena

import "math/bits"

// Size classes: steps of 8 bytes to 128, of 16 to 256, then eight steps to
// each doubling (at most 12.5 % lost) to MaxSmall.
const (
	numClasses = 16 + 8 + 6*8
	// MaxSmall is the largest size that comes from a slab shared with others.
	MaxSmall = 16 << 10
	// classLarge marks the slabs of a large block.
	classLarge = 0xff
)

// class describes one size of block.
type class struct {
	units uint16 // size in units of 8 bytes
	limit uint16 // units of a slab that hold blocks
	count uint16 // blocks in a slab
	recip uint32 // used*recip>>16 is the quarter to which a slab is full
}

// classes is read only.
var classes = makeClasses()

func makeClasses() (c [numClasses]class) {
	for i := range c {
		size := sizeOfClass(i)
		n := SlabSize / size
		c[i] = class{
			units: uint16(size / 8),
			limit: uint16(n * size / 8),
			count: uint16(n),
			recip: uint32(quarters * 65536 / n),
		}
	}
	return c
}

// sizeOfClass returns the size in bytes of class i.
func sizeOfClass(i int) int {
	switch {
	case i < 16:
		return (i + 1) * 8
	case i < 24:
		return 128 + (i-15)*16
	}
	e, step := (i-24)/8, (i-24)%8+1
	return 256<<e + step*(32<<e)
}

// classOf returns the smallest class that holds n bytes, n <= MaxSmall.
func classOf(n int) int {
	switch {
	case n <= 8:
		return 0
	case n <= 128:
		return (n+7)>>3 - 1
	case n <= 256:
		return 15 + (n-128+15)>>4
	}
	e := bits.Len(uint(n-1)) - 9
	return 23 + e*8 + (n-256<<e+(32<<e)-1)>>(5+e)
}

// SizeFor returns the capacity that Alloc(n) gives.
func SizeFor(n int) int {
	if n <= MaxSmall {
		return sizeOfClass(classOf(n))
	}
	return (n + pageSize - 1) &^ (pageSize - 1)
}
