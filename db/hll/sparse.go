package hll

import "strconv"

// Sparse registers are runs of equal ones, each in a byte or two:
//
//	00llllll            l+1 registers that are zero
//	01llllll llllllll   the same, the length in 14 bits
//	1vvvvvll            l+1 registers of rank v+1
//
// Setting one register splits its run in up to three, and makes five bytes at most
// of one. Afterwards, beginning with the run before, up to five runs are looked at,
// and neighbours of equal rank are merged while they fit. That keeps the runs
// short of minimal, but it is local, and it is what Redis does, byte for byte.
//
// A rank that a run cannot express, or more bytes than the configured limit, makes
// the value dense for good.

// The greatest values that runs can express.
const (
	maxZeros     = 1 << 6
	maxLongZeros = 1 << 14
	maxRunRank   = 1 << 5
	maxRunLength = 1 << 2
)

type runKind uint8

const (
	runZeros runKind = iota
	runLongZeros
	runValue
)

// run is a decoded run.
type run struct {
	kind   runKind
	value  int // rank; 0 of zeros
	length int // registers
}

// size is how many bytes the run takes.
func (r run) size() int {
	if r.kind == runLongZeros {
		return 2
	}
	return 1
}

// decode reads the run at offset at. Where the second byte of the last one is
// missing it is taken for zero, as it is in Redis, whose strings end in one.
func decode(b []byte, at int) run {
	c := b[at]
	switch {
	case c&0x80 != 0:
		return run{runValue, int(c>>2&31) + 1, int(c&3) + 1}
	case c&0x40 == 0:
		return run{runZeros, 0, int(c&63) + 1}
	}
	n := int(c&63) << 8
	if at+1 < len(b) {
		n |= int(b[at+1])
	}
	return run{runLongZeros, 0, n + 1}
}

// appendZeros appends a run of n zeros, 1 to maxLongZeros of them.
func appendZeros(dst []byte, n int) []byte {
	n--
	if n < maxZeros {
		return append(dst, byte(n))
	}
	return append(dst, byte(0x40|n>>8), byte(n))
}

// valueRun is the byte of a run of n registers of a rank.
func valueRun(rank, n int) byte { return byte(0x80 | (rank-1)<<2 | (n - 1)) }

// append appends a part of the run, n registers long; n may be 0.
func (r run) append(dst []byte, n int) []byte {
	switch {
	case n == 0:
		return dst
	case r.kind == runValue:
		return append(dst, valueRun(r.value, n))
	}
	return appendZeros(dst, n)
}

// eachRun calls fn for every run of a sparse value with its first register. It
// fails when they do not make up all registers.
func eachRun(b []byte, fn func(op run, first int)) error {
	first := 0
	for at := header; at < len(b); {
		op := decode(b, at)
		if first+op.length > Registers {
			return ErrCorrupt
		}
		fn(op, first)
		first += op.length
		at += op.size()
	}
	if first != Registers {
		return ErrCorrupt
	}
	return nil
}

// cursor is a place in a sparse value: the run at offset at, whose first register is
// first, and the same of the run before it; both are one at the beginning.
type cursor struct{ at, first, before, beforeFirst int }

// findRun looks from cursor c on for the run that a register is in.
func findRun(b []byte, register int, c cursor) (run, cursor, error) {
	for c.at < len(b) {
		op := decode(b, c.at)
		if register < c.first+op.length {
			return op, c, nil
		}
		c = cursor{c.at + op.size(), c.first + op.length, c.at, c.first}
	}
	return run{}, c, ErrCorrupt
}

// origin is the cursor of the first run.
func origin() cursor { return cursor{at: header, before: header} }

// Set raises a register of a value, which is the caller's slice, to rank, and
// reports whether it was lower. A sparse value becomes dense when the rank or most,
// the limit of sparse ones in bytes, demands it. A change invalidates the cached
// cardinality. After ErrCorrupt the value is as it was.
func Set(b []byte, register int, rank uint8, most int64) (out []byte, changed bool, err error) {
	if IsDense(b) || rank > maxRunRank {
		return setDense(b, register, rank)
	}
	op, c, err := findRun(b, register, origin())
	if err != nil {
		return b, false, err
	}
	return setRun(b, op, c, register, rank, most)
}

