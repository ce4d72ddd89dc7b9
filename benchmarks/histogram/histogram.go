// Package histogram counts durations for benchmarks, in buckets of about 1.5 % width.
package histogram

import (
	"math/bits"
	"time"
)

// subBits is the precision of a histogram: 1/2^subBits of a value.
const subBits = 6

// Histogram counts durations. The zero value is empty.
type Histogram struct {
	buckets [(64 - subBits) << subBits]uint64
	count   uint64
}

// Add counts n durations of d.
func (h *Histogram) Add(d time.Duration, n int) {
	h.buckets[bucketOf(uint64(max(d, 0)))] += uint64(n)
	h.count += uint64(n)
}

func bucketOf(v uint64) int {
	if v < 1<<subBits {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return (shift+1)<<subBits + int(v>>shift) - 1<<subBits
}

// lowest is the least value of a bucket.
func lowest(bucket int) uint64 {
	if bucket < 1<<subBits {
		return uint64(bucket)
	}
	shift := bucket>>subBits - 1
	return uint64(bucket&(1<<subBits-1)+1<<subBits) << shift
}

// Quantile returns the duration that a part q of all do not exceed, 0 if there are none.
// A q of 1 asks for the longest.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.count == 0 {
		return 0
	}
	rank := min(uint64(q*float64(h.count)), h.count-1)
	for b, n := range h.buckets {
		if n > rank {
			return time.Duration(lowest(b))
		}
		rank -= n
	}
	return 0
}

// Merge adds what other counted.
func (h *Histogram) Merge(other *Histogram) {
	for b, n := range other.buckets {
		h.buckets[b] += n
	}
	h.count += other.count
}
