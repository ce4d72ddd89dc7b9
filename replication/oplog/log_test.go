package oplog

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// group is n effects told apart by who and seq.
func group(who, seq, n, dbs, size int) []Effect {
	g := make([]Effect, n)
	for i := range g {
		g[i] = Effect{DB: i % dbs, Argv: [][]byte{
			[]byte("SET"), []byte(strconv.Itoa(who)), fmt.Appendf(nil, "%d.%d.%d.", seq, i, n), make([]byte, size),
		}}
	}
	return g
}

func reader(t testing.TB, l *Log) *Reader {
	t.Helper()
	r, err := l.NewReader(l.End())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func next(t testing.TB, r *Reader, most int) Batch {
	t.Helper()
	b, err := r.Next(most, 0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNobodyReads(t *testing.T) {
	l := New(Options{Account: func(int64) { t.Error("memory is taken") }})
	if end := l.Append(1, group(1, 1, 2, 1, 10)); end != 0 || l.End() != 0 || l.Active() {
		t.Errorf("something was appended: %d", end)
	}
	l.Wake()
}

func TestEntries(t *testing.T) {
	l := New(Options{Site: 7})
	r := reader(t, l)
	l.Append(1000, []Effect{
		{0, [][]byte{[]byte("SET"), []byte("a"), []byte("1")}},
		{0, [][]byte{[]byte("DEL"), []byte("b")}},
		{3, [][]byte{[]byte("PING")}},
		{0, [][]byte{[]byte("PING")}},
	})
	l.Append(900, []Effect{{15, [][]byte{[]byte("FLUSHALL"), {}}}})
	want := []string{
		"0 2 true false 1000 7 *3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n*2\r\n$3\r\nDEL\r\n$1\r\nb\r\n",
		"3 1 false false 1000 7 *1\r\n$4\r\nPING\r\n",
		"0 1 false true 1000 7 *1\r\n$4\r\nPING\r\n",
		"15 1 true true 1000 7 *2\r\n$8\r\nFLUSHALL\r\n$0\r\n\r\n",
	}
	var last Stamp
	at := Offset(0)
	b := next(t, r, 1<<20)
	for e := range b.Entries() {
		got := fmt.Sprintf("%d %d %v %v %d %d %s", e.DB, e.Effects, e.First, e.Last, e.Stamp.Millis(), e.Stamp.Site(), e.RESP)
		if got != want[0] {
			t.Errorf("got %q, want %q", got, want[0])
		}
		if e.Offset != at || e.First && e.Stamp <= last {
			t.Errorf("offset %d, stamp %d behind %d and %d", e.Offset, e.Stamp, at, last)
		}
		want, at, last = want[1:], e.End, e.Stamp
	}
	if len(want) > 0 || at != b.End() || at != l.End() {
		t.Errorf("%d entries are missing; %d, %d, %d", len(want), at, b.End(), l.End())
	}
	b.Entries()(func(Entry) bool { return false })
}

// TestModel plays random steps and compares with a list of groups.
func TestModel(t *testing.T) {
	for seed := range uint64(60) {
		model(t, rand.New(rand.NewPCG(seed, 1)))
	}
}

type modelReader struct {
	r        *Reader
	at, kept int // indexes of groups
}

func model(t *testing.T, rnd *rand.Rand) {
	var held int64
	l := New(Options{Account: func(d int64) { held += d }})
	var ends []Offset // ends[i] is the end of the i-th group
	var wants [][]byte
	begin := func(i int) Offset {
		if i == 0 {
			return 0
		}
		return ends[i-1]
	}
	var readers []*modelReader
	for range 400 {
		switch k := rnd.IntN(20); {
		case k < 9:
			size := rnd.IntN(2000)
			if rnd.IntN(10) == 0 {
				size = rnd.IntN(2 * chunkSize)
			}
			g := group(1, len(ends), 1+rnd.IntN(3), 1+rnd.IntN(2), size)
			before := l.End()
			end := l.Append(int64(rnd.IntN(1000)), g)
			if len(readers) == 0 {
				if end != before {
					t.Fatal("appended without a reader")
				}
				continue
			}
			var text []byte
			for _, e := range g {
				text = append(AppendCommand(text, e.Argv), byte(e.DB))
			}
			ends, wants = append(ends, end), append(wants, text)
		case k < 10 && len(readers) < 4:
			readers = append(readers, &modelReader{reader(t, l), len(ends), len(ends)})
		case len(readers) == 0:
		case k < 11:
			i := rnd.IntN(len(readers))
			readers[i].r.Close()
			if _, err := readers[i].r.Next(1, -1); !errors.Is(err, ErrClosed) {
				t.Fatal("a closed reader reads")
			}
			readers = append(readers[:i], readers[i+1:]...)
		case k < 13:
			m := readers[rnd.IntN(len(readers))]
			m.kept = m.kept + rnd.IntN(m.at-m.kept+1)
			m.r.Release(begin(m.kept))
		case k < 14:
			m := readers[rnd.IntN(len(readers))]
			m.at = m.kept + rnd.IntN(m.at-m.kept+1)
			if err := m.r.Seek(begin(m.at)); err != nil {
				t.Fatal(err)
			}
		default:
			m := readers[rnd.IntN(len(readers))]
			most := rnd.IntN(chunkSize)
			b := next(t, m.r, most)
			if b.Empty() != (m.at == len(ends)) || b.Offset() != begin(m.at) {
				t.Fatalf("batch at %d of %d bytes, want group %d of %d", b.Offset(), b.Size(), m.at, len(ends))
			}
			from := m.at
			var text []byte
			for e := range b.Entries() {
				rest := e.RESP
				for range e.Effects {
					n := commandLen(rest)
					text = append(append(text, rest[:n]...), byte(e.DB))
					rest = rest[n:]
				}
				if e.Last {
					if !bytes.Equal(text, wants[m.at]) || e.End != ends[m.at] {
						t.Fatalf("group %d differs", m.at)
					}
					m.at++
					text = nil
				}
			}
			if text != nil || b.Size() > most && m.at > from+1 {
				t.Fatalf("half a group, or too many: %d bytes of %d", b.Size(), most)
			}
		}
		if held != l.Held() || held < 0 || len(readers) == 0 && held != 0 {
			t.Fatalf("%d bytes are held, told %d, with %d readers", l.Held(), held, len(readers))
		}
	}
	for _, m := range readers {
		m.r.Close()
	}
	if l.Held() != 0 || l.Active() {
		t.Fatalf("%d bytes are left", l.Held())
	}
}

// commandLen is the length of the command at the begin of b.
func commandLen(b []byte) int {
	at := 0
	number := func() int {
		end := at + bytes.IndexByte(b[at:], '\r')
		n, _ := strconv.Atoi(string(b[at+1 : end]))
		at = end + 2
		return n
	}
	for n := number(); n > 0; n-- {
		size := number()
		at += size + 2
	}
	return at
}

func TestSeekOutside(t *testing.T) {
	l := New(Options{})
	r := reader(t, l)
	l.Append(1, group(1, 1, 1, 1, 1))
	end := next(t, r, 1).End()
	r.Release(end)
	if r.Seek(0) == nil || r.Seek(end+1) == nil {
		t.Error("went to where nothing is")
	}
	if _, err := l.NewReader(end + 1); err == nil {
		t.Error("began behind the end")
	}
	if r.At() != end {
		t.Error("went elsewhere")
	}
	r.Close()
	if r.Seek(end) == nil {
		t.Error("a closed reader went somewhere")
	}
	r.Close()
	r.Release(end)
}

// A large value does not stay in memory until something else is written.
func TestLargeIsReleased(t *testing.T) {
	l := New(Options{})
	r := reader(t, l)
	l.Append(1, group(1, 1, 1, 1, 10<<20))
	b := next(t, r, 1)
	if l.Held() < 10<<20 || b.Size() < 10<<20 {
		t.Fatal("it is not there")
	}
	r.Release(b.End())
	if l.Held() != 0 {
		t.Errorf("%d bytes are held", l.Held())
	}
	l.Append(1, group(1, 2, 1, 1, 1))
	if next(t, r, 1).Empty() {
		t.Error("nothing behind it")
	}
}

// TestConcurrent has shards appended to by several goroutines and read by several:
// the order of each shard is kept, and groups are whole.
func TestConcurrent(t *testing.T) {
	const shards, appenders, readers = 8, 4, 3
	count := 3000
	if testing.Short() {
		count = 500
	}
	var held atomic.Int64
	l := New(Options{Account: func(d int64) { held.Add(d) }})
	var locks [shards]sync.Mutex
	var seqs [shards]int
	var all []*Reader
	for range readers {
		all = append(all, reader(t, l))
	}
	var writing, reading sync.WaitGroup
	for a := range appenders {
		writing.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(a), 2))
			for range count {
				i := rnd.IntN(shards)
				size := 20
				if rnd.IntN(100) == 0 {
					size = ownChunk
				}
				locks[i].Lock()
				seqs[i]++
				l.Append(time.Now().UnixMilli(), group(i, seqs[i], 1+rnd.IntN(3), 2, size))
				locks[i].Unlock()
				l.Wake()
			}
		})
	}
	for n, r := range all {
		reading.Go(func() { follow(t, r, shards, rand.New(rand.NewPCG(uint64(n), 3))) })
	}
	writing.Wait()
	end := l.End()
	for _, r := range all {
		for r.At() < end {
			time.Sleep(time.Millisecond)
		}
		r.Close()
	}
	reading.Wait()
	if held.Load() != 0 {
		t.Errorf("%d bytes are left", held.Load())
	}
}

