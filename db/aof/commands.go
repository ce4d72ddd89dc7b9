package aof

import (
	"bytes"
	"strconv"
	"sync/atomic"

	"heddle/db"
	"heddle/db/hash"
	"heddle/db/list"
	"heddle/db/listpack"
	"heddle/db/set"
	"heddle/db/stream"
	"heddle/db/zset"
)

// Output is where a base is written to; disk.File is one.
type Output interface {
	Write(p []byte) (int, error)
	StartSync(off, n int64) error
}

// CommandsOptions say how a snapshot is written as commands.
type CommandsOptions struct {
	Now db.Millis // members whose time has come are left out
	// Stamp is the Unix time in seconds of an annotation in front; 0: none.
	Stamp     int64
	Functions [][]byte // libraries, their code
	// SyncEvery is after how many bytes the system is asked to begin writing them to the disk; 0: never.
	SyncEvery int64
	Keys      *atomic.Int64 // counts keys written, if not nil
	Bytes     *atomic.Int64 // counts bytes written, if not nil
	EachKey   func()        // called behind every key, if not nil; may sleep
	Stop      func() error  // asked now and then, if not nil: an error ends it
}

// itemsOfCommand is how many members a command adds, as in Redis.
const itemsOfCommand = 64

// WriteCommands writes a snapshot as the commands that make it, for a base that is no RDB file. It neither syncs nor
// closes. Access clocks and the times of consumers have no command, and are lost, as in Redis.
func WriteCommands(f Output, sn *db.Snapshot, o CommandsOptions) error {
	w := &commands{f: f, o: o, buf: make([]byte, 0, writeSize+1<<10)}
	if o.Stamp != 0 {
		w.buf = append(strconv.AppendInt(append(w.buf, "#TS:"...), o.Stamp, 10), "\r\n"...)
	}
	for _, code := range o.Functions {
		w.begin("FUNCTION", 3)
		w.text("LOAD")
		w.arg(code)
	}
	r := sn.Reader()
	defer r.End()
	last := -1
	r.Items(func(d int, it *db.Item) bool {
		if d != last {
			w.buf = appendSelect(w.buf, d)
			last = d
		}
		w.item(it)
		return w.err == nil
	})
	w.flush()
	return w.err
}

// commands writes commands; the first error stays.
type commands struct {
	f       Output
	o       CommandsOptions
	buf     []byte
	scratch []byte
	off     int64 // bytes written
	begun   int64 // of these the system was asked to write
	err     error
}

// begin begins a command of argc arguments with its name.
func (w *commands) begin(name string, argc int) {
	if len(w.buf) >= writeSize {
		w.flush()
	}
	w.buf = appendHead(w.buf, '*', argc)
	w.text(name)
}

func appendHead(dst []byte, kind byte, n int) []byte {
	dst = strconv.AppendInt(append(dst, kind), int64(n), 10)
	return append(dst, '\r', '\n')
}

func (w *commands) text(s string) {
	w.buf = append(append(appendHead(w.buf, '$', len(s)), s...), '\r', '\n')
}

// arg appends an argument. A long one goes to the file without a copy.
func (w *commands) arg(b []byte) {
	w.buf = appendHead(w.buf, '$', len(b))
	if len(b) >= directSize {
		w.flush()
		w.write(b)
	} else {
		w.buf = append(w.buf, b...)
	}
	w.buf = append(w.buf, '\r', '\n')
}

func (w *commands) int(n int64) {
	w.scratch = strconv.AppendInt(w.scratch[:0], n, 10)
	w.arg(w.scratch)
}

func (w *commands) float(f float64) {
	w.scratch = strconv.AppendFloat(w.scratch[:0], f, 'g', -1, 64)
	w.arg(w.scratch)
}

func (w *commands) entry(e listpack.Entry) {
	if b := e.Plain(); b != nil {
		w.arg(b)
		return
	}
	w.scratch = e.Append(w.scratch[:0])
	w.arg(w.scratch)
}

func (w *commands) id(id stream.ID) {
	b := append(strconv.AppendUint(w.scratch[:0], id.Ms, 10), '-')
	w.scratch = strconv.AppendUint(b, id.Seq, 10)
	w.arg(w.scratch)
}

func (w *commands) flush() {
	w.write(w.buf)
	w.buf = w.buf[:0]
	if w.err == nil && w.o.Stop != nil {
		w.err = w.o.Stop()
	}
}

func (w *commands) write(b []byte) {
	if w.err != nil || len(b) == 0 {
		return
	}
	n, err := w.f.Write(b)
	w.off += int64(n)
	if w.o.Bytes != nil {
		w.o.Bytes.Add(int64(n))
	}
	if w.err = err; err == nil && w.o.SyncEvery > 0 && w.off-w.begun >= w.o.SyncEvery {
		// A hint: what cannot be begun is found by the sync at the end.
		_ = w.f.StartSync(w.begun, w.off-w.begun)
		w.begun = w.off
	}
}

// item writes a key.
func (w *commands) item(it *db.Item) {
	some := true
	switch it.Type {
	case db.TypeString:
		w.begin("SET", 3)
		w.arg(it.Key)
		if it.Str.IsInt {
			w.int(it.Str.N)
		} else {
			w.arg(it.Str.B)
		}
	case db.TypeList:
		w.list(it)
	case db.TypeSet:
		some = w.set(it)
	case db.TypeZSet:
		some = w.zset(it)
	case db.TypeHash:
		some = w.hash(it)
	case db.TypeStream:
		w.stream(it)
	}
	if some && it.Expire != db.NoExpiry {
		w.begin("PEXPIREAT", 3)
		w.arg(it.Key)
		w.int(int64(it.Expire))
	}
	if w.o.Keys != nil {
		w.o.Keys.Add(1)
	}
	if w.o.EachKey != nil {
		w.o.EachKey()
		// Who slows down keys wants to see it end in between, too.
		if w.err == nil && w.o.Stop != nil {
			w.err = w.o.Stop()
		}
	}
}

