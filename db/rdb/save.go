package rdb

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"heddle/db"
)

// Save writes a snapshot with several encoders. Each takes one shard after the other and
// fills a buffer with its keys; a full buffer goes to the one writer, which adds it to the
// checksum and writes it. So encoding, checksum and system calls overlap, the file is one
// stream of large writes, and the order of keys in it, which means nothing, is the order
// in which buffers became full. The keys of a database stand together, as files have them:
// all encoders have to be through with one before the next begins.
//
// A value larger than a buffer must not be torn apart. Its encoder takes the turn at its
// first full buffer and keeps it to the end of the value. Others meanwhile let their
// buffers grow to a few MB before they wait for the turn.
//
// Rejected: a buffer for each shard, put together at the end, which takes the memory of
// the whole file; and checksums of buffers computed in parallel and combined: the writer
// is far from being the bottleneck.

// SaveOptions say what a file is to be like. The zero value is a file of version 11 or 12,
// neither compressed nor with a checksum.
type SaveOptions struct {
	// Version is that of the file, 10, 11 or 12; 0: 11, but 12 if fields of hashes have
	// deadlines, for which only that has a form. See encoder for what becomes of those in
	// older ones.
	Version  int
	Compress bool // long strings, with LZF
	Checksum bool
	// Aux are facts about the file, written in this order in front of all else: see
	// StandardAux.
	Aux       [][2]string
	Functions [][]byte // libraries of functions, their code
	// Preamble says that the file begins an AOF; nothing but what Aux says depends on it.
	Preamble bool
	Now      db.Millis // members whose time has come are left out; idle times are as of then
	Threads  int       // encoders; 0: as many as there are processors
	// SyncEvery is after how many bytes the system is asked to begin writing them to the
	// disk; 0: never.
	SyncEvery int64
	Keys      *atomic.Int64 // counts keys written, if not nil
	Bytes     *atomic.Int64 // counts bytes written, if not nil
	// EachKey is called behind every key, if not nil, and may sleep; by several goroutines
	// at a time.
	EachKey func()
	// Stop is asked now and then, if not nil, by several goroutines at a time. Save ends
	// soon, with its error, once it gives one.
	Stop func() error
}

// Stats tell what Save did.
type Stats struct {
	Version int
	Keys    int64
	Bytes   int64
}

// Output is where a file is written to. *os.File does with StartSync beside it, which
// begins to write a range to the disk without waiting.
type Output interface {
	io.Writer
	StartSync(off, n int64) error
}

// StandardAux returns the aux fields that Redis writes, in its order: its version, bits, time
// (Unix, in seconds) and memory in use; with the replication's, if it has an ID; and whether
// the file is the base of an AOF.
func StandardAux(version string, now db.Millis, usedMemory int64, repl *ReplicationAux, aofBase bool) [][2]string {
	aux := [][2]string{
		{"redis-ver", version},
		{"redis-bits", strconv.Itoa(strconv.IntSize)},
		{"ctime", strconv.FormatInt(int64(now)/1000, 10)},
		{"used-mem", strconv.FormatInt(usedMemory, 10)},
	}
	if repl != nil {
		aux = append(aux,
			[2]string{"repl-stream-db", strconv.Itoa(repl.DB)},
			[2]string{"repl-id", repl.ID},
			[2]string{"repl-offset", strconv.FormatInt(repl.Offset, 10)})
	}
	base := "0"
	if aofBase {
		base = "1"
	}
	return append(aux, [2]string{"aof-base", base})
}

// ReplicationAux is where in the stream of a primary a file stands.
type ReplicationAux struct {
	DB     int
	ID     string
	Offset int64
}

// Save writes a whole file from a snapshot, to w, which is at its beginning, and releases
// the snapshot's shards as it goes: nobody else may read them. It neither syncs nor closes
// w. An error is one of w, or that of Stop; what was written is then of no use.
func Save(w Output, sn *db.Snapshot, o SaveOptions) (Stats, error) {
	version, err := saveVersion(sn, &o)
	if err != nil {
		return Stats{}, err
	}
	s := &saver{o: o, sn: sn, version: version, settings: sn.Settings(), out: newWriter(w, &o)}
	s.run()
	err = s.out.close() // the writer is done then
	return Stats{Version: version, Keys: s.keys.Load(), Bytes: s.out.off}, err
}