// follow reads until the reader is closed.
func follow(t *testing.T, r *Reader, shards int, rnd *rand.Rand) {
	last := make([]int, shards)
	var stamp Stamp
	for {
		b, err := r.Next(1+rnd.IntN(chunkSize), -1)
		if err != nil {
			return
		}
		i, of := 0, 0
		for e := range b.Entries() {
			if e.First {
				if i != of || e.Stamp <= stamp {
					t.Errorf("a group of %d ends at %d; stamp %d behind %d", of, i, e.Stamp, stamp)
				}
				i, stamp = 0, e.Stamp
			}
			rest := e.RESP
			for range e.Effects {
				n := commandLen(rest)
				var shard, seq, at int
				text := bytes.ReplaceAll(rest[:n], []byte("\r\n"), []byte(" "))
				var skip string
				_, err := fmt.Sscanf(string(text), "*4 $3 SET $1 %d %s %d.%d.%d.", &shard, &skip, &seq, &at, &of)
				if err != nil || at != i {
					t.Errorf("%v in %.40q: effect %d, want %d", err, text, at, i)
					return
				}
				if i == 0 {
					if seq != last[shard]+1 {
						t.Errorf("shard %d: %d behind %d", shard, seq, last[shard])
					}
					last[shard] = seq
				}
				i++
				rest = rest[n:]
			}
		}
		if rnd.IntN(3) > 0 {
			r.Release(b.End())
		}
	}
}

