package rdb

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// The entries of a file, as the cutter sees them.

// Facts that belong to a key, not to the file. KeyDB writes them.
const (
	auxStamp     = "mvcc-tstamp"          // in front of a key
	auxSubKey    = "keydb-subexpire-key"  // behind a key, in pairs: a member
	auxSubWhen   = "keydb-subexpire-when" // and when it expires, ms in decimal
	maxVersion   = 12                     // newest version that is read
	oldestDigest = 5                      // oldest version with a checksum
)

// signature is how files begin; four digits of version follow.
const signature = "REDIS"

// file reads all of it.
func (c *cutter) file() error {
	whole := false
	defer func() {
		c.l.cut.Store(!whole)
		c.endStream()
	}()
	c.header()
	for c.err == nil && c.entry() {
	}
	if c.err == nil {
		c.account(c.pos)
	}
	whole = c.err == nil
	return c.err
}

// header reads signature and version.
func (c *cutter) header() {
	const size = len(signature) + 4
	if !c.need(size, "the signature REDIS and a version") {
		return
	}
	head := string(c.buf[:size])
	v, err := strconv.Atoi(head[len(signature):])
	switch {
	case head[:len(signature)] != signature:
		c.fail(0, "expected the signature REDIS, found %q", head[:len(signature)])
		c.wrap(ErrSignature)
	case err != nil || v < 1 || v > maxVersion:
		c.fail(int64(len(signature)), "expected a version from 1 to %d, found %q", maxVersion, head[len(signature):])
		c.wrap(ErrVersion)
	}
	c.result.Version = v
	c.pos = size
	c.pass()
}

// entry reads an entry; false at the end of the file.
func (c *cutter) entry() bool {
	at := c.offset()
	op := c.byte("an opcode")
	for prefixed := false; c.err == nil; prefixed = true {
		switch {
		case c.prefix(op):
			op = c.byte("the type of a value")
		case op < opSlotInfo:
			c.keyEntry(op)
			return true
		case prefixed:
			c.fail(c.offset()-1, "expected a key behind its expiry, found opcode %d", op)
		default:
			return c.other(op, at)
		}
	}
	return false
}

// prefix passes what stands in front of a key, and reports whether op is the opcode of that.
func (c *cutter) prefix(op byte) bool {
	switch op {
	case opExpireMillis:
		c.skip(8, "an expiry")
	case opExpireSeconds:
		c.skip(4, "an expiry")
	case opFreq:
		c.skip(1, "an access counter")
	case opIdle:
		c.length("an idle time")
	case opAux:
		if !c.ahead(0, auxStamp) {
			return false
		}
		c.string("the name of a fact")
		c.string("a fact")
	default:
		return false
	}
	return true
}

// ahead reports whether a short string follows after some bytes.
func (c *cutter) ahead(after int, s string) bool {
	if !c.need(after+1, "the name of a fact") || int(c.buf[c.pos+after]) != len(s) {
		return false
	}
	if !c.need(after+1+len(s), "the name of a fact") {
		return false
	}
	return string(c.buf[c.pos+after+1:c.pos+after+1+len(s)]) == s
}

// keyEntry passes a key of a type, with what belongs to it behind it.
func (c *cutter) keyEntry(typ byte) {
	at := c.offset() - 1
	if typ == typeModule2 || typ == typeModulePreGA {
		c.module(at)
		return
	}
	if !known(typ) && typ != typeCron {
		c.fail(at, "%s", unknownType(typ))
		return
	}
	c.string("a key")
	c.value(typ)
	for c.need(1, "an opcode") && c.buf[c.pos] == opAux && (c.ahead(1, auxSubKey) || c.ahead(1, auxSubWhen)) {
		c.pos++
		c.string("the name of a fact")
		c.string("a fact")
	}
	if c.err == nil {
		c.key()
	}
}

// module says that a value of a module cannot be loaded.
func (c *cutter) module(at int64) {
	c.flush()
	key := c.text("a key")
	id := c.length("the number of a module's type")
	c.fail(at, "expected a type of value, found one of module type %q, and there are no modules", moduleName(id))
	if e, ok := c.err.(*Error); ok {
		e.Key = string(key)
	}
}

// moduleName returns the name that is in the number of a module's type: 9 characters of 6
// bits, above 10 bits of version.
func moduleName(id uint64) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	var name [9]byte
	id >>= 10
	for i := len(name) - 1; i >= 0; i-- {
		name[i] = letters[id&63]
		id >>= 6
	}
	return string(name[:])
}

// value passes a value.
func (c *cutter) value(typ byte) {
	switch typ {
	case typeString, typeHashZipmap, typeListZiplist, typeSetIntset, typeZSetZiplist, typeHashZiplist,
		typeHashListpack, typeZSetListpack, typeSetListpack, typeHashListpackExGA:
		c.string("a value")
	case typeHashListpackEx:
		c.skip(8, "the first deadline")
		c.string("a value")
	case typeStream, typeStream2, typeStream3:
		c.streamValue(typ)
	case typeCron:
		c.string("a script")
		c.skip(16, "times")
		c.each("a number of keys", func() { c.string("a key") })
		c.each("a number of arguments", func() { c.string("an argument") })
	default:
		if typ == typeHashMeta {
			c.skip(8, "the first deadline")
		}
		c.each("a number of elements", c.elementOf(typ))
	}
}

