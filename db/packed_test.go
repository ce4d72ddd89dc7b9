package db

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"heddle/db/arena"
	"heddle/db/invariants"

	"pgregory.net/rapid"
)

// packedGen makes the bytes of a packed collection: a count and whatever.
func (mt *modelTest) packedGen(label string) []byte {
	n := rapid.IntRange(0, 60).Draw(mt.t, label)
	switch rapid.IntRange(0, 5).Draw(mt.t, "size") {
	case 0:
		n += 230
	case 1:
		n *= 130
	}
	b := make([]byte, 2+n)
	for i := range b {
		b[i] = byte('a' + (i+n)%26)
	}
	binary.LittleEndian.PutUint16(b, uint16(rapid.IntRange(1, 3).Draw(mt.t, "count")))
	return b
}

// putPacked stores a set, packed one way or the other.
func (mt *modelTest) putPacked(tx *Tx, db int) {
	k, e, b := mt.key(), mt.exp(), mt.packedGen("n")
	p := Packing(rapid.IntRange(int(Listpack), int(Loose)).Draw(mt.t, "packing"))
	mt.equal("put packed", tx.PutPacked([]byte(k), TypeSet, p, b, e), error(nil))
	tx.Touched([]byte(k), ClassSet, "sadd")
	mt.m.dbs[db][k] = modelValue{string(b), TypeSet, mt.m.expiry(db, k, e)}
	m, _ := tx.Meta([]byte(k))
	mt.equal("encoding", m.Encoding, p.encoding(TypeSet))
}

// splice changes a packed set, or makes one, or takes all from it.
func (mt *modelTest) splice(tx *Tx, db int) {
	k := mt.key()
	v, has := mt.m.get(db, k)
	c, found, err := tx.EditCollection([]byte(k), TypeSet)
	if has && v.typ != TypeSet {
		mt.equal("edit collection", err, ErrWrongType)
		_, err = tx.Splice([]byte(k), TypeSet, Listpack, 0, 0, 2)
		mt.equal("splice", err, ErrWrongType)
		return
	}
	mt.equal("found", found, has)
	mt.equal("packed", string(c.Packed), v.val)
	if c.Object != nil {
		mt.t.Fatalf("a packed set is an object")
	}
	at, del, old := 0, 0, []byte(v.val)
	if has {
		at = rapid.IntRange(0, len(old)).Draw(mt.t, "at")
		del = rapid.IntRange(0, len(old)-at).Draw(mt.t, "del")
	}
	ins := mt.packedGen("ins")
	if len(old)-del+len(ins) > PackedMax {
		at, del = 0, len(old)
	}
	got, err := tx.Splice([]byte(k), TypeSet, Listpack, at, del, len(ins))
	mt.equal("splice", err, error(nil))
	want := bytes.Join([][]byte{old[:at], ins, old[at+del:]}, nil)
	copy(got[at:], ins)
	if !bytes.Equal(got, want) {
		mt.t.Fatalf("%d of %d bytes at %d become %d: got %.80q, want %.80q", del, len(old), at, len(ins), got, want)
	}
	binary.LittleEndian.PutUint16(want, uint16(rapid.IntRange(0, 5).Draw(mt.t, "count")))
	copy(got, want[:2])
	tx.Touched([]byte(k), ClassSet, "sadd")
	mt.m.dbs[db][k] = modelValue{string(want), TypeSet, mt.m.expiry(db, k, KeepExpiry)}
	if packedLen(want) == 0 {
		delete(mt.m.dbs[db], k)
	}
	mt.equal("type", tx.Type([]byte(k)), mt.typeOf(db, k))
}

// convert makes an object of what is packed, or the reverse.
func (mt *modelTest) convert(tx *Tx, db int) {
	k := mt.key()
	v, has := mt.m.get(db, k)
	if !has || v.typ == TypeString {
		return
	}
	c, _, err := tx.CurrentCollection([]byte(k), v.typ)
	mt.equal("current", err, error(nil))
	if c.Packing != NotPacked {
		v.val, v.typ = "a", TypeList
		err = tx.PutObject([]byte(k), TypeList, &toy{items: []string{"a"}}, KeepExpiry)
	} else {
		v.val, v.typ = "\x01\x00x", TypeSet
		err = tx.PutPacked([]byte(k), TypeSet, Listpack, []byte(v.val), KeepExpiry)
	}
	mt.equal("convert", err, error(nil))
	tx.Touched([]byte(k), ClassSet, "convert")
	mt.m.dbs[db][k] = v
}

