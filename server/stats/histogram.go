package stats

import "math/bits"

// A Histogram counts values in classes whose width grows with the value: 128
// classes to each power of two, so that a value is known to better than one
// part in a hundred. Values are nanoseconds up to maxNanos; longer ones count
// as maxNanos. These are the classes that Redis' latency tracking has, which
// makes percentiles comparable. The zero value is empty.
type Histogram struct {
	count  int64
	counts [histogramClasses]int64
}

const (
	subBits          = 7
	maxNanos         = 1_000_000_000
	lastLimit        = 1<<30 - 1 // what Below says of values up to maxNanos
	histogramClasses = (30 - subBits + 1) << subBits
)

func classOf(v int64) int {
	shift := bits.Len64(uint64(v)) - subBits - 1
	if shift < 0 {
		shift = 0
	}
	return shift<<subBits + int(v>>shift)
}

// upper returns the largest value of a class.
func upper(class int) int64 {
	shift := class>>subBits - 1
	if shift < 0 {
		shift = 0
	}
	sub := int64(class - shift<<subBits)
	return (sub+1)<<shift - 1
}

// Add counts v.
func (h *Histogram) Add(v int64) {
	v = min(max(v, 1), maxNanos)
	h.counts[classOf(v)]++
	h.count++
}

// Merge adds the counts of o.
func (h *Histogram) Merge(o *Histogram) {
	h.count += o.count
	for i, n := range o.counts {
		h.counts[i] += n
	}
}

// Count returns how many values were added.
func (h *Histogram) Count() int64 { return h.count }

// Percentile returns the value that p percent of all values do not exceed.
func (h *Histogram) Percentile(p float64) int64 {
	want := int64(min(p, 100)/100*float64(h.count) + 0.5)
	want = max(want, 1)
	var seen int64
	for i, n := range h.counts {
		if seen += n; seen >= want {
			return upper(i)
		}
	}
	return 0
}

// Below calls fn with limits that double, beginning with the class of first, and
// how many values do not exceed each, until all are counted. Limits under which
// nothing was counted, or nothing more than under the limit before, are left out.
func (h *Histogram) Below(first int64, fn func(limit, count int64)) {
	var seen, told int64
	class := 0
	for limit := first; told < h.count; limit *= 2 {
		top := upper(classOf(min(limit, maxNanos)))
		for class < len(h.counts) && upper(class) <= top {
			seen += h.counts[class]
			class++
		}
		if seen > told {
			fn(min(upper(classOf(limit)), lastLimit), seen)
			told = seen
		}
	}
}