func TestPatience(t *testing.T) {
	l := New(Options{})
	r := reader(t, l)
	start := time.Now()
	if b, err := r.Next(1, 20*time.Millisecond); err != nil || !b.Empty() || time.Since(start) < 20*time.Millisecond {
		t.Errorf("got %d bytes, %v", b.Size(), err)
	}
	go func() {
		time.Sleep(10 * time.Millisecond)
		l.Append(1, group(1, 1, 1, 1, 1))
		l.Wake()
	}()
	if b, err := r.Next(1, -1); err != nil || b.Empty() {
		t.Errorf("got nothing, %v", err)
	}
	r.Interrupt()
	for range 2 { // one that came before, and one that comes while it waits
		if b, err := r.Next(1, -1); err != nil || !b.Empty() {
			t.Errorf("got %d bytes, %v", b.Size(), err)
		}
		go func() {
			time.Sleep(10 * time.Millisecond)
			r.Interrupt()
		}()
	}
	if b, err := r.Next(1, -1); err != nil || !b.Empty() {
		t.Errorf("got %d bytes, %v", b.Size(), err)
	}
	go func() {
		time.Sleep(10 * time.Millisecond)
		r.Close()
	}()
	if _, err := r.Next(1, -1); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestStamps(t *testing.T) {
	s := stampAfter(0, 1_700_000_000_000)
	if s.Millis() != 1_700_000_000_000 {
		t.Error(s.Millis())
	}
	if n := stampAfter(s, 5); n <= s || n.Millis() != s.Millis() {
		t.Error(n, s)
	}
	if n := stampAfter(s, -5); n <= s {
		t.Error(n, s)
	}
	for range 5000 {
		n := stampAfter(s, 1_700_000_000_000)
		if n <= s {
			t.Fatal(n, s)
		}
		s = n
	}
	if s.Millis() != 1_700_000_000_001 {
		t.Error(s.Millis())
	}
}

func TestAppendAllocates(t *testing.T) {
	l := New(Options{})
	r := reader(t, l)
	g := group(1, 1, 2, 2, 100)
	if n := testing.AllocsPerRun(50_000, func() {
		l.Append(1, g)
		if b, err := r.Next(1<<16, 0); err == nil {
			r.Release(b.End())
		}
		l.Wake()
	}); n > 0 {
		t.Errorf("%v allocations an append", n)
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{32, 1024} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			l := New(Options{})
			r := reader(b, l)
			g := group(1, 1, 1, 1, size)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				l.Append(int64(i), g)
				if i%1000 == 0 {
					for {
						batch := next(b, r, 1<<20)
						if batch.Empty() {
							break
						}
						r.Release(batch.End())
					}
				}
			}
		})
	}
	b.Run("nobody", func(b *testing.B) {
		l := New(Options{})
		g := group(1, 1, 1, 1, 32)
		for b.Loop() {
			l.Append(1, g)
		}
	})
}
