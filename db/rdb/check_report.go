package rdb

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"heddle/db"
)

// CheckMain is the program redis-check-rdb: args are those behind its name, now is the instant
// by which keys count as expired. It returns the exit code.
func CheckMain(args []string, stdout io.Writer, now db.Millis) int {
	if len(args) != 1 && len(args) != 2 {
		fmt.Fprintln(stdout, "Usage: redis-check-rdb <rdb-file-name>")
		return 1
	}
	f, err := os.Open(args[0])
	if err != nil {
		fmt.Fprintf(stdout, "[offset 0] Checking RDB file %s\n%v\n", args[0], err)
		return 1
	}
	defer f.Close()
	if Check(f, args[0], stdout, now) != nil {
		return 1
	}
	return 0
}

// header reads signature and version.
func (c *checker) header() {
	const size = len(signature) + 4
	var room [16]byte
	head := string(c.d.fixed(size, "the signature REDIS and a version", &room))
	if c.d.err != nil {
		return
	}
	if head[:len(signature)] != signature {
		c.d.fail(int64(size), "Wrong signature trying to load DB from file")
		c.d.err.Err = ErrSignature
		return
	}
	var err error
	if c.version, err = strconv.Atoi(head[len(signature):]); err != nil || c.version < 1 || c.version > maxVersion {
		c.d.fail(int64(size), "Can't handle RDB format version %s", trimZeros(head[len(signature):]))
		c.d.err.Err = ErrVersion
	}
}

// trimZeros returns a version without leading zeros.
func trimZeros(s string) string {
	if n, err := strconv.Atoi(s); err == nil {
		return strconv.Itoa(n)
	}
	return s
}

// entry reads an entry; false at the end of the file.
func (c *checker) entry() bool {
	d := c.d
	at := db.Millis(db.NoExpiry)
	for d.err == nil {
		c.doing = "read-type"
		op := d.byte("an opcode")
		if d.err != nil {
			break
		}
		switch op {
		case opExpireMillis:
			c.doing = "read-expire"
			at = d.millis("an expiry")
		case opExpireSeconds:
			c.doing = "read-expire"
			var room [16]byte
			b := d.fixed(4, "an expiry", &room)
			at = db.Millis(int32(uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24)) * 1000
		case opFreq:
			d.byte("an access counter")
		case opIdle:
			d.length("an idle time")
		case opEOF:
			c.end()
			return false
		case opSelectDB, opResizeDB, opSlotInfo, opAux, opModuleAux, opFunction, opFunctionPreGA:
			c.other(op)
		default:
			c.value(op, at)
			return true
		}
	}
	return false
}

// other reads an entry that is no key.
func (c *checker) other(op byte) {
	d := c.d
	switch op {
	case opSelectDB:
		c.doing = "read-len"
		if n := d.length("the number of a database"); d.err == nil {
			c.say(d.offset(), "Selecting DB ID %d", n)
		}
	case opResizeDB, opSlotInfo:
		c.doing = "read-len"
		d.length("a number of keys")
		d.length("a number of keys")
		if op == opSlotInfo {
			d.length("a number of keys")
		}
	case opAux:
		c.doing = "read-aux"
		c.key = append(c.key[:0], d.string("the name of a fact", &c.aux)...)
		value := d.string("a fact", &c.aux)
		if d.err == nil {
			c.say(d.offset(), "AUX FIELD %s = '%s'", c.key, value)
		}
	case opModuleAux:
		c.doing = "read-module-aux"
		name := moduleName(d.length("the number of a module's type"))
		d.length("an opcode of a module")
		d.length("when data of a module is loaded")
		c.moduleParts()
		if d.err == nil {
			c.say(d.offset(), "MODULE AUX for: %s", name)
		}
	case opFunctionPreGA:
		c.doing = "read-functions"
		d.fail(d.offset(), "Pre-release function format not supported.")
	default:
		c.doing = "read-functions"
		d.string("a library of functions", &c.aux)
	}
}

// moduleParts passes what a module wrote.
func (c *checker) moduleParts() {
	for d := c.d; d.err == nil; {
		at := d.offset()
		switch part := d.length("an opcode of a module"); part {
		case 0:
			return
		case 1, 2:
			d.length("a number of a module")
		case 3:
			var room [16]byte
			d.fixed(4, "a number of a module", &room)
		case 4:
			d.uint64("a number of a module")
		case 5:
			d.string("a string of a module", &c.aux)
		default:
			d.fail(at, "expected an opcode of a module, found %d", part)
		}
	}
}

// value reads a key and its value.
func (c *checker) value(typ byte, at db.Millis) {
	d := c.d
	if !known(typ) && typ != typeModule2 && typ != typeCron {
		d.fail(d.offset(), "Invalid object type: %d", typ)
		return
	}
	c.typ, c.doing = int(typ), "read-key"
	key := append(c.key[:0], d.string("a key", &c.aux)...)
	if d.err != nil {
		return
	}
	c.key, c.hasKey, c.doing = key, true, "read-object-value"
	c.keys++
	if at != db.NoExpiry {
		c.expires++
		if at < d.now {
			c.expired++
		}
	}
	switch typ {
	case typeModule2:
		d.length("the number of a module's type")
		c.moduleParts()
	case typeCron:
		c.w.skipCron(key)
	default:
		if _, fate := d.value(typ); fate == fateEmpty {
			d.fail(d.offset(), "expected a collection with elements, found none: loading skips it")
		}
	}
	if d.err == nil {
		c.typ, c.hasKey = -1, false
	}
}

// end reads the checksum.
func (c *checker) end() {
	d := c.d
	if c.version < oldestDigest {
		return
	}
	c.doing = "check-sum"
	c.account()
	got := c.sum.Sum()
	want := d.uint64("the checksum")
	switch {
	case d.err != nil:
	case want == 0:
		c.say(d.offset(), "RDB file was saved with checksum disabled: no check performed.")
	case want != got:
		d.fail(d.offset(), "expected the checksum %x, found %x", got, want)
		d.err.Err = ErrChecksum
	default:
		c.say(d.offset(), "Checksum OK")
	}
}
