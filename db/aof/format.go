package aof

import (
	"strconv"
	"time"
)

// Record is consecutive effects of one group that belong to one database, as the oplog has them. A group is what must
// stay together: the effects of a command, of EXEC or of a script.
type Record struct {
	Start, End  int64 // offsets in the oplog; the next record starts where this one ends
	DB          int
	Effects     int   // how many commands RESP holds
	Millis      int64 // Unix time of the append
	First, Last bool  // the group begins and ends with it
	RESP        []byte
}

// Source is where an Appender gets records. One goroutine calls Next and Rewind; all others are for any.
type Source interface {
	// Next appends to dst the records that follow: whole groups, not more than some hundred KB if there are
	// several. If there are none it waits, for ever if wait is negative, and returns dst as it was after that time or
	// an Interrupt. RESP is valid until it is released. An error says that there will be no more.
	Next(dst []Record, wait time.Duration) ([]Record, error)
	// Rewind makes Next go on at an earlier offset where a group begins, not before what was released.
	Rewind(at int64) error
	// Release says that nothing before an offset is asked for again.
	Release(upTo int64)
	// End is the offset behind the newest record.
	End() int64
	// Interrupt makes a waiting Next, or the next that would wait, return at once.
	Interrupt()
	// Close ends the use of the source.
	Close()
}

// formatter makes the bytes of a file of records.
type formatter struct {
	stamps bool  // write annotations of the time
	db     int   // selected where the file stands; -1: not known
	second int64 // of the last annotation
	multi  bool  // a group is open
}

// reset forgets what the file has: it is another, or was cut.
func (f *formatter) reset() { f.db, f.second, f.multi = -1, 0, false }

// before appends what stands in front of the effects of a record.
func (f *formatter) before(dst []byte, r *Record) []byte {
	if r.First && f.stamps {
		// The second counts up only, so that whoever looks for a time may stop at the first that is later.
		if second := r.Millis / 1000; second > f.second {
			f.second = second
			dst = append(dst, "#TS:"...)
			dst = strconv.AppendInt(dst, second, 10)
			dst = append(dst, '\r', '\n')
		}
	}
	if r.DB != f.db {
		dst = appendSelect(dst, r.DB)
		f.db = r.DB
	}
	if r.First && (!r.Last || r.Effects > 1) {
		f.multi = true
		dst = append(dst, "*1\r\n$5\r\nMULTI\r\n"...)
	}
	return dst
}

// after appends what stands behind them.
func (f *formatter) after(dst []byte, r *Record) []byte {
	if r.Last && f.multi {
		f.multi = false
		dst = append(dst, "*1\r\n$4\r\nEXEC\r\n"...)
	}
	return dst
}

func appendSelect(dst []byte, db int) []byte {
	digits := 1
	for n := db; n >= 10; n /= 10 {
		digits++
	}
	dst = append(dst, "*2\r\n$6\r\nSELECT\r\n$"...)
	dst = strconv.AppendInt(dst, int64(digits), 10)
	dst = append(dst, '\r', '\n')
	dst = strconv.AppendInt(dst, int64(db), 10)
	return append(dst, '\r', '\n')
}
