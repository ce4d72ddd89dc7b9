package table

import (
	"fmt"
	"math/bits"
)

// Check verifies everything that the table relies on: for tests, under the shard's lock.
func (t *Table) Check() error {
	d := t.dir.Load()
	if d == nil {
		if t.len != 0 || t.segments != 0 || t.bytes != 0 {
			return fmt.Errorf("no directory, but %d records, %d segments, %d bytes", t.len, t.segments, t.bytes)
		}
		return nil
	}
	sum := tally{}
	for i := 0; i < len(d.entries); {
		e := entry(d.entries[i].Load())
		if err := t.checkSegment(d, i, e, &sum); err != nil {
			return fmt.Errorf("segment %x of entry %d: %w", e.ref(), i, err)
		}
		i += d.step(e)
	}
	if sum.len != t.len || sum.segments != t.segments || sum.bytes != t.bytes || sum.depths != t.depths {
		return fmt.Errorf("the table counts %d records, %d segments, %d bytes, %d; it has %+v",
			t.len, t.segments, t.bytes, t.depths, sum)
	}
	return nil
}

// tally counts what Check meets.
type tally struct {
	len, segments, bytes int
	depths               [maxDepth + 1]uint32
}

// checkSegment verifies that the segment is entered where it should be, and its buckets.
func (t *Table) checkSegment(d *directory, i int, e entry, sum *tally) error {
	if e.depth() > d.depth() || e.depth() > 0 && e.k() != segmentBits || i&(d.step(e)-1) != 0 {
		return fmt.Errorf("it has depth %d of %d and 2^%d buckets", e.depth(), d.depth(), e.k())
	}
	for j := i; j < i+d.step(e); j++ {
		if entry(d.entries[j].Load()) != e {
			return fmt.Errorf("entry %d should lead here, too", j)
		}
	}
	sum.segments++
	sum.bytes += bucketSize << e.k()
	sum.depths[e.depth()]++
	var passed [segmentBuckets]int
	for at := range e.mask() + 1 {
		if err := t.checkBucket(d, i, e, at, &passed, sum); err != nil {
			return fmt.Errorf("bucket %d: %w", at, err)
		}
	}
	for at := range e.mask() + 1 {
		n := int(t.bucket(e, at)[0] >> overflowShift)
		if n != passed[at] && n != overflowMax {
			return fmt.Errorf("bucket %d counts %d records that passed it, %d did", at, n, passed[at])
		}
	}
	return nil
}

// checkBucket verifies the slots of a bucket and notes which buckets their records passed.
func (t *Table) checkBucket(d *directory, i int, e entry, at uint64, passed *[segmentBuckets]int, sum *tally) error {
	b := t.bucket(e, at)
	taken := occupied(b[0])
	if taken^vacant(b[0]) != highs || bits.OnesCount64(taken) > bucketSlots {
		return fmt.Errorf("fingerprints %x", b[0])
	}
	for j := range bucketSlots {
		word := b[1+j]
		if taken>>(8*j)&0x80 == 0 {
			if word != 0 {
				return fmt.Errorf("slot %d is empty, but holds %x", j, word)
			}
			continue
		}
		sum.len++
		hash := t.keys.Hash(refOf(word))
		if first := int(d.index(hash)) &^ (d.step(e) - 1); first != i || b[0]>>(8*j)&0xff != fingerprint(hash) {
			return fmt.Errorf("slot %d with hash %x does not belong here", j, hash)
		}
		for p, step := e.home(hash), uint64(1); p != at; p, step = (p+step)&e.mask(), step+1 {
			passed[p]++
		}
	}
	return nil
}
