package rdb

import (
	"errors"
	"strconv"

	"heddle/db"
)

// worker decodes keys and stores them. It is a goroutine's own.
type worker struct {
	l     *loader
	d     decoder
	tx    *db.Tx
	db    int
	n     int64 // keys of the task at hand
	batch batch
	key   []byte
	name  []byte
	subs  []subexpire

	locked int // shard that is locked now; -1: none
}

// subexpire is when a member expires.
type subexpire struct {
	member []byte
	at     db.Millis
}

// newWorker makes a worker. Without a keyspace it stores nothing.
func newWorker(l *loader) *worker {
	w := &worker{l: l, locked: -1}
	w.d.limits, w.d.now, w.d.keepDue = l.o.Limits, l.o.Now, l.o.KeepExpired
	if l.ks != nil {
		w.tx = l.ks.NewTx()
		w.tx.SetQuiet(true)
		w.d.newBig = l.ks.NewEmptyBig
	}
	w.d.stable = w.batch.keep
	return w
}

// run decodes and stores the keys of a task.
func (w *worker) run(t *task) {
	w.db, w.n = t.db, 0
	d := &w.d
	d.buf, d.at, d.base, d.next, d.err = t.data, 0, t.base, nil, nil
	last := t.data
	if t.more != nil {
		d.next = func() ([]byte, bool) {
			w.l.recycle(last)
			b, ok := w.l.next(t)
			last = b
			return b, ok
		}
	}
	for d.err == nil && !w.l.failed.Load() && !d.done() {
		w.one()
	}
	w.flush()
	w.report()
	if d.err != nil && !(t.more != nil && w.l.cut.Load() && errors.Is(d.err, errEnd)) {
		w.l.fail(d.err, d.err.Offset)
	}
	if t.more != nil {
		w.l.drain(t) // after an error
	}
	w.l.recycle(last)
}

// report adds what was counted to what others see.
func (w *worker) report() {
	w.l.loaded.Add(w.n)
	if w.l.o.Keys != nil {
		w.l.o.Keys.Add(w.n)
	}
	w.n = 0
}

// one decodes a key, with what stands in front of and behind it, and stores it.
func (w *worker) one() {
	d := &w.d
	f := found{at: db.NoExpiry, access: db.NoAccess()}
	typ := w.prefix(&f)
	f.offset = d.offset() - 1
	f.key = d.string("a key", &w.key)
	if d.err != nil {
		return
	}
	if typ == typeCron {
		w.skipCron(f.key)
		return
	}
	streamed := d.next != nil
	if streamed {
		f.key = append(make([]byte, 0, len(f.key)), f.key...)
	}
	v, fate := d.value(typ)
	w.subexpires()
	if d.err != nil {
		if d.err.Key == "" {
			d.err.Key = string(f.key)
		}
		v.Release()
		return
	}
	if len(w.subs) > 0 && fate == fateKept {
		fate = d.expireMembers(&v, w.subs)
	}
	if fate == fateKept && f.at != db.NoExpiry && f.at < w.l.o.Now && !w.l.o.KeepExpired {
		fate = fateExpired
	}
	w.settle(&f, v, fate, streamed)
}

// settle does with a decoded key what is its fate.
func (w *worker) settle(f *found, v Value, fate fate, streamed bool) {
	f.v = v
	switch fate {
	case fateExpired:
		v.Release()
		w.l.expired.Add(1)
	case fateEmpty:
		if w.l.empty.Add(1) <= 10 {
			w.l.warn("rdbLoadObject skipping empty key: " + string(f.key))
		}
	default:
		if w.l.ks == nil {
			w.n++
			return
		}
		f.hash = w.l.ks.Hash(f.key)
		if w.l.o.EachKey == nil && !streamed && v.mayWait() {
			w.enqueue(f)
			return
		}
		w.storeAll(f)
	}
}

// prefix reads what stands in front of a key and returns the type of its value.
func (w *worker) prefix(f *found) (typ byte) {
	d := &w.d
	for d.err == nil {
		switch op := d.byte("an opcode"); op {
		case opExpireMillis:
			f.at = d.millis("an expiry")
		case opExpireSeconds:
			var room [16]byte
			b := d.fixed(4, "an expiry", &room)
			f.at = db.Millis(int32(uint32(b[0])|uint32(b[1])<<8|uint32(b[2])<<16|uint32(b[3])<<24)) * 1000
		case opFreq:
			f.access.Freq = int(d.byte("an access counter"))
		case opIdle:
			f.access.Idle = db.Millis(d.length("an idle time")&(1<<40-1)) * 1000
		case opAux:
			d.string("the name of a fact", &w.name)
			d.string("a fact", &w.name)
		default:
			return op
		}
	}
	return 0
}

// skipCron passes a job of KEYDB.CRON.
func (w *worker) skipCron(key []byte) {
	d := &w.d
	name := string(key)
	d.string("a script", &w.name)
	d.millis("a time")
	d.millis("a time")
	for range 2 {
		n := d.count("a number of arguments")
		for i := uint64(0); i < n && d.err == nil; i++ {
			d.string("an argument", &w.name)
		}
	}
	w.subexpires()
	if d.err == nil {
		w.l.skipped.Add(1)
		w.l.warn("Skipping key '" + name + "': it is a job of KEYDB.CRON, which does not exist here")
	}
}

// subexpires reads the deadlines of members behind a key.
func (w *worker) subexpires() {
	d := &w.d
	w.subs = w.subs[:0]
	for d.err == nil && w.more() {
		d.byte("an opcode")
		key := string(d.string("the name of a fact", &w.name)) == auxSubKey
		at := d.offset()
		s := d.string("a fact", &w.name)
		switch {
		case d.err != nil:
		case key:
			w.subs = append(w.subs, subexpire{member: append([]byte(nil), s...)})
		default:
			n, err := strconv.ParseInt(string(s), 10, 64)
			if err != nil || len(w.subs) == 0 || w.subs[len(w.subs)-1].at != 0 {
				d.fail(at, "expected a member and its deadline, found the deadline %s", quote(s))
				return
			}
			w.subs[len(w.subs)-1].at = db.Millis(n)
		}
	}
}

// more reports whether facts about the key at hand follow. Where facts about the file would
// follow, or in front of the next key, the task has ended or they are stamps.
func (w *worker) more() bool {
	d := &w.d
	if d.done() || d.buf[d.at] != opAux {
		return false
	}
	const head = len("keydb-subexpire")
	if d.next != nil {
		return true // a task of one key: what is left is its own
	}
	rest := d.buf[d.at+1:]
	return len(rest) > head && string(rest[1:1+head]) == "keydb-subexpire"
}
