package rdb

import (
	"math"
	"strconv"

	"heddle/db"
	"heddle/db/hash"
	"heddle/db/list"
	"heddle/db/listpack"
	"heddle/db/set"
	"heddle/db/zset"
)

// Value is what stands in a file or a payload behind a key: a string, or a collection, built
// and verified, that Put stores in constant time. It belongs to nobody's memory but what it
// was made of: what ParseDump got must stay as it is until Put.
type Value struct {
	typ   db.Type
	str   []byte // of a string, unless
	big   *db.Big
	num   int64
	isInt bool
	coll  db.Coll
	gone  bool // see Empty
}

// Type returns the type; TypeNone of the zero Value.
func (v Value) Type() db.Type { return v.typ }

// Len returns the number of elements of a collection, 0 of a string.
func (v Value) Len() int { return v.coll.Len() }

// Put stores the value under a key, replacing what is there, to expire at an instant.
// db.ErrOutOfMemory. A Value is put once, or released.
func (v Value) Put(tx db.Txn, key []byte, at db.Expiry) error {
	switch {
	case v.typ != db.TypeString && v.coll.Packing != db.NotPacked:
		return tx.PutPacked(key, v.typ, v.coll.Packing, v.coll.Packed, at)
	case v.typ != db.TypeString:
		return tx.PutObject(key, v.typ, v.coll.Object, at)
	case v.big != nil:
		return tx.AdoptBig(key, v.big, at)
	case v.isInt:
		return tx.SetInt(key, v.num, at)
	}
	return tx.SetString(key, v.str, at)
}

// Release gives up what a Value holds that is not put.
func (v Value) Release() {
	if v.big != nil {
		v.big.Release()
	}
}

// fate is what becomes of a decoded value.
type fate uint8

const (
	fateKept    fate = iota
	fateEmpty        // a collection of no elements: Redis never writes one, and skips it
	fateExpired      // the time of all its members has come
)

// decoder makes values of bytes. It is used by one goroutine, for one value after the other.
type decoder struct {
	input
	limits  *db.Limits
	now     db.Millis
	keepDue bool                // members whose time has come stay
	newBig  func(int) *db.Big   // nil: strings stay bytes
	a, b, c []byte              // room for strings
	kind    string              // of the packed form that was read last
	v       listpack.Value      // an element
	scratch [24]byte            // for numbers
	hash    hash.Builder        // builders are used again
	zset    zset.Builder        //
	set     set.Builder         //
	list    list.Builder        //
	part    part                // the element at hand
	waiting []part              // elements that were read ahead
	dead    bool                // a member was dropped because its time has come
	stable  func([]byte) []byte // copies a string that is kept beyond the next one; nil: no need
}

// value decodes a value of a type.
func (d *decoder) value(typ byte) (v Value, f fate) {
	d.dead = false
	from := d.offset()
	switch typ {
	case typeString:
		return d.stringValue(), fateKept
	case typeList, typeListZiplist, typeListQuicklist, typeListQuicklist2:
		v = d.listValue(typ)
	case typeSet, typeSetIntset, typeSetListpack:
		v = d.setValue(typ)
	case typeZSet, typeZSet2, typeZSetZiplist, typeZSetListpack:
		v = d.zsetValue(typ)
	case typeHash, typeHashZipmap, typeHashZiplist, typeHashListpack:
		v = d.hashValue(typ)
	case typeHashMeta, typeHashMetaPreGA, typeHashListpackEx, typeHashListpackExGA:
		v = d.timedHashValue(typ)
	case typeStream, typeStream2, typeStream3:
		return d.streamValue(typ), fateKept
	default:
		d.fail(from-1, "%s", unknownType(typ))
	}
	switch {
	case d.err != nil:
		return Value{}, fateKept
	case v.coll.Len() == 0 && d.dead:
		return Value{typ: v.typ}, fateExpired
	case v.coll.Len() == 0:
		return Value{typ: v.typ}, fateEmpty
	}
	return v, fateKept
}

// typeCron is a job of KEYDB.CRON.
const typeCron = 64

// unknownType says why a type is not loaded.
func unknownType(typ byte) string {
	switch typ {
	case typeModulePreGA, typeModule2:
		return "expected a type of value, found type " + strconv.Itoa(int(typ)) +
			": a value of a module, and there are no modules"
	case typeCron:
		return "expected a type of value, found type 64: a job of KEYDB.CRON, which does not exist here"
	}
	return "expected a type of value, found type " + strconv.Itoa(int(typ))
}

// known reports whether there are values of a type that can be loaded.
func known(typ byte) bool {
	switch typ {
	case 8, typeModulePreGA, typeModule2:
		return false
	}
	return typ <= typeHashListpackEx
}

// due reports whether a member is left out because its time has come.
func (d *decoder) due(at db.Millis) bool {
	if at == 0 || d.keepDue || at >= d.now {
		return false
	}
	d.dead = true
	return true
}

// stringValue decodes a string. A long one goes where it will stay.
func (d *decoder) stringValue() Value {
	t := d.begin("a string")
	switch {
	case d.err != nil:
		return Value{}
	case t.isInt:
		return Value{typ: db.TypeString, num: int64(t.n), isInt: true}
	case t.plain >= db.BigMin && d.newBig != nil:
		return d.bigValue(&t)
	}
	room := &d.a
	s := d.spell(&t, room)
	if d.stable != nil && t.isLZF {
		s = d.stable(s)
	}
	return Value{typ: db.TypeString, str: s}
}

// bigValue decodes a long string.
func (d *decoder) bigValue(t *text) Value {
	var packed []byte
	if t.isLZF {
		if packed = d.bytes(t.n, t.subject, &d.packed); d.err != nil {
			return Value{}
		}
	} else if d.next == nil && t.n > uint64(len(d.buf)-d.at) {
		d.bytes(t.n, t.subject, &d.a)
		return Value{}
	}
	if t.plain > maxString || t.plain > math.MaxInt {
		d.fail(t.offset, "expected a string, found one of %d bytes", t.plain)
		return Value{}
	}
	big := d.newBig(int(t.plain))
	if big == nil {
		d.fail(t.offset, "out of memory for a string of %d bytes", t.plain)
		d.err.Err = db.ErrOutOfMemory
		return Value{}
	}
	if t.isLZF {
		big.Fill(int(t.plain))
		if _, err := decompress(big.Bytes()[:0], packed, int(t.plain)); err != nil {
			d.fail(t.offset, "expected a string of %d bytes, found broken LZF data", t.plain)
		}
	} else {
		d.fill(big, int(t.n))
	}
	if d.err != nil {
		big.Release()
		return Value{}
	}
	return Value{typ: db.TypeString, big: big}
}

// fill reads the n bytes of a long string.
func (d *decoder) fill(big *db.Big, n int) {
	from := d.offset()
	for done := 0; done < n; {
		if d.at >= len(d.buf) && !d.refill() {
			d.short(from, "a string of "+strconv.Itoa(n)+" bytes")
			return
		}
		part := min(len(d.buf)-d.at, n-done)
		big.Fill(done + part)
		copy(big.Bytes()[done:], d.buf[d.at:d.at+part])
		d.at += part
		done += part
	}
}

// element sets d.v to an element that was read from packed bytes.
func (d *decoder) element(e element) {
	if e.isInt {
		d.v.SetInt(e.n)
	} else {
		d.v.Set(e.s)
	}
}
