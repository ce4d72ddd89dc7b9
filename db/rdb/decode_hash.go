package rdb

import "heddle/db"

// hashValue decodes a hash.
func (d *decoder) hashValue(typ byte) Value {
	switch typ {
	case typeHashZipmap:
		b, at := d.blob("zipmap")
		if d.err == nil {
			// What is converted from a zipmap is bound to both limits of a listpack.
			d.hash.Reset(d.limits, uint64(countOf(newZipmap(b))/2))
			d.packedPairs(newZipmap(b), at)
		}
	case typeHashZiplist:
		b, at := d.blob("hash ziplist")
		if d.err == nil {
			d.hash.Reset(d.unbound(), uint64(countOf(newZiplist(b))/2))
			d.packedPairs(newZiplist(b), at)
		}
	case typeHashListpack:
		b, at := d.blob("hash listpack")
		if d.err == nil {
			d.hash.Reset(d.unbound(), uint64(countOf(newListpack(b))/2))
			d.packedPairs(newListpack(b), at)
		}
	default:
		n := d.count("the number of fields of a hash")
		d.hash.Reset(d.limits, n)
		d.parts(n, &d.hash,
			func(p *part) {
				p.name = d.string("a field of a hash", &d.a)
				p.value = d.string("a value of a hash", &d.b)
			},
			func(p *part) { d.field(p.name, p.value, 0, p.at) })
	}
	return d.builtHash()
}

func (d *decoder) builtHash() Value {
	if d.err != nil || d.hash.Len() == 0 {
		return Value{typ: db.TypeHash}
	}
	return Value{typ: db.TypeHash, coll: d.hash.Coll()}
}

// unbound returns the limits for what is a listpack in the file: whatever the length of its
// fields and values, it stays one.
func (d *decoder) unbound() *db.Limits {
	l := *d.limits
	l.HashValue = maxString
	return &l
}

// maxFieldDeadline is the latest instant at which a field may expire, as Redis 7.4 has it.
const maxFieldDeadline = 1<<48 - 2

// field adds a field to the hash.
func (d *decoder) field(f, v []byte, deadline db.Millis, at int64) {
	switch {
	case d.err != nil:
	case deadline < 0 || deadline > maxFieldDeadline:
		d.fail(at, "expected the deadline of field %s, found %d", quote(f), deadline)
	case d.due(deadline):
	case !d.hash.Add(f, v, deadline):
		d.fail(at, "expected different fields of a hash, found %s twice", quote(f))
	}
}

// packedPairs adds the pairs of field and value of a packed form.
func (d *decoder) packedPairs(r packedReader, at int64) {
	var room [24]byte
	for f, ok := r.next(); ok && d.ok(); f, ok = r.next() {
		v, more := r.next()
		if !more {
			if what, _ := r.fault(); what == "" {
				d.broken(at, "pairs of fields and values, found a field without its value")
			}
			break
		}
		if b := f.bytes(d.scratch[:]); !d.hash.Add(b, v.bytes(room[:]), 0) {
			d.broken(at, "different fields, found %s twice: a %s with dup elements", quote(b), d.kind)
		}
	}
	d.ended(r, at)
}

// timedHashValue decodes a hash of which fields have deadlines: absolute ones, or ones from
// the first of them on, with 0 for none and 1 for the first itself.
func (d *decoder) timedHashValue(typ byte) Value {
	from := d.offset()
	var first db.Millis
	if typ == typeHashMeta || typ == typeHashListpackEx {
		if first = d.millis("the first deadline"); first < 0 {
			d.fail(from, "expected the first deadline, found %d", first)
		}
	}
	if typ == typeHashListpackEx || typ == typeHashListpackExGA {
		b, at := d.blob("hash listpack")
		if d.err == nil {
			d.timedPairs(b, at)
		}
		return d.builtHash()
	}
	n := d.count("the number of fields of a hash")
	d.hash.Reset(d.limits, n)
	if n <= uint64(max(d.limits.HashEntries, 0)) {
		d.hash.Timed()
	}
	for i := uint64(0); i < n && d.ok(); i++ {
		at := d.offset()
		deadline := db.Millis(d.length("a deadline"))
		if deadline != 0 && typ == typeHashMeta {
			deadline += first - 1
		}
		f := d.string("a field of a hash", &d.a)
		d.field(f, d.string("a value of a hash", &d.b), deadline, at)
	}
	return d.builtHash()
}

// timedPairs adds the fields of a listpack of field, value and deadline.
func (d *decoder) timedPairs(b []byte, at int64) {
	var room [24]byte
	d.hash.Reset(d.unbound(), uint64(countOf(newListpack(b))/3))
	d.hash.Timed()
	r := newListpack(b)
	for f, ok := r.next(); ok && d.ok(); f, ok = r.next() {
		v, _ := r.next()
		t, more := r.next()
		if !more || !t.isInt {
			if what, _ := r.fault(); what == "" {
				d.broken(at, "fields with values and deadlines, found no deadline of %s", quote(f.bytes(d.scratch[:])))
			}
			break
		}
		d.field(f.bytes(d.scratch[:]), v.bytes(room[:]), db.Millis(t.n), at)
	}
	d.ended(r, at)
}