// setRun is Set of a register whose run is known.
func setRun(b []byte, op run, c cursor, register int, rank uint8, most int64) ([]byte, bool, error) {
	if op.kind == runValue && op.value >= int(rank) {
		return b, false, nil
	}
	var room [5]byte
	left := register - c.first
	parts := op.append(room[:0], left)
	parts = append(parts, valueRun(int(rank), 1))
	parts = op.append(parts, op.length-left-1)
	grows := len(parts) - op.size()
	if grows > 0 && int64(len(b)+grows) > most {
		return setDense(b, register, rank)
	}
	b = splice(b, c.at, op.size(), parts)
	b = mergeRuns(b, c.before)
	Invalidate(b)
	return b, true, nil
}

func setDense(b []byte, register int, rank uint8) ([]byte, bool, error) {
	if !IsDense(b) {
		d, err := AppendDense(make([]byte, 0, denseSize), b)
		if err != nil {
			return b, false, err
		}
		b = d
	}
	if !DenseSet(b, register, rank) {
		return b, false, nil
	}
	Invalidate(b)
	return b, true, nil
}

// SetAll raises all registers of a value, which is the caller's slice, to ranks,
// one after the other, as Set does.
func SetAll(b []byte, ranks *Ranks, most int64) ([]byte, error) {
	near := origin() // the run before that of the register before
	for register, rank := range ranks {
		if rank == 0 {
			continue
		}
		if IsDense(b) || rank > maxRunRank {
			var err error
			if b, _, err = setDense(b, register, rank); err != nil {
				return b, err
			}
			continue
		}
		op, c, err := findRun(b, register, near)
		if err == nil && c.at == near.at {
			// What is before it is not known.
			op, c, err = findRun(b, register, origin())
		}
		if err != nil {
			return b, err
		}
		if b, _, err = setRun(b, op, c, register, rank, most); err != nil {
			return b, err
		}
		// That run begins where it did, though it may have become longer.
		near = cursor{c.before, c.beforeFirst, c.before, c.beforeFirst}
	}
	return b, nil
}

// splice replaces del bytes at offset at by parts; a byte that was missing at the
// end is missing afterwards.
func splice(b []byte, at, del int, parts []byte) []byte {
	old, grows := len(b), len(parts)-del
	for range grows {
		b = append(b, 0)
	}
	if at+del < old {
		copy(b[at+len(parts):], b[at+del:old])
	}
	b = b[:old+grows]
	copy(b[at:], parts)
	return b
}

// mergeScan is how many steps mergeRuns makes.
const mergeScan = 5

// mergeRuns merges neighbours of equal rank from offset at on, as far as it looks.
func mergeRuns(b []byte, at int) []byte {
	for step := 0; step < mergeScan && at < len(b); step++ {
		op := decode(b, at)
		if op.kind == runValue && at+1 < len(b) {
			next := decode(b, at+1)
			if next.kind == runValue && next.value == op.value && op.length+next.length <= maxRunLength {
				b[at] = valueRun(op.value, op.length+next.length)
				b = append(b[:at+1], b[at+2:]...)
				continue // the merged run may take in the next one, too
			}
		}
		at += op.size()
	}
	return b
}

// AppendRuns appends the runs of a sparse value as PFDEBUG DECODE shows them,
// whether or not they make sense: z:5 and Z:500 for zeros, v:rank,length.
func AppendRuns(dst, b []byte) []byte {
	for at := header; at < len(b); {
		op := decode(b, at)
		if at > header {
			dst = append(dst, ' ')
		}
		switch op.kind {
		case runZeros:
			dst = append(dst, "z:"...)
		case runLongZeros:
			dst = append(dst, "Z:"...)
		default:
			dst = append(dst, "v:"...)
			dst = strconv.AppendInt(dst, int64(op.value), 10)
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(op.length), 10)
		at += op.size()
	}
	return dst
}
