package main

import (
	"math/bits"
	"time"
)

// subBits is the precision of a histogram: 1/2^subBits of a value.
const subBits = 6

// histogram counts durations in buckets of about 1.5 % width.
type histogram struct {
	buckets [(64 - subBits) << subBits]uint64
	count   uint64
}

// add counts n durations of d.
func (h *histogram) add(d time.Duration, n int) {
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

// quantile returns the duration that a part q of all do not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	rank := uint64(q * float64(h.count))
	for b, n := range h.buckets {
		if n > rank {
			return time.Duration(lowest(b))
		}
		rank -= n
	}
	return 0
}

// merge adds what other counted.
func (h *histogram) merge(other *histogram) {
	for b, n := range other.buckets {
		h.buckets[b] += n
	}
	h.count += other.count
}
