package oplog

import (
	"encoding/binary"
	"iter"
	"strconv"
)

// Offset is a place in the log: how many bytes were appended before it, the log's
// own marks between entries included. Offsets only grow; the first is 0.
type Offset = int64

// Effect is one change as others have to repeat it: a deterministic command
// and its database.
type Effect struct {
	DB   int
	Argv [][]byte
}

// Stamp says when an entry was appended: a hybrid logical clock in the upper 56 bits
// (44 of Unix milliseconds, 12 that count what falls into one), and the site that
// appended it in the lower 8. Within a log every stamp is larger than those before
// it; so the milliseconds stand still while the clock goes back, and run ahead of it
// when more than 4096 entries fall into one.
type Stamp uint64

const (
	siteBits  = 8
	countBits = 12
)

// Millis returns the Unix time in milliseconds.
func (s Stamp) Millis() int64 { return int64(s >> (siteBits + countBits)) }

// Site returns the number of the site that appended the entry.
func (s Stamp) Site() uint8 { return uint8(s) }

// stampAfter returns the stamp of an entry that is appended at some Unix millisecond
// behind the one that was stamped last.
func stampAfter(last Stamp, at int64) Stamp {
	now := Stamp(max(at, 0))<<(siteBits+countBits) | last&(1<<siteBits-1)
	if next := last + 1<<siteBits; now < next {
		return next
	}
	return now
}

// Entry is consecutive effects of one group that belong to one database. A group of
// which all effects do is one entry, with First and Last.
type Entry struct {
	Offset Offset // where the entry begins
	End    Offset // and where the next does
	Stamp  Stamp  // that of the group
	DB     int
	// Effects is how many commands RESP holds.
	Effects int
	// First and Last say that the group begins and ends with the entry.
	First, Last bool
	// RESP is the commands as a client would send them. It is the log's memory:
	// valid until the reader releases it, and not to be changed.
	RESP []byte
}

// Batch is some whole groups in order, in the memory of the log. It is valid until
// its reader releases it.
type Batch struct {
	b    []byte
	from Offset
}

// Empty reports whether there is nothing in the batch.
func (b Batch) Empty() bool { return len(b.b) == 0 }

// Offset is where the batch begins, End where the next one does.
func (b Batch) Offset() Offset { return b.from }

// End is described at Offset.
func (b Batch) End() Offset { return b.from + Offset(len(b.b)) }

// Size returns the size of the batch in bytes, somewhat more than that of its commands.
func (b Batch) Size() int { return len(b.b) }

// Entries are the entries in order.
func (b Batch) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for at := 0; at < len(b.b); {
			h := readHeader(b.b[at:])
			end := at + headerSize + h.size
			e := Entry{
				Offset: b.from + Offset(at), End: b.from + Offset(end), Stamp: h.stamp, DB: h.db, Effects: h.effects,
				First: h.flags&flagFirst != 0, Last: h.flags&flagLast != 0, RESP: b.b[at+headerSize : end : end],
			}
			if !yield(e) {
				return
			}
			at = end
		}
	}
}

// headerSize is what stands before each entry: size (8 bytes), stamp (8), effects
// (4), flags (1), database (3). They never leave the process.
const headerSize = 24

const (
	flagFirst = 1 << iota
	flagLast
)

type header struct {
	size    int
	stamp   Stamp
	effects int
	db      int
	flags   uint8
}

func (h *header) write(b []byte) {
	binary.LittleEndian.PutUint64(b, uint64(h.size))
	binary.LittleEndian.PutUint64(b[8:], uint64(h.stamp))
	binary.LittleEndian.PutUint32(b[16:], uint32(h.effects))
	binary.LittleEndian.PutUint32(b[20:], uint32(h.flags)|uint32(h.db)<<8)
}

func readHeader(b []byte) header {
	last := binary.LittleEndian.Uint32(b[20:])
	return header{
		size:    int(binary.LittleEndian.Uint64(b)),
		stamp:   Stamp(binary.LittleEndian.Uint64(b[8:])),
		effects: int(binary.LittleEndian.Uint32(b[16:])),
		flags:   uint8(last), db: int(last >> 8),
	}
}

// AppendCommand appends a command as a client would send it.
func AppendCommand(dst []byte, argv [][]byte) []byte {
	dst = appendLine(dst, '*', len(argv))
	for _, a := range argv {
		dst = appendLine(dst, '$', len(a))
		dst = append(dst, a...)
		dst = append(dst, '\r', '\n')
	}
	return dst
}

func appendLine(dst []byte, kind byte, n int) []byte {
	dst = append(dst, kind)
	if n < 10 {
		dst = append(dst, '0'+byte(n))
	} else {
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	return append(dst, '\r', '\n')
}

// commandSize is how many bytes AppendCommand appends.
func commandSize(argv [][]byte) int {
	n := lineSize(len(argv))
	for _, a := range argv {
		n += lineSize(len(a)) + len(a) + 2
	}
	return n
}

func lineSize(n int) int {
	size := 4
	for ; n >= 10; n /= 10 {
		size++
	}
	return size
}

// groupSize is how many bytes a group takes in the log.
func groupSize(group []Effect) int {
	n := 0
	for i := range group {
		if i == 0 || group[i].DB != group[i-1].DB {
			n += headerSize
		}
		n += commandSize(group[i].Argv)
	}
	return n
}

// appendGroup appends the entries of a group.
func appendGroup(dst []byte, stamp Stamp, group []Effect) []byte {
	for i := 0; i < len(group); {
		h := header{stamp: stamp, db: group[i].DB}
		if i == 0 {
			h.flags |= flagFirst
		}
		at := len(dst)
		dst = append(dst, make([]byte, headerSize)...)
		for ; i < len(group) && group[i].DB == h.db; i++ {
			dst = AppendCommand(dst, group[i].Argv)
			h.effects++
		}
		if i == len(group) {
			h.flags |= flagLast
		}
		h.size = len(dst) - at - headerSize
		h.write(dst[at:])
	}
	return dst
}

// restamp writes a stamp into the entries of a group that were made beforehand.
func restamp(b []byte, stamp Stamp) {
	for at := 0; at < len(b); {
		binary.LittleEndian.PutUint64(b[at+8:], uint64(stamp))
		at += headerSize + int(binary.LittleEndian.Uint64(b[at:]))
	}
}
