package persist

import (
	"time"

	"heddle/db/aof"
	"heddle/replication/oplog"
)

// source is the log of effects as the writer of the append-only file sees it.
type source struct {
	r *oplog.Reader
	l *oplog.Log
}

// sourceBatch is about how many bytes of records are handed out at once.
const sourceBatch = 256 << 10

// Next appends the records that follow.
func (s source) Next(dst []aof.Record, wait time.Duration) ([]aof.Record, error) {
	b, err := s.r.Next(sourceBatch, wait)
	if err != nil {
		return dst, err
	}
	for e := range b.Entries() {
		dst = append(dst, aof.Record{
			Start: e.Offset, End: e.End, DB: e.DB, Effects: e.Effects, Millis: e.Stamp.Millis(), First: e.First, Last: e.Last, RESP: e.RESP,
		})
	}
	return dst, nil
}

// Rewind makes Next go on at an earlier offset.
func (s source) Rewind(at int64) error { return s.r.Seek(at) }

// Release says that nothing before an offset is asked for again.
func (s source) Release(upTo int64) { s.r.Release(upTo) }

// End is the offset behind the newest record.
func (s source) End() int64 { return s.l.End() }

// Interrupt makes a waiting Next return.
func (s source) Interrupt() { s.r.Interrupt() }

// Close ends the use of the log.
func (s source) Close() { s.r.Close() }