// each passes a number and as many of what one passes.
func (c *cutter) each(what string, one func()) {
	n := c.length(what)
	for ; n > 0 && c.err == nil; n-- {
		one()
	}
}

// elementOf returns what passes an element of a collection.
func (c *cutter) elementOf(typ byte) func() {
	switch typ {
	case typeHash:
		return func() {
			c.string("a field")
			c.string("a value")
		}
	case typeHashMeta, typeHashMetaPreGA:
		return func() {
			c.length("a deadline")
			c.string("a field")
			c.string("a value")
		}
	case typeZSet2:
		return func() {
			c.string("a member")
			c.skip(8, "a score")
		}
	case typeZSet:
		return func() {
			c.string("a member")
			if n := c.byte("a score"); n < 253 {
				c.skip(uint64(n), "a score")
			}
		}
	case typeListQuicklist2:
		return func() {
			c.length("the kind of a node")
			c.string("a node")
		}
	}
	return func() { c.string("an element") }
}

// streamValue passes a stream, see decode_stream.go.
func (c *cutter) streamValue(typ byte) {
	c.each("a number of nodes", func() {
		c.string("the first ID of a node")
		c.string("a node")
	})
	facts, seen := 3, uint64(8)
	if typ != typeStream {
		facts = 8
	}
	if typ == typeStream3 {
		seen = 16
	}
	for range facts {
		c.length("a fact about a stream")
	}
	c.each("a number of groups", func() {
		c.string("the name of a group")
		c.length("the last ID of a group")
		c.length("the last ID of a group")
		if typ != typeStream {
			c.length("the number of entries that a group read")
		}
		c.each("a number of pending entries", func() {
			c.skip(24, "a pending entry")
			c.length("the number of deliveries")
		})
		c.each("a number of consumers", func() {
			c.string("the name of a consumer")
			c.skip(seen, "the times of a consumer")
			c.each("a number of pending entries", func() { c.skip(16, "the ID of a pending entry") })
		})
	})
}

// other reads an entry that is no key; false at the end of the file.
func (c *cutter) other(op byte, at int64) bool {
	c.flush()
	switch op {
	case opEOF:
		c.end()
		return false
	case opSelectDB:
		n := c.length("the number of a database")
		if n >= uint64(c.l.databases()) {
			c.fail(at, "expected a database below %d, found %d", c.l.databases(), n)
			return false
		}
		c.db = int(n)
	case opResizeDB:
		keys := c.length("a number of keys")
		c.length("a number of keys that expire")
		c.reserve(keys)
	case opSlotInfo:
		for range 3 {
			c.length("a fact about a slot")
		}
	case opAux:
		c.aux(string(c.text("the name of a fact")), string(c.text("a fact")))
	case opFunction:
		c.function(c.text("a library of functions"))
	case opFunctionPreGA:
		c.fail(at, "expected a library of functions, found one in the form of release candidates of Redis 7.0")
	case opModuleAux:
		c.moduleAux()
	}
	c.pass()
	return c.err == nil
}

// reserve makes room for keys that are announced, in all databases together no more than
// the file can hold: a key takes 3 bytes at least.
func (c *cutter) reserve(keys uint64) {
	most := uint64(1 << 20)
	if c.size > 0 {
		most = uint64(max(c.size-c.offset(), 0)) / 3
	}
	keys = min(keys, most-min(most, c.reserved))
	if c.err == nil && c.l.ks != nil {
		c.l.ks.Reserve(c.db, int64(keys))
		c.reserved += keys
	}
}

// function hands a library of functions on.
func (c *cutter) function(code []byte) {
	switch {
	case c.err != nil:
	case c.l.o.Function == nil:
		c.result.Functions = append(c.result.Functions, code)
	default:
		c.err = c.l.o.Function(code)
	}
}

// moduleAux passes data of a module that belongs to no key.
func (c *cutter) moduleAux() {
	id := c.length("the number of a module's type")
	c.length("an opcode of a module")
	c.length("when data of a module is loaded")
	for c.err == nil {
		at := c.offset()
		switch part := c.length("an opcode of a module"); part {
		case 0:
			if c.err == nil {
				c.l.warn(fmt.Sprintf("Skipping data of module type '%s' in the RDB file: there are no modules", moduleName(id)))
			}
			return
		case 1, 2:
			c.length("a number of a module")
		case 3:
			c.skip(4, "a number of a module")
		case 4:
			c.skip(8, "a number of a module")
		case 5:
			c.string("a string of a module")
		default:
			c.fail(at, "expected an opcode of a module, found %d", part)
		}
	}
}

// end reads the checksum.
func (c *cutter) end() {
	if c.result.Version < oldestDigest {
		return
	}
	c.account(c.pos)
	if !c.need(8, "the checksum") {
		return
	}
	want := binary.LittleEndian.Uint64(c.buf[c.pos:])
	got := c.sum.Sum()
	at := c.offset()
	c.pos += 8
	c.summed = c.pos
	switch {
	case c.l.o.NoChecksum:
	case want == 0:
		c.l.log("RDB file was saved with checksum disabled: no check performed.")
	case want != got:
		c.fail(at, "Wrong RDB checksum expected: (%x) but got (%x)", want, got)
		c.wrap(ErrChecksum)
	}
}
