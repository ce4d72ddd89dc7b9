package db

import (
	"encoding/binary"

	"heddle/db/arena"
)

// A record is one block of arena memory that holds a key, its metadata and its
// value, or a handle of the value. Its bytes, little endian, unaligned:
//
//	0     type (low 4 bits), kind (high 4 bits)
//	1     flags
//	2     key length      \ narrow form; in the wide form 2 bytes are unused,
//	3     value length    / then key length and value length follow, 4 bytes each
//	      expiry, 8 bytes, if flagExpire
//	      stamp, 8 bytes, if flagStamp
//	      key
//	      value: kindInt 8 bytes, kindBig and kindObject a 4-byte handle,
//	      else the bytes (of a small collection: its count and its elements,
//	      packed), after which the block may have room to grow
//
// The narrow form serves keys and values of at most 255 bytes: a 15-byte key
// with a 32-byte value takes 51 bytes. The value length of a kind whose size
// is implied is 0.
//
// A record value is four words, so that it is kept in registers: where key and
// value begin is computed when it is asked for.
type record struct {
	b   []byte // the record up to the end of its value
	ref arena.Ref
}

// kind says how a record's value is stored.
type kind uint8

const (
	kindInt      kind = iota // an integer that stands for its decimal spelling
	kindEmb                  // bytes that OBJECT ENCODING calls embstr
	kindRaw                  // bytes that OBJECT ENCODING calls raw
	kindListpack             // a small collection, packed as a listpack
	kindIntset               // a small collection, packed as an intset
	kindLoose                // a small collection, packed as a listpack, that has another name
	kindBig                  // a handle of a Big (raw)
	kindObject               // a handle of an Object
)

// hasHandle reports whether the value is a handle.
func (k kind) hasHandle() bool { return k >= kindBig }

// packed reports whether the value is a small collection, see Coll.
func (k kind) packed() bool { return k >= kindListpack && k <= kindLoose }

// Flags of a record.
const (
	flagWide   = 1 << iota // wide form
	flagExpire             // has an expiry
	flagStamp              // has a stamp
	flagTimer              // the expiry index has an entry that is due no later than the expiry
)

const (
	narrowHeader = 4
	wideHeader   = 12
	narrowMax    = 255
	intSize      = 8
	handleSize   = 4
	// embMax is the longest string that is embstr.
	embMax = 44
)

// headerSize returns where the key begins in a record with these flags.
func headerSize(flags uint8) int { return headerSizes[flags&(flagWide|flagExpire|flagStamp)] }

// headerSizes is indexed by flags. (Counting their bits is slower.)
var headerSizes = [8]int{
	narrowHeader, wideHeader, narrowHeader + 8, wideHeader + 8,
	narrowHeader + 8, wideHeader + 8, narrowHeader + 16, wideHeader + 16,
}

// openRecord decodes the record at ref.
func openRecord(h *arena.Heap, ref arena.Ref) record {
	b := h.Bytes(ref, narrowHeader)
	flags := b[1]
	klen, vlen := int(b[2]), int(b[3])
	if flags&flagWide != 0 {
		b = h.Bytes(ref, wideHeader)
		klen = int(binary.LittleEndian.Uint32(b[4:]))
		vlen = int(binary.LittleEndian.Uint32(b[8:]))
	}
	if vlen == 0 {
		vlen = impliedSize(kind(b[0] >> 4))
	}
	return record{h.Bytes(ref, headerSize(flags)+klen+vlen), ref}
}

// keyAt returns where the key begins, keyLen how long it is.
func (r *record) keyAt() int { return headerSize(r.b[1]) }
func (r *record) keyLen() int {
	if r.b[1]&flagWide != 0 {
		return int(binary.LittleEndian.Uint32(r.b[4:]))
	}
	return int(r.b[2])
}

// valAt returns where the value begins.
func (r *record) valAt() int { return r.keyAt() + r.keyLen() }

// impliedSize is the size of a value whose length is not written down.
func impliedSize(k kind) int {
	switch k {
	case kindInt:
		return intSize
	case kindBig, kindObject:
		return handleSize
	}
	return 0
}

func (r *record) typ() Type      { return Type(r.b[0] & 15) }
func (r *record) kind() kind     { return kind(r.b[0] >> 4) }
func (r *record) flags() uint8   { return r.b[1] }
func (r *record) key() []byte    { return r.b[r.keyAt():r.valAt():r.valAt()] }
func (r *record) val() []byte    { return r.b[r.valAt():] }
func (r *record) int() int64     { return int64(binary.LittleEndian.Uint64(r.b[r.valAt():])) }
func (r *record) setInt(n int64) { binary.LittleEndian.PutUint64(r.b[r.valAt():], uint64(n)) }

