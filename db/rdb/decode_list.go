package rdb

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"heddle/db"
)

// blob reads a string that is a packed form. It is valid until the next blob.
func (d *decoder) blob(what string) (b []byte, at int64) {
	t := d.begin(what)
	b = d.spell(&t, &d.c)
	d.kind = what
	return b, t.offset
}

// broken notes what is wrong in the packed form that was read last, and stood at an offset.
func (d *decoder) broken(at int64, format string, args ...any) {
	kind := strings.ToUpper(d.kind[:1]) + d.kind[1:]
	d.fail(at, "%s integrity check failed: expected %s", kind, fmt.Sprintf(format, args...))
}

// ended notes what a reader found wrong in the block at an offset.
func (d *decoder) ended(r packedReader, at int64) bool {
	if what, in := r.fault(); what != "" {
		d.broken(at, "%s at byte %d of it", what, in)
		return false
	}
	return d.ok()
}

// listValue decodes a list.
func (d *decoder) listValue(typ byte) Value {
	d.list.Reset()
	parted := false
	switch typ {
	case typeListZiplist:
		d.ziplistNode()
	default:
		n := d.count("the number of elements of a list")
		for i := uint64(0); i < n && d.ok(); i++ {
			switch typ {
			case typeList:
				d.v.Set(d.string("an element of a list", &d.a))
				d.push()
			case typeListQuicklist:
				d.ziplistNode()
			default:
				parted = d.node() || parted
			}
		}
		parted = parted || n > 1 && typ != typeList
	}
	if d.err != nil {
		return Value{}
	}
	return Value{typ: db.TypeList, coll: d.list.Coll(d.limits, parted)}
}

// push adds the element at hand to the list.
func (d *decoder) push() {
	if d.err == nil {
		d.list.Push(&d.v)
	}
}

// ziplistNode adds the elements of a ziplist to the list.
func (d *decoder) ziplistNode() {
	b, at := d.blob("list ziplist")
	if d.err == nil {
		d.pushAll(newZiplist(b), at)
	}
}

// node adds the elements of a node of a quicklist 2 to the list, and reports whether it is
// an element that is a node of its own.
func (d *decoder) node() (plain bool) {
	from := d.offset()
	switch kind := d.length("the kind of a node"); {
	case d.err != nil:
	case kind == nodePlain:
		s := d.string("an element of a list", &d.a)
		if d.err == nil && len(s) == 0 {
			d.fail(from, "expected an element that is a node of its own, found an empty one")
		}
		d.v.Set(s)
		d.push()
		return true
	case kind == nodePacked:
		b, at := d.blob("list listpack")
		if d.err == nil {
			d.pushAll(newListpack(b), at)
		}
	default:
		d.fail(from, "expected the kind of a node, 1 or 2, found %d", kind)
	}
	return false
}

// pushAll adds the elements of a packed form to the list.
func (d *decoder) pushAll(r packedReader, at int64) {
	for e, ok := r.next(); ok; e, ok = r.next() {
		d.element(e)
		d.list.Push(&d.v)
	}
	d.ended(r, at)
}

// setValue decodes a set.
func (d *decoder) setValue(typ byte) Value {
	switch typ {
	case typeSetIntset:
		d.intset()
	case typeSetListpack:
		b, at := d.blob("set listpack")
		if d.err != nil {
			return Value{}
		}
		d.set.Reset(d.limits, uint64(countOf(newListpack(b))), db.Listpack)
		r := newListpack(b)
		for e, ok := r.next(); ok && d.ok(); e, ok = r.next() {
			if m := e.bytes(d.scratch[:]); !d.set.Add(m) {
				d.broken(at, "different members, found %s twice", quote(m))
			}
		}
		d.ended(r, at)
	default:
		n := d.count("the number of members of a set")
		d.set.Reset(d.limits, n, db.NotPacked)
		d.parts(n, &d.set,
			func(p *part) { p.name = d.string("a member of a set", &d.a) },
			func(p *part) { d.member(p.name, p.at) })
	}
	if d.err != nil || d.set.Len() == 0 {
		return Value{typ: db.TypeSet}
	}
	return Value{typ: db.TypeSet, coll: d.set.Coll()}
}

// countOf returns how many elements a packed form has.
func countOf(r packedReader) (n int) {
	for _, ok := r.next(); ok; _, ok = r.next() {
		n++
	}
	return n
}

// member adds a member to the set.
func (d *decoder) member(m []byte, at int64) {
	if d.err == nil && !d.set.Add(m) {
		d.fail(at, "expected different members of a set, found %s twice", quote(m))
	}
}

// quote spells a string for a message.
func quote(s []byte) string {
	if len(s) > 64 {
		return strconv.Quote(string(s[:64])) + "..."
	}
	return strconv.Quote(string(s))
}

// intset decodes a set of integers in order:
//
//	bytes a member, 4 | count, 4 | members, little endian
func (d *decoder) intset() {
	b, at := d.blob("intset")
	if d.err != nil {
		return
	}
	if len(b) < 8 {
		d.broken(at, "at least 8 bytes, found %d", len(b))
		return
	}
	width, n := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	if width != 2 && width != 4 && width != 8 || uint64(len(b)) != 8+uint64(width)*uint64(n) {
		d.broken(at, "%d members of %d bytes, found %d bytes", n, width, len(b))
		return
	}
	d.set.Reset(d.limits, uint64(n), db.Intset)
	last := int64(math.MinInt64)
	for i := range int(n) {
		v := integerAt(b[8+i*int(width):], int(width))
		if i > 0 && v <= last {
			d.broken(at, "ascending order, found %d behind %d", v, last)
			return
		}
		last = v
		d.set.Add(strconv.AppendInt(d.scratch[:0], v, 10))
	}
}

// integerAt reads an integer of 2, 4 or 8 bytes, little endian.
func integerAt(b []byte, width int) int64 {
	switch width {
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	}
	return int64(binary.LittleEndian.Uint64(b))
}