// TestPackedSlack grows packed collections, as pushes do, and wants little more memory
// used than they have bytes, and few moves.
func TestPackedSlack(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checked builds move at random")
	}
	ks := open(t, Options{})
	with(ks, ks.NewTx(), 0, 1, func(tx *Tx) {
		for _, step := range []int{3, 20, 70} {
			key, n, moves := fmt.Appendf(nil, "step:%d", step), 2, 0
			if _, err := tx.Splice(key, TypeList, Listpack, 0, 0, 2); err != nil {
				t.Fatal(err)
			}
			var last arena.Ref
			for ; n+step <= PackedMax; n += step {
				b, err := tx.Splice(key, TypeList, Listpack, n, 0, step)
				if err != nil || len(b) != n+step {
					t.Fatal(len(b), err)
				}
				b[0]++
				if r := tx.cur.rec; r.ref != last {
					moves, last = moves+1, r.ref
				}
				if room := ks.heap.Cap(last); room > n+step+len(key)+40+n/6 {
					t.Fatalf("%d bytes take %d", n+step, room)
				}
			}
			if moves > 70 {
				t.Errorf("%d moves up to %d bytes in steps of %d", moves, n, step)
			}
			for ; n > step+2; n -= step {
				if _, err := tx.Splice(key, TypeList, Listpack, 2, step, 0); err != nil {
					t.Fatal(err)
				}
				if room := ks.heap.Cap(tx.cur.rec.ref); room > 2*n+64 {
					t.Fatalf("%d bytes take %d while it shrinks", n, room)
				}
			}
			tx.Touched(key, ClassList, "")
		}
	})
}

// TestStreamStays leaves a stream without entries where it is, unlike other types.
func TestStreamStays(t *testing.T) {
	ks := open(t, Options{})
	with(ks, ks.NewTx(), 0, 1, func(tx *Tx) {
		for typ := TypeList; typ <= TypeStream; typ++ {
			for i, put := range []func(k []byte) error{
				func(k []byte) error { return tx.PutPacked(k, typ, Listpack, []byte{0, 0}, NoExpiry) },
				func(k []byte) error { return tx.PutObject(k, typ, &toy{}, NoExpiry) },
			} {
				k := fmt.Appendf(nil, "%v %d", typ, i)
				if err := put(k); err != nil {
					t.Fatal(err)
				}
				tx.Touched(k, ClassGeneric, "made")
				if got, want := tx.Exists(k), typ == TypeStream; got != want {
					t.Errorf("%s is there: %v", k, got)
				}
			}
		}
		m, _ := tx.Meta([]byte("stream 0"))
		if m.Encoding != "stream" || m.Len != 0 {
			t.Errorf("an empty stream is a %s of %d", m.Encoding, m.Len)
		}
	})
}

// TestNoAllocationsPacked holds reading and changing packed collections free of allocations.
func TestNoAllocationsPacked(t *testing.T) {
	if invariants.Enabled || raceEnabled {
		t.Skip("checked builds allocate")
	}
	ks := open(t, Options{Shards: 1})
	tx := ks.NewTx()
	key, val := []byte("key"), make([]byte, 300)
	val[0] = 1
	with(ks, tx, 0, 1, func(tx *Tx) { tx.PutPacked([]byte("other"), TypeHash, Listpack, val, NoExpiry) })
	f := func(what string, fn func()) {
		t.Helper()
		if a := testing.AllocsPerRun(1000, func() { one(ks, tx, key, true, fn) }); a != 0 {
			t.Errorf("%s: %v allocations", what, a)
		}
	}
	f("make and drop", func() {
		b, _ := tx.Splice(key, TypeHash, Listpack, 0, 0, 30)
		copy(b, "\x01\x00")
		tx.Touched(key, ClassHash, "hset")
		tx.Delete(key)
	})
	with(ks, tx, 0, 1, func(tx *Tx) { tx.PutPacked(key, TypeHash, Listpack, val, NoExpiry) })
	f("read", func() { tx.Collection(key, TypeHash) })
	n := 0
	f("grow and shrink", func() {
		if n++; n%2 == 0 {
			tx.Splice(key, TypeHash, Listpack, 20, 0, 100)
		} else {
			tx.Splice(key, TypeHash, Listpack, 20, 100, 0)
		}
	})
}

// BenchmarkSplice changes packed collections as a push and a pop do.
func BenchmarkSplice(b *testing.B) {
	for _, size := range []int{50, 500, 4000} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			ks := open(b, Options{})
			tx := ks.NewTx()
			key := []byte("key:00000000001")
			one(ks, tx, key, true, func() {
				val, _ := tx.Splice(key, TypeHash, Listpack, 0, 0, size)
				val[0] = 1
			})
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				one(ks, tx, key, true, func() {
					if i++; i&1 == 0 {
						tx.Splice(key, TypeHash, Listpack, 2, 20, 0)
					} else {
						tx.Splice(key, TypeHash, Listpack, size, 0, 20)
					}
					tx.Touched(key, ClassHash, "hset")
				})
			}
		})
	}
	b.Run("read", func(b *testing.B) {
		ks := open(b, Options{})
		tx := ks.NewTx()
		key := []byte("key:00000000001")
		one(ks, tx, key, true, func() {
			val, _ := tx.Splice(key, TypeHash, Listpack, 0, 0, 100)
			val[0] = 1
		})
		b.ReportAllocs()
		for b.Loop() {
			one(ks, tx, key, false, func() { tx.Collection(key, TypeHash) })
		}
	})
}