// handle returns the value's index among the shard's handles.
func (r *record) handle() uint32 { return binary.LittleEndian.Uint32(r.b[r.valAt():]) }

// expiryAt is where the expiry stands, if there is one.
func (r *record) expiryAt() int {
	return narrowHeader + int(r.b[1]&flagWide)*(wideHeader-narrowHeader)
}

// expire returns the key's deadline, NoExpiry if it has none.
func (r *record) expire() Expiry {
	if r.b[1]&flagExpire == 0 {
		return NoExpiry
	}
	return Expiry(binary.LittleEndian.Uint64(r.b[r.expiryAt():]))
}

// expired reports whether the key's time has come.
func (r *record) expired(now Millis) bool {
	return r.b[1]&flagExpire != 0 && now > r.expire()
}

// setExpire changes the deadline of a record that has one.
func (r *record) setExpire(at Expiry) {
	binary.LittleEndian.PutUint64(r.b[r.expiryAt():], uint64(at))
}

func (r *record) setFlag(f uint8, on bool) {
	if on {
		r.b[1] |= f
	} else {
		r.b[1] &^= f
	}
}

func (r *record) setKind(t Type, k kind) { r.b[0] = byte(t) | byte(k)<<4 }

// setLen changes the length of a value of bytes and returns the value. The
// block has room, and a narrow record stays narrow.
func (r *record) setLen(h *arena.Heap, n int) []byte {
	if r.b[1]&flagWide != 0 {
		binary.LittleEndian.PutUint32(r.b[8:], uint32(n))
	} else {
		r.b[3] = byte(n)
	}
	r.b = h.Bytes(r.ref, r.valAt()+n)
	return r.val()
}

// shape is what a new record is to be.
type shape struct {
	typ    Type
	kind   kind
	key    []byte
	vlen   int // bytes of the value
	room   int // bytes that a value of bytes may grow to in place; at least vlen
	expire Expiry
	timer  bool // flagTimer
}

// flags returns the flags of a record of this shape.
func (s *shape) flags() uint8 {
	var f uint8
	if len(s.key) > narrowMax || s.room > narrowMax || s.vlen > narrowMax {
		f |= flagWide
	}
	if s.expire != NoExpiry {
		f |= flagExpire
	}
	if s.timer {
		f |= flagTimer
	}
	return f
}

// newRecord allocates a record with everything but its value written; ok is
// false when memory is out.
func newRecord(h *arena.Heap, a *arena.Arena, s *shape) (r record, ok bool) {
	f := s.flags()
	keyAt := headerSize(f)
	valAt := keyAt + len(s.key)
	ref := a.Alloc(valAt + max(s.room, s.vlen))
	if ref == 0 {
		return record{}, false
	}
	b := h.Bytes(ref, valAt+s.vlen)
	b[0], b[1] = byte(s.typ)|byte(s.kind)<<4, f
	vlen := s.vlen
	if impliedSize(s.kind) != 0 {
		vlen = 0
	}
	if f&flagWide != 0 {
		b[2], b[3] = 0, 0
		binary.LittleEndian.PutUint32(b[4:], uint32(len(s.key)))
		binary.LittleEndian.PutUint32(b[8:], uint32(vlen))
	} else {
		b[2], b[3] = byte(len(s.key)), byte(vlen)
	}
	r = record{b, ref}
	if f&flagExpire != 0 {
		r.setExpire(s.expire)
	}
	copy(b[keyAt:], s.key)
	return r, true
}

// keyring lets the table read records: it implements table.Keys.
type keyring struct {
	heap *arena.Heap
	hash func(key []byte) uint64
}

// Equal reports whether the record at ref has this key.
func (k *keyring) Equal(ref arena.Ref, key []byte) bool {
	b := k.heap.Bytes(ref, narrowHeader)
	flags, klen := b[1], int(b[2])
	if flags&flagWide != 0 {
		klen = int(binary.LittleEndian.Uint32(k.heap.Bytes(ref, wideHeader)[4:]))
	}
	if klen != len(key) {
		return false
	}
	at := headerSize(flags)
	return string(k.heap.Bytes(ref, at+klen)[at:]) == string(key)
}

// Hash returns the hash of the record's key.
func (k *keyring) Hash(ref arena.Ref) uint64 {
	r := openRecord(k.heap, ref)
	return k.hash(r.key())
}

// setHandle changes the handle.
func (r *record) setHandle(h uint32) { binary.LittleEndian.PutUint32(r.b[r.valAt():], h) }

// Key returns the key of the record at ref.
func (k *keyring) Key(ref arena.Ref) []byte {
	r := openRecord(k.heap, ref)
	return r.key()
}
