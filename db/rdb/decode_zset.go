package rdb

import (
	"math"
	"strconv"

	"heddle/db"
)

// zsetValue decodes a sorted set.
func (d *decoder) zsetValue(typ byte) Value {
	switch typ {
	case typeZSetZiplist:
		b, at := d.blob("zset ziplist")
		if d.err == nil {
			d.packedScores(newZiplist(b), countOf(newZiplist(b)), at)
		}
	case typeZSetListpack:
		b, at := d.blob("zset listpack")
		if d.err == nil {
			d.packedScores(newListpack(b), countOf(newListpack(b)), at)
		}
	default:
		n := d.count("the number of members of a sorted set")
		d.zset.Reset(d.limits, n, false)
		d.parts(n, &d.zset,
			func(p *part) {
				p.name = d.string("a member of a sorted set", &d.a)
				if typ == typeZSet2 {
					p.score = math.Float64frombits(d.uint64("a score"))
				} else {
					p.score = d.textScore()
				}
			},
			func(p *part) { d.scored(p.name, p.score, p.at) })
	}
	if d.err != nil || d.zset.Len() == 0 {
		return Value{typ: db.TypeZSet}
	}
	return Value{typ: db.TypeZSet, coll: d.zset.Coll()}
}

// scored adds a member to the sorted set.
func (d *decoder) scored(m []byte, score float64, at int64) {
	switch {
	case d.err != nil:
	case math.IsNaN(score):
		d.fail(at, "expected the score of %s, found no number", quote(m))
	case !d.zset.Add(m, score):
		d.fail(at, "expected different members of a sorted set, found %s twice", quote(m))
	}
}

// packedScores adds the pairs of member and score of a packed form, which has count
// elements and must be in order.
func (d *decoder) packedScores(r packedReader, count int, at int64) {
	d.zset.Reset(d.limits, uint64(count/2), true)
	last := math.Inf(-1)
	for m, ok := r.next(); ok && d.ok(); m, ok = r.next() {
		s, more := r.next()
		if !more {
			if what, _ := r.fault(); what == "" {
				d.broken(at, "pairs of members and scores, found %d elements", count)
			}
			break
		}
		score := float64(s.n)
		if !s.isInt {
			var err error
			if score, err = strconv.ParseFloat(string(s.s), 64); err != nil && !math.IsInf(score, 0) || math.IsNaN(score) {
				d.broken(at, "a score, found %s", quote(s.s))
				break
			}
		}
		if score < last {
			d.broken(at, "members in the order of their scores, found %v behind %v", score, last)
			break
		}
		last = score
		if b := m.bytes(d.scratch[:]); !d.zset.Add(b, score) {
			d.broken(at, "different members, found %s twice", quote(b))
		}
	}
	d.ended(r, at)
}

// textScore reads a score in the form up to version 7: a length in a byte and text, or a
// byte that says what is no number.
func (d *decoder) textScore() float64 {
	at := d.offset()
	switch n := d.byte("a score"); n {
	case 253:
		return math.NaN()
	case 254:
		return math.Inf(1)
	case 255:
		return math.Inf(-1)
	default:
		s := d.bytes(uint64(n), "a score", &d.b)
		if d.err != nil {
			return 0
		}
		f, err := strconv.ParseFloat(string(s), 64)
		if err != nil && !math.IsInf(f, 0) {
			d.fail(at, "expected a score, found %s", quote(s))
		}
		return f
	}
}
