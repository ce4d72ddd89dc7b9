package table

import (
	"math/bits"

	"heddle/db/arena"
)

// A bucket is 8 words. Bytes 0 to 6 of the first are the fingerprints of the slots, 0
// where the slot is empty; byte 7 counts the records that passed the bucket because it
// was full, and stays at 255 once there. The other words are the slots: bits 0-38 are
// the ref, bit 39 is fresh, bits 40-63 are the access clock.
type bucket [bucketWords]uint64

const (
	bucketWords = 8
	bucketSlots = 7
	bucketSize  = 8 * bucketWords

	segmentBits    = 7
	segmentBuckets = 1 << segmentBits
	segmentSlots   = segmentBuckets * bucketSlots

	overflowShift = 56
	overflowMax   = 255

	maxRef     = 1 << 39
	freshBit   = 1 << 39
	clockShift = 40

	homeShift  = 6  // bits of the hash below are the shard's
	printShift = 13 // bits of the hash from here on are the fingerprint

	// maxProbe is how many buckets are tried for a record before its segment
	// is split instead. It gives segments that are 0.88 full at that time.
	maxProbe = 12

	lows  = 0x0001010101010101 // bit 0 of each fingerprint
	highs = 0x0080808080808080 // bit 7
	rest  = 0x007f7f7f7f7f7f7f // bits 0-6
)

// fingerprint returns the 8 bits of a hash that its slot keeps; never 0.
func fingerprint(hash uint64) uint64 {
	f := hash >> printShift & 0xff
	if f == 0 {
		return 1
	}
	return f
}

// pattern returns the fingerprint of a hash seven times.
func pattern(hash uint64) uint64 { return fingerprint(hash) * lows }

// match returns bit 7 of each fingerprint in w that is the pattern's.
func match(w, pattern uint64) uint64 { return vacant(w ^ pattern) }

// vacant returns bit 7 of each fingerprint in w that is 0. It is exact: there are no
// carries from one byte to the next.
func vacant(w uint64) uint64 { return ^(w&rest + rest | w) & highs }

// occupied returns bit 7 of each fingerprint in w that is not 0.
func occupied(w uint64) uint64 { return (w&rest + rest | w) & highs }

// slotOf returns the first slot of a mask as match gives it.
func slotOf(m uint64) int { return bits.TrailingZeros64(m) >> 3 }

// refOf returns the ref in a slot's word.
func refOf(word uint64) arena.Ref { return arena.Ref(word & (maxRef - 1)) }
