package arena

import "math/bits"

// Size classes: steps of 8 bytes to 128, of 16 to 256, then eight steps to each
// doubling (at most 12.5 % lost) to 1 KB. Above, where packed collections live and
// where a step is many bytes, a class is what remains of a slab that is cut into so
// many equal blocks: in steps of 3 to 6 % to 4 KB, 6 to 12 % to 8 KB, and in the few
// that there are to MaxSmall. No slab loses more than some bytes at its end.
const (
	numClasses = stepClasses + 15 + 16 + 8 + 5
	// stepClasses is how many classes have sizes in regular steps.
	stepClasses = 16 + 8 + 2*8
	// maxStep is the largest size of those.
	maxStep = 1 << 10
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

// counts says into how many blocks the classes above maxStep cut a slab.
// countClass is the reverse: the class with the smallest blocks of which a slab holds
// no more than so many.
var counts, countClass = makeCounts()

func makeCounts() (counts [numClasses - stepClasses]uint16, class [SlabSize / maxStep]uint8) {
	i := len(counts)
	for n := 4; n < SlabSize/maxStep; n++ {
		if n <= 32 || n%2 == 0 {
			i--
			counts[i] = uint16(n)
		}
		class[n] = uint8(stepClasses + i)
	}
	return counts, class
}

// sizeOfClass returns the size in bytes of class i.
func sizeOfClass(i int) int {
	switch {
	case i < 16:
		return (i + 1) * 8
	case i < 24:
		return 128 + (i-15)*16
	case i < stepClasses:
		e, step := (i-24)/8, (i-24)%8+1
		return 256<<e + step*(32<<e)
	}
	return SlabSize / int(counts[i-stepClasses]) &^ 7
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
	case n <= maxStep:
		e := bits.Len(uint(n-1)) - 9
		return 23 + e*8 + (n-256<<e+(32<<e)-1)>>(5+e)
	}
	return int(countClass[SlabSize/uint32((n+7)&^7)])
}

// SizeFor returns the capacity that Alloc(n) gives.
func SizeFor(n int) int {
	if n <= MaxSmall {
		return sizeOfClass(classOf(n))
	}
	return (n + pageSize - 1) &^ (pageSize - 1)
}
