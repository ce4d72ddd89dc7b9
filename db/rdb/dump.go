package rdb

import (
	"encoding/binary"

	"heddle/db"
	"heddle/db/hash"
)

// DumpFormat say what a payload is to be like.
type DumpFormat struct {
	// Version is that of the payload: 10, 11 or 12; 0 as for SaveOptions.
	Version  int
	Compress bool
	Now      db.Millis // members whose time has come are left out
	Limits   *db.Limits
}

// AppendDump appends the payload of DUMP for an item to dst: type and value as in a file,
// the version in 2 bytes and the checksum of all that in 8, little endian. Deadlines of
// members that the version has no form for stand between value and version, as aux fields:
// Redis does not look at what follows a value. It appends nothing if no member is left.
func AppendDump(dst []byte, it *db.Item, o DumpFormat) []byte {
	start := len(dst)
	e := encoder{buf: dst, version: o.Version, bare: true, now: o.Now}
	if o.Version == 0 {
		e.version, e.raise = Version72, true
	}
	if o.Limits != nil {
		e.limits = *o.Limits
	} else {
		e.limits = db.DefaultLimits()
	}
	if o.Compress {
		e.lzf = new(compressor)
	}
	if !e.value(it) {
		return dst
	}
	e.buf = binary.LittleEndian.AppendUint16(e.buf, uint16(e.version))
	sum := NewChecksum()
	sum.Add(e.buf[start:])
	return binary.LittleEndian.AppendUint64(e.buf, sum.Sum())
}

// hasDeadlines reports whether fields of a hash have deadlines.
func hasDeadlines(it *db.Item) bool {
	o, _ := it.Coll.Object.(*hash.Object)
	return o != nil && o.NextDeadline() != 0
}
