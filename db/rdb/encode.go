package rdb

import (
	"encoding/binary"
	"strconv"

	"heddle/db"
)

// An encoder writes keys as entries of a file. A value becomes what redis-server 7.2 would
// write for it: the name that OBJECT ENCODING has for it decides, not how it is kept here.
// So a hash that goes by the name of listpack is written as one, though its bytes are other
// ones here, and Redis that loads the file has the encodings that it would have had itself.
//
// What is small is appended to one buffer. What is large goes through it in pieces: after
// each element the encoder looks whether the buffer is full, and then gives it to its
// sink and gets an empty one; until the value is at its end nobody else's bytes come in
// between. So a collection of any size needs a buffer. The exceptions are blobs, whose
// length stands in front: nodes of lists and streams and collections that Redis would pack,
// which are as large as Redis' limits let them be, and strings that are to be compressed.
//
// Member deadlines. Files of version 12 have a form for fields of hashes. For all others
// KeyDB's is used: pairs of aux fields behind the key, which Redis ignores, so that it has
// the members without their deadlines.
//
// Limits: strings of more than maxCompressed bytes are not compressed.
type encoder struct {
	buf  []byte
	sink sink // nil: all stays in buf

	version int  // of the file
	raise   bool // to version 12, when a field of a hash has a deadline
	bare    bool // without keys
	limits  db.Limits
	now     db.Millis
	lzf     *compressor  // nil: nothing is compressed
	access  *db.Settings // nil: access clocks are not written

	halted bool     // nothing is wanted any more
	it     *db.Item // being written
	packed []byte   // a blob that is being made
	order  []timedField
}

// sink takes what an encoder has written.
type sink interface {
	// part takes a full buffer in the middle of a value, and returns an empty one; ok is
	// false when the rest is not wanted any more.
	part(buf []byte) (empty []byte, ok bool)
}

const (
	// chunk is from which size on a buffer is full.
	chunk = 256 << 10
	// maxCompressed is the longest string that is compressed: it takes as much memory
	// again meanwhile.
	maxCompressed = 32 << 20
	// maxBlob is how large a blob may become. Redis' own limits are far below it unless
	// somebody raised them.
	maxBlob = 64 << 20
)

// room gives the buffer away if it is full.
func (e *encoder) room() {
	if len(e.buf) >= chunk && e.sink != nil {
		var ok bool
		if e.buf, ok = e.sink.part(e.buf); !ok {
			e.halted = true
		}
	}
}

// on reports whether the value at hand is still wanted.
func (e *encoder) on() bool { return !e.halted }

// element is called behind every element of a collection.
func (e *encoder) element() {
	e.it.Breathe()
	e.room()
}

// key appends an entry: its deadline, how it was used, type, key, value. It appends
// nothing, and returns false, when the value is a collection of which no member is left.
func (e *encoder) key(it *db.Item) bool {
	before := len(e.buf)
	if it.Expire != db.NoExpiry {
		e.buf = append(e.buf, opExpireMillis)
		e.buf = binary.LittleEndian.AppendUint64(e.buf, uint64(it.Expire))
	}
	if e.access != nil {
		e.use(it)
	}
	if !e.value(it) {
		e.buf = e.buf[:before]
		return false
	}
	return true
}

// use appends idle time or frequency, if the eviction policy goes by one of them.
func (e *encoder) use(it *db.Item) {
	switch a := e.access.Access(it.Clock, e.now); {
	case e.access.Policy.LFU():
		e.buf = append(e.buf, opFreq, byte(a.Freq))
	case e.access.Policy.LRU():
		e.buf = appendLength(append(e.buf, opIdle), uint64(a.Idle/1000))
	}
}

// value appends type, key and value, and what stands behind them. It appends nothing, and
// returns false, when no member is left.
func (e *encoder) value(it *db.Item) bool {
	e.it = it
	switch it.Type {
	case db.TypeString:
		e.head(typeString)
		e.str(&it.Str)
	case db.TypeList:
		e.list()
	case db.TypeSet:
		return e.set()
	case db.TypeZSet:
		return e.zset()
	case db.TypeHash:
		return e.hash()
	case db.TypeStream:
		e.stream()
	}
	return true
}

// head appends the type and the key.
func (e *encoder) head(typ byte) {
	e.buf = append(e.buf, typ)
	if !e.bare {
		e.string(e.it.Key)
	}
}

// str appends a string value.
func (e *encoder) str(s *db.Str) {
	if !s.IsInt {
		e.string(s.B)
		return
	}
	var ok bool
	if e.buf, ok = appendInteger(e.buf, s.N); !ok {
		var digits [20]byte
		e.buf = appendRaw(e.buf, strconv.AppendInt(digits[:0], s.N, 10))
	}
}

// string appends a string in the form that Redis would choose.
func (e *encoder) string(s []byte) {
	if len(s) < chunk {
		e.buf = appendString(e.buf, s, e.lzf)
		return
	}
	e.long(s)
}

// blob appends the bytes of something packed.
func (e *encoder) blob(b []byte) {
	if len(b) < chunk {
		e.buf = appendBytes(e.buf, b, e.lzf)
		return
	}
	e.long(b)
}

// long appends a string that may be of any length, in pieces.
func (e *encoder) long(s []byte) {
	if e.lzf == nil || len(s) > maxCompressed {
		e.buf = appendLength(e.buf, uint64(len(s)))
		e.pieces(s)
		return
	}
	packed, ok := e.lzf.compress(nil, s, len(s)-4)
	if !ok {
		e.buf = appendLength(e.buf, uint64(len(s)))
		e.pieces(s)
		return
	}
	e.buf = append(e.buf, lengthForm|formLZF)
	e.buf = appendLength(e.buf, uint64(len(packed)))
	e.buf = appendLength(e.buf, uint64(len(s)))
	e.pieces(packed)
}

// pieces appends bytes as they are.
func (e *encoder) pieces(s []byte) {
	if e.sink == nil {
		e.buf = append(e.buf, s...)
		return
	}
	for {
		n := min(len(s), max(chunk-len(e.buf), 0))
		e.buf = append(e.buf, s[:n]...)
		if s = s[n:]; len(s) == 0 || e.halted {
			return
		}
		e.room()
	}
}

// deadline appends what KeyDB tells of a member's deadline.
func (e *encoder) deadline(member []byte, at db.Millis) {
	var digits [20]byte
	e.buf = append(e.buf, opAux)
	e.buf = appendRaw(e.buf, auxSubexpireKey)
	e.string(member)
	e.buf = append(e.buf, opAux)
	e.buf = appendRaw(e.buf, auxSubexpireWhen)
	e.buf = appendString(e.buf, strconv.AppendInt(digits[:0], int64(at), 10), nil)
	e.element()
}
