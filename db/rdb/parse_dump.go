package rdb

import (
	"encoding/binary"
	"errors"
	"fmt"

	"heddle/db"
)

// Errors of ParseDump, as RESTORE words them.
var (
	ErrDumpVersion = errors.New("DUMP payload version or checksum are wrong")
	ErrDumpFormat  = errors.New("Bad data format")
)

// DumpOptions are options of ParseDump.
type DumpOptions struct {
	Limits      *db.Limits        // when collections change their encoding; nil: Redis' own
	Now         db.Millis         // members whose time has come by then are left out
	NewBig      func(int) *db.Big // makes room for a long string, see db.Txn.NewBig; nil: it is copied when it is put
	Version     int               // the newest version taken; 0: all that are known
	KeepExpired bool              // members whose time has come stay
	NoChecksum  bool              // the checksum is not looked at, as DEBUG SET-SKIP-CHECKSUM-VALIDATION wants
}

// dumpFooter is how many bytes of version and checksum a payload ends with.
const dumpFooter = 2 + 8

// ParseDump makes a value of a payload of DUMP: type, value, perhaps deadlines of members as
// KeyDB's facts, two bytes of version, eight of checksum. All of the value is verified. Errors
// are ErrDumpVersion, one that wraps ErrDumpFormat and says what is wrong, and
// db.ErrOutOfMemory.
func ParseDump(payload []byte, o DumpOptions) (Value, error) {
	n := len(payload) - dumpFooter
	newest := o.Version
	if newest == 0 {
		newest = maxVersion
	}
	if n < 1 || int(binary.LittleEndian.Uint16(payload[n:])) > newest {
		return Value{}, ErrDumpVersion
	}
	sum := NewChecksum()
	sum.Add(payload[:n+2])
	if !o.NoChecksum && sum.Sum() != binary.LittleEndian.Uint64(payload[n+2:]) {
		return Value{}, ErrDumpVersion
	}
	return parseValue(payload[:n:n], &o)
}

// parseValue makes a value of a type, a value and what may stand behind it.
func parseValue(b []byte, o *DumpOptions) (Value, error) {
	limits := o.Limits
	if limits == nil {
		l := db.DefaultLimits()
		limits = &l
	}
	w := worker{d: decoder{limits: limits, now: o.Now, keepDue: o.KeepExpired, newBig: o.NewBig}}
	d := &w.d
	d.buf = b
	typ := d.byte("the type of a value")
	v, fate := d.value(typ)
	if d.err == nil {
		w.subexpires()
	}
	if d.err == nil && len(w.subs) > 0 && fate == fateKept {
		fate = d.expireMembers(&v, w.subs)
	}
	switch {
	case d.err != nil && errors.Is(d.err, db.ErrOutOfMemory):
		v.Release()
		return Value{}, db.ErrOutOfMemory
	case d.err != nil:
		v.Release()
		return Value{}, fmt.Errorf("%w: %w", ErrDumpFormat, d.err)
	case fate == fateEmpty:
		return Value{}, fmt.Errorf("%w: expected a collection with elements, found none", ErrDumpFormat)
	case fate == fateExpired:
		return Value{typ: v.typ, gone: true}, nil
	}
	return v, nil
}

// Empty reports whether the time of all members has come, so that there is nothing to be put.
func (v Value) Empty() bool { return v.gone }