// many begins a command before the i-th of n members of size arguments each, if one is to begin.
func (w *commands) many(name string, key []byte, i, n, size int) {
	if i%itemsOfCommand == 0 {
		w.begin(name, 2+size*min(itemsOfCommand, n-i))
		w.arg(key)
	}
}

func (w *commands) list(it *db.Item) {
	l := list.Of(&it.Coll)
	n, i := l.Len(), 0
	for x := l.Iter(0); w.err == nil && x.Next(); i++ {
		w.many("RPUSH", it.Key, i, n, 1)
		w.entry(x.Entry())
		it.Breathe()
	}
}

func (w *commands) set(it *db.Item) bool {
	s := set.Of(it.Coll, w.o.Now)
	var room listpack.Scratch
	n, i := s.Len(), 0
	for x := s.Walk(&room); w.err == nil && x.Next(); i++ {
		w.many("SADD", it.Key, i, n, 1)
		w.arg(x.Member())
		it.Breathe()
	}
	if o, _ := it.Coll.Object.(*set.Object); o != nil && o.NextDeadline() != 0 {
		for x := s.Walk(&room); w.err == nil && x.Next(); {
			at, found := s.Deadline(x.Member())
			w.deadline(it, x.Member(), at, found)
		}
	}
	return n > 0
}

func (w *commands) zset(it *db.Item) bool {
	z := zset.Of(&it.Coll, w.o.Now)
	var x zset.Iter
	n, i := z.Len(), 0
	for x.Start(&z, 0, n, false); w.err == nil && x.Next(); i++ {
		w.many("ZADD", it.Key, i, n, 2)
		w.float(x.Score())
		w.arg(x.Member())
		it.Breathe()
	}
	if o := z.Large(); o != nil && o.NextDeadline() != 0 {
		for x.Start(&z, 0, n, false); w.err == nil && x.Next(); {
			at, found := z.Deadline(x.Member())
			w.deadline(it, x.Member(), at, found)
		}
	}
	return n > 0
}

// deadline writes that of a member.
func (w *commands) deadline(it *db.Item, member []byte, at db.Millis, found bool) {
	if found {
		member = bytes.Clone(member)
		w.begin("PEXPIREMEMBERAT", 4)
		w.arg(it.Key)
		w.arg(member)
		w.int(int64(at))
	}
}

func (w *commands) hash(it *db.Item) bool {
	h := hash.Of(it.Coll, w.o.Now)
	n, i := h.Len(), 0
	for x := h.Iter(); w.err == nil && x.Next(); i++ {
		w.many("HMSET", it.Key, i, n, 2)
		w.arg(x.Field())
		w.arg(x.Value())
		it.Breathe()
	}
	if o, _ := it.Coll.Object.(*hash.Object); o != nil && o.NextDeadline() != 0 {
		for x := h.Iter(); w.err == nil && x.Next(); {
			if at, found := h.Deadline(x.Field()); found {
				w.begin("HPEXPIREAT", 6)
				w.arg(it.Key)
				w.int(int64(at))
				w.text("FIELDS")
				w.int(1)
				w.arg(x.Field())
			}
		}
	}
	return n > 0
}

func (w *commands) stream(it *db.Item) {
	s := stream.Of(it.Coll)
	all := s.Range(stream.ID{}, stream.MaxID)
	for e, ok := all.Next(); w.err == nil && ok; e, ok = all.Next() {
		n := e.Len()
		w.begin("XADD", 3+2*n)
		w.arg(it.Key)
		w.id(e.ID)
		for range n {
			name, value := e.Pair()
			w.entry(name)
			w.entry(value)
		}
		it.Breathe()
	}
	if s.Len() == 0 {
		// An entry that is trimmed at once makes an empty stream; XSETID puts the ID right.
		w.begin("XADD", 7)
		w.arg(it.Key)
		w.text("MAXLEN")
		w.int(0)
		w.text("0-1")
		w.text("x")
		w.text("y")
	}
	w.begin("XSETID", 7)
	w.arg(it.Key)
	w.id(s.LastID())
	w.text("ENTRIESADDED")
	w.scratch = strconv.AppendUint(w.scratch[:0], s.Added(), 10)
	w.arg(w.scratch)
	w.text("MAXDELETEDID")
	w.id(s.MaxDeleted())
	s.EachGroup(func(name string, g *stream.Group) bool {
		w.group(it, name, g)
		return w.err == nil
	})
}

func (w *commands) group(it *db.Item, name string, g *stream.Group) {
	w.begin("XGROUP", 7)
	w.text("CREATE")
	w.arg(it.Key)
	w.text(name)
	w.id(g.Last)
	w.text("ENTRIESREAD")
	w.int(g.Read)
	g.EachConsumer(func(c *stream.Consumer) bool {
		w.begin("XGROUP", 5)
		w.text("CREATECONSUMER")
		w.arg(it.Key)
		w.text(name)
		w.text(c.Name)
		return w.err == nil
	})
	all := g.PendingRange(stream.ID{}, stream.MaxID)
	for p := all.Next(); p != nil && w.err == nil; p = all.Next() {
		w.begin("XCLAIM", 12)
		w.arg(it.Key)
		w.text(name)
		w.text(g.NameOf(p))
		w.int(0)
		w.id(p.ID)
		w.text("TIME")
		w.int(p.Time)
		w.text("RETRYCOUNT")
		w.int(p.Count)
		w.text("JUSTID")
		w.text("FORCE")
		it.Breathe()
	}
}
