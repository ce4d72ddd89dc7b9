// Package digest sums up keys and values in a number that does not depend on how they
// are stored, nor on orders that do not matter: the one of DEBUG DIGEST, so that two
// servers, or one before and after a restart, can be compared.
//
// It is made of SHA-1 sums in two ways. What has no order, such as members of a set or
// keys, is added: the exclusive or of the sums of the parts. What has an order, such as
// elements of a list or a key and its value, is mixed: each part is added, and the sum
// replaced by its own sum. Equal data have the digests that redis-server 7 gives them.
package digest

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"

	"heddle/db"
	"heddle/db/hash"
	"heddle/db/list"
	"heddle/db/listpack"
	"heddle/db/set"
	"heddle/db/stream"
	"heddle/db/zset"
)

// Sum is a digest; that of nothing is zero.
type Sum [sha1.Size]byte

// String returns 40 hexadecimal digits.
func (d *Sum) String() string { return hex.EncodeToString(d[:]) }

// add adds b, whatever came before.
func (d *Sum) add(b []byte) {
	h := sha1.Sum(b)
	for i := range d {
		d[i] ^= h[i]
	}
}

// mix adds b in a way that depends on what came before.
func (d *Sum) mix(b []byte) {
	d.add(b)
	*d = sha1.Sum(d[:])
}

func (d *Sum) mixNumber(n uint32) {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], n)
	d.mix(b[:])
}

// numbers tell types apart.
var numbers = [...]uint32{db.TypeString: 0, db.TypeList: 1, db.TypeSet: 2, db.TypeZSet: 3, db.TypeHash: 4, db.TypeStream: 6}

// Value returns the digest of an item's value and of whether it expires. Members whose
// time has come by now do not count.
func Value(it *db.Item, now db.Millis) (d Sum) {
	d.value(it, now)
	return d
}

func (d *Sum) value(it *db.Item, now db.Millis) {
	d.mixNumber(numbers[it.Type])
	switch it.Type {
	case db.TypeString:
		if it.Str.IsInt {
			d.mix(strconv.AppendInt(nil, it.Str.N, 10))
		} else {
			d.mix(it.Str.B)
		}
	case db.TypeList:
		d.list(it)
	case db.TypeSet:
		s := set.Of(it.Coll, now)
		s.Each(func(member []byte) bool {
			d.add(member)
			it.Breathe()
			return true
		})
	case db.TypeZSet:
		d.zset(it, now)
	case db.TypeHash:
		h := hash.Of(it.Coll, now)
		h.Each(func(field, value []byte) bool {
			d.addPair(field, value)
			it.Breathe()
			return true
		})
	case db.TypeStream:
		d.stream(it)
	}
	if it.Expire != db.NoExpiry {
		d.add([]byte("!!expire!!"))
	}
}

// addPair adds two parts that belong together in this order.
func (d *Sum) addPair(a, b []byte) {
	var pair Sum
	pair.mix(a)
	pair.mix(b)
	d.add(pair[:])
}

func (d *Sum) list(it *db.Item) {
	l := list.Of(&it.Coll)
	var s listpack.Scratch
	for e := l.Iter(0); e.Next(); {
		d.mix(e.Entry().Bytes(&s))
		it.Breathe()
	}
}

func (d *Sum) zset(it *db.Item, now db.Millis) {
	z := zset.Of(&it.Coll, now)
	var score [32]byte
	z.Each(0, math.MaxInt, false, func(member []byte, f float64) bool {
		d.addPair(member, appendScore(score[:0], f))
		it.Breathe()
		return true
	})
}

// appendScore spells a score with 17 significant digits, as C's %.17g does.
func appendScore(dst []byte, f float64) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	}
	return strconv.AppendFloat(dst, f, 'g', 17, 64)
}

// stream mixes the entries; groups do not count.
func (d *Sum) stream(item *db.Item) {
	var name, value listpack.Scratch
	var id []byte
	it := item.Coll.Object.(*stream.Stream).Range(stream.ID{}, stream.ID{Ms: math.MaxUint64, Seq: math.MaxUint64})
	for e, ok := it.Next(); ok; e, ok = it.Next() {
		id = append(strconv.AppendUint(id[:0], e.ID.Ms, 10), '.')
		d.mix(strconv.AppendUint(id, e.ID.Seq, 10))
		for e.Len() > 0 {
			n, v := e.Pair()
			d.mix(n.Bytes(&name))
			d.mix(v.Bytes(&value))
		}
		item.Breathe()
	}
}

// Source has keys: a db.Whole, or a db.Snapshot.
type Source interface {
	// Items visits the keys of all databases, one after the other.
	Items(fn func(db int, it *db.Item) bool)
}

// All returns the digest of all databases as of one instant.
func All(s Source, now db.Millis) (sum Sum) {
	last := -1
	s.Items(func(database int, it *db.Item) bool {
		if database != last {
			sum.mixNumber(uint32(database))
			last = database
		}
		var d Sum
		d.mix(it.Key)
		d.value(it, now)
		sum.add(d[:])
		return true
	})
	return sum
}
