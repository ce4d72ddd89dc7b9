package rdb

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"heddle/db"
)

// Loading. One goroutine, the cutter, reads the file and finds out where keys begin and end,
// for which it looks at lengths only; it hands pieces of some hundred KB, each a number of
// whole keys, to the others, the workers. A worker decodes a key with no lock held, and then
// has its shard for as long as storing it, or some dozens of small ones, takes: see
// load_batch.go. A string or a small collection is copied, of a large one only the handle is
// stored. What depends on the order of a file (which database, functions, facts) is done by
// the cutter.
//
// A key that is longer than a piece is decoded by one worker while the cutter goes on
// reading it, piece by piece, and, as reading is faster, comes to the next key while some of
// these pieces wait: so several large keys are decoded at once. What is in memory beside the
// keyspace is bounded by readAhead, whatever the size of a collection, and lengths in the
// file that it does not hold allocate nothing.
//
// Rejected: to cut the file in parts without reading it (there is no telling where a key
// begins) and to read keys as a whole (a set of 10 million members is a key).

// LoadOptions are options of Load. The zero value loads as a primary does.
type LoadOptions struct {
	Now     db.Millis     // keys whose time has come by then are skipped
	Threads int           // workers; 0: as many as there are processors to use
	Read    *atomic.Int64 // counts bytes of the file as they are read; nil: nobody asks
	Keys    *atomic.Int64 // counts keys as they are loaded

	// Function gets the code of each library of functions; nil: Result has them.
	Function func(code []byte) error
	// Aux gets each fact about the file, in their order, before the keys that follow it.
	Aux func(name, value string)
	// Log gets lines for the log, as Redis words them, one at a time; Warn those that are
	// warnings. If Warn is nil, Log gets them too.
	Log, Warn func(line string)

	KeepExpired bool // keys and members whose time has come are loaded: what follows may be about them
	Replace     bool // keys that are there are replaced; else they are an error
	NoChecksum  bool // the checksum is not looked at
	Exact       bool // r is not read beyond the end of the RDB, whatever it is; see Load
	// Size is how long the file is, 0: not known. Load finds it out by itself if r has a
	// method Stat as os.File has.
	Size int64
	// Limits are when collections change their encoding; nil: those of the keyspace.
	Limits *db.Limits
	// EachKey, if there is one, is called behind each key, and then there is one worker.
	EachKey func()
	// Stop is asked now and then, perhaps by several goroutines: an error ends loading with it.
	Stop func() error

	piece int // how long a piece is, for tests; 0: pieceSize
}

// Result says what was loaded.
type Result struct {
	Version   int         // of the file
	Aux       [][2]string // facts about the file, in their order
	Functions [][]byte    // code of libraries, unless LoadOptions.Function took them
	Loaded    int64       // keys
	Expired   int64       // keys skipped because their time has come
	Empty     int64       // keys skipped because their collection is empty
	Skipped   int64       // keys skipped because what they are does not exist here: jobs of KEYDB.CRON
	Bytes     int64       // length of the RDB
	Preamble  bool        // it says that it is the base of an append-only file
}

// Load reads one RDB from r, whose name is for messages, and stores its keys. The caller has
// no shard locked, and nobody else need keep away: each key appears as a whole.
//
// When Load returns without an error, r stands behind the RDB, so that what follows can be
// read from it: an io.Seeker is set back to there, and of one with the methods Peek and
// Discard of a bufio.Reader only what is looked at is discarded. Of any other reader more may have been read,
// unless Exact is set, which makes many small reads of it.
//
// After an error what was stored before stays. It is an *Error, one of LoadOptions' functions
// or of r, or db.ErrOutOfMemory.
func Load(r io.Reader, name string, ks *db.Keyspace, o LoadOptions) (Result, error) {
	l := &loader{ks: ks, o: &o, name: name, tasks: make(chan task), free: make(chan []byte, freePieces)}
	if o.Limits == nil {
		s := db.DefaultSettings()
		if ks != nil {
			*s = ks.Settings()
		}
		o.Limits = &s.Limits
	}
	threads := o.Threads
	if threads <= 0 {
		threads = min(runtime.GOMAXPROCS(0), runtime.NumCPU())
	}
	if o.piece == 0 {
		o.piece = pieceSize
	}
	if o.EachKey != nil {
		threads = 1
	}
	var done sync.WaitGroup
	for range threads {
		done.Add(1)
		go func() {
			defer done.Done()
			w := newWorker(l)
			for t := range l.tasks {
				w = w.guarded(&t)
			}
		}()
	}
	c := newCutter(r, l)
	err := c.guarded()
	close(l.tasks)
	done.Wait()
	return l.result(c, err)
}