// saveVersion says which version the file is to have.
func saveVersion(sn *db.Snapshot, o *SaveOptions) (int, error) {
	switch {
	case o.Version >= Version70 && o.Version <= Version74:
		return o.Version, nil
	case o.Version != 0:
		return 0, fmt.Errorf("rdb: version %d cannot be written", o.Version)
	case !sn.Timed():
		return Version72, nil
	}
	version := Version72
	r := sn.Reader()
	defer r.End()
	r.Items(func(_ int, it *db.Item) bool {
		if it.Type == db.TypeHash && hasDeadlines(it) {
			version = Version74
		}
		return version == Version72
	})
	return version, nil
}

// saver is a file being written.
type saver struct {
	o        SaveOptions
	sn       *db.Snapshot
	version  int
	settings db.Settings
	out      *writer
	last     int // of the databases that have keys
	keys     atomic.Int64
}

func (s *saver) run() {
	e := s.encoder(nil)
	e.buf = append(e.buf, "REDIS"...)
	e.buf = fmt.Appendf(e.buf, "%04d", s.version)
	for _, a := range s.o.Aux {
		e.buf = append(e.buf, opAux)
		e.buf = appendString(e.buf, []byte(a[0]), e.lzf)
		e.buf = appendString(e.buf, []byte(a[1]), e.lzf)
	}
	for _, f := range s.o.Functions {
		e.buf = append(e.buf, opFunction)
		e.buf = appendString(e.buf, f, e.lzf)
	}
	s.out.put(e.buf)
	for n := range s.sn.Databases() {
		if s.sn.Len(n) > 0 {
			s.last = n
		}
	}
	for n := range s.last + 1 {
		if s.out.failed() == nil && s.sn.Len(n) > 0 {
			s.database(n)
		}
	}
	if s.out.failed() == nil {
		s.out.end()
	}
}

// database writes the keys of a database.
func (s *saver) database(n int) {
	head := appendLength(append(s.out.fresh(), opSelectDB), uint64(n))
	head = appendLength(append(head, opResizeDB), uint64(s.sn.Len(n)))
	s.out.put(appendLength(head, uint64(s.sn.Expires(n))))

	threads := s.o.Threads
	if threads <= 0 {
		threads = min(runtime.GOMAXPROCS(0), runtime.NumCPU())
	}
	var next atomic.Int64 // shard
	var all sync.WaitGroup
	for range min(threads, s.sn.Shards()) {
		all.Go(func() { s.guarded(n, &next) })
	}
	all.Wait()
}

// encoder makes an encoder with an empty buffer.
func (s *saver) encoder(to *source) *encoder {
	e := &encoder{version: s.version, limits: s.settings.Limits, now: s.o.Now}
	if to != nil {
		e.sink = to
	}
	if s.o.Compress {
		e.lzf = new(compressor)
	}
	if p := s.settings.Policy; p.LRU() || p.LFU() {
		e.access = &s.settings
	}
	e.buf = s.out.fresh()
	return e
}

// encode takes shards of a database and encodes them until there are none left.
func (s *saver) encode(database int, next *atomic.Int64) {
	to := &source{out: s.out, stop: s.o.Stop}
	e := s.encoder(to)
	r := s.sn.Reader()
	defer r.End()
	defer to.release()
	written := int64(0)
	for {
		shard := int(next.Add(1)) - 1
		if shard >= s.sn.Shards() {
			break
		}
		ok := r.Each(shard, database, func(it *db.Item) bool {
			if e.key(it) {
				written++
			}
			if s.o.EachKey != nil {
				s.o.EachKey()
			}
			if e.buf = to.whole(e.buf); s.o.EachKey != nil || written >= countEvery {
				s.count(&written)
				return to.goOn()
			}
			return true
		})
		if !ok {
			break
		}
		if database == s.last {
			r.Release(shard)
		}
	}
	to.last(e.buf)
	s.count(&written)
}

// countEvery is how many keys are counted at a time.
const countEvery = 128

// count adds keys to the counters.
func (s *saver) count(n *int64) {
	s.keys.Add(*n)
	if s.o.Keys != nil {
		s.o.Keys.Add(*n)
	}
	*n = 0
}