// freePieces is how many pieces are kept to be used again.
const freePieces = 64

// readAhead is how many bytes of large keys may wait to be decoded: of a small file an eighth
// of it, but always some pieces.
const readAhead = 64 << 20

// pieceSize is how long a piece is.
const pieceSize = 256 << 10

// loader is what the goroutines of a Load share.
type loader struct {
	ks    *db.Keyspace
	o     *LoadOptions
	name  string
	tasks chan task
	free  chan []byte

	waiting chan struct{} // has an element for each piece of a large key that no worker has

	loaded, expired, empty, skipped atomic.Int64

	failed atomic.Bool // err is set
	cut    atomic.Bool // the cutter failed: a key that it was handing out is not whole
	mu     struct {
		sync.Mutex
		err error
		at  int64
	}
}

// task is keys for a worker.
type task struct {
	db   int
	base int64  // of data in the file
	data []byte // whole keys, or the first piece of one if there is a channel of more
	more chan []byte
}

// next returns the next piece of a large key, once there is one; false behind the last.
func (l *loader) next(t *task) ([]byte, bool) {
	b, ok := <-t.more
	if ok {
		<-l.waiting
	}
	return b, ok
}

// drain passes what is left of a large key, so that the cutter does not wait.
func (l *loader) drain(t *task) {
	for b, ok := l.next(t); ok; b, ok = l.next(t) {
		l.recycle(b)
	}
}

// piece returns an empty piece.
func (l *loader) piece() []byte {
	select {
	case b := <-l.free:
		return b[:0]
	default:
		return make([]byte, 0, l.o.piece)
	}
}

// recycle takes a piece back.
func (l *loader) recycle(b []byte) {
	if cap(b) < l.o.piece {
		return
	}
	select {
	case l.free <- b:
	default:
	}
}

// fail notes an error; of several, the one that comes first in the file counts.
func (l *loader) fail(err error, at int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := err.(*Error); ok {
		e.File = l.name
		at = e.Offset
	}
	if l.mu.err == nil || at < l.mu.at {
		l.mu.err, l.mu.at = err, at
	}
	l.failed.Store(true)
}

// result is what Load returns, after err of the cutter.
func (l *loader) result(c *cutter, err error) (Result, error) {
	if err != nil {
		l.fail(err, c.offset())
	}
	r := c.result
	r.Loaded, r.Expired, r.Empty, r.Skipped = l.loaded.Load(), l.expired.Load(), l.empty.Load(), l.skipped.Load()
	r.Bytes = c.offset()
	if l.mu.err != nil {
		return r, l.mu.err
	}
	return r, c.giveBack()
}

// log writes a line, warn one that is a warning.
func (l *loader) log(line string) { l.write(l.o.Log, line) }

func (l *loader) warn(line string) {
	if l.o.Warn == nil {
		l.log(line)
		return
	}
	l.write(l.o.Warn, line)
}

func (l *loader) write(to func(string), line string) {
	if to != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		to(line)
	}
}

// databases returns how many databases there are.
func (l *loader) databases() int {
	if l.ks == nil {
		return 1 << 31
	}
	return l.ks.Databases()
}
