package all_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/config"
	"heddle/db"
	"heddle/db/arena"
	"heddle/db/digest"
	"heddle/db/hash"
	"heddle/db/set"
	"heddle/db/zset"
	"heddle/difftest"
	"heddle/replication/oplog"
	"heddle/resp"
	"heddle/server/command"
	admin "heddle/server/command/server"
	"heddle/server/dispatch"
)

// wallClock is a clock that executors share and the test moves.
type wallClock struct{ now atomic.Int64 }

func (c *wallClock) Wall() int64 { return c.now.Load() }
func (c *wallClock) Mono() int64 { return c.now.Load() }
func (c *wallClock) AfterFunc(time.Duration, func()) func() {
	return func() {}
}

// logged is an engine, with an oplog if it has one.
type logged struct {
	*dispatch.Engine
	ks    *db.Keyspace
	log   *oplog.Log
	clock *wallClock
	lines atomic.Int64
}

// lonely is a server without a process.
type lonely struct{ admin.Server }

func (lonely) Flushed(bool) func() { return nil }
func (lonely) Log(string)          {}

func newLogged(t *testing.T, now int64, l *oplog.Log, reserve uint64) *logged {
	t.Helper()
	var table *command.Table
	deps := admin.Deps{Table: func() *command.Table { return table }, Server: lonely{}, Config: config.New(config.Dirs{})}
	var err error
	table, err = command.NewTable(append(fuzzFamilies(), admin.Family(deps))...)
	if err != nil {
		t.Fatal(err)
	}
	e := &logged{log: l, clock: &wallClock{}}
	e.clock.now.Store(now)
	if e.ks, err = db.Open(db.Options{Shards: 16, Arena: arena.Options{Reserve: reserve}}); err != nil {
		t.Fatal(err)
	}
	o := dispatch.Options{Table: table, Keyspace: e.ks, Clock: e.clock, Log: func(line string) {
		if e.lines.Add(1) < 5 {
			t.Errorf("logged: %s", line)
		}
	}}
	if l != nil {
		o.Oplog = l
	}
	e.Engine = dispatch.New(o)
	return e
}

// peer is a connection whose replies are dropped.
type peer struct {
	w    resp.Writer
	mail *mailbag
	gone bool
}

// mailbag is what others ask an executor's goroutine to do.
type mailbag struct {
	mu   sync.Mutex
	list []func()
}

func (m *mailbag) post(fn func()) {
	m.mu.Lock()
	m.list = append(m.list, fn)
	m.mu.Unlock()
}

func (m *mailbag) work() {
	for {
		m.mu.Lock()
		list := m.list
		m.list = nil
		m.mu.Unlock()
		if len(list) == 0 {
			return
		}
		for _, fn := range list {
			fn()
		}
	}
}

func (p *peer) Writer() *resp.Writer { return &p.w }
func (p *peer) Kill()                {}
func (p *peer) Post(fn func()) {
	p.mail.post(func() {
		if !p.gone {
			fn()
		}
	})
}
func (p *peer) Push(_ byte, _ []byte, f resp.Releaser) {
	if f != nil {
		f.Release()
	}
}
func (p *peer) RemoteAddr() string                                               { return "1.2.3.4:5" }
func (p *peer) LocalAddr() string                                                { return "1.2.3.4:6" }
func (p *peer) FD() int                                                          { return 9 }
func (p *peer) Worker() int                                                      { return 0 }
func (p *peer) Buffers() (qbuf, qbufFree, argvMem, obl, oll, omem, totMem int64) { return }

// driver runs a generator's commands on one executor.
type driver struct {
	e     *logged
	x     *dispatch.Executor
	g     *difftest.Generator
	rnd   *rand.Rand
	mail  mailbag
	conns []*peer
	cl    []*dispatch.Client
}

const driverConns = 3

func newDriver(t *testing.T, e *logged, seed int64) *driver {
	groups := slices.DeleteFunc(difftest.GroupNames(), func(name string) bool { return name == "server" })
	g, err := difftest.NewGenerator(difftest.Options{Seed: seed, Conns: driverConns, Keys: 24, Groups: groups})
	if err != nil {
		t.Fatal(err)
	}
	d := &driver{e: e, x: e.NewExecutor(), g: g, rnd: rand.New(rand.NewPCG(uint64(seed), 7))}
	d.x.SetPost(d.mail.post)
	for range driverConns {
		d.conns, d.cl = append(d.conns, nil), append(d.cl, nil)
	}
	for i := range d.cl {
		d.connect(i)
	}
	return d
}

func (d *driver) connect(i int) {
	d.conns[i] = &peer{mail: &d.mail}
	d.cl[i] = d.x.NewClient(d.conns[i])
}

func (d *driver) hangUp(i int) {
	d.conns[i].gone = true
	d.cl[i].Close()
}

// extra are commands that the generator does not know of.
func (d *driver) extra() [][]byte {
	n := strconv.Itoa(d.rnd.IntN(4))
	list := [][]string{
		{"FLUSHDB"}, {"SWAPDB", n, strconv.Itoa(d.rnd.IntN(4))}, {"SELECT", n}, {"SELECT", n}, {"SELECT", "0"}, {"SELECT", "0"},
		{"FLUSHALL", "ASYNC"}, {"PUBLISH", "a", "b"},
	}
	at := d.rnd.IntN(len(list) * 4)
	if at >= len(list) {
		at = 2
	}
	argv := make([][]byte, len(list[at]))
	for i, w := range list[at] {
		argv[i] = []byte(w)
	}
	return argv
}

// typed are commands on keys of their type, most of them rare in what the generator
// makes: those with deadlines, what takes at random, groups of streams, what waits.
var typed = strings.Split(strings.TrimSpace(`
hset hash:K M N M N M N
hset hash:K M V
hexpire hash:K N fields 2 M M
hpexpire hash:K N fields 1 M
hpexpireat hash:K 1600000000000 fields 1 M
hpersist hash:K fields 2 M M
hgetdel hash:K fields 2 M M
hgetex hash:K px N fields 2 M M
hgetex hash:K persist fields 1 M
hsetex hash:K px N fields 2 M N M N
hsetex hash:K fnx keepttl fields 1 M N
hincrbyfloat hash:K M 0.1
hincrby hash:K M N
hdel hash:K M M
expiremember hash:K M 1
pexpiremember hash:K M N ms
persist hash:K M
sadd set:K M M M M
sadd set:K N N N
spop set:K
spop set:K 3
spop set:K 1000
smove set:K set:K M
srem set:K M M
sinterstore set:K set:K set:K
sunionstore set:K set:K set:K
sdiffstore set:K set:K set:K
expiremember set:K M 1
expiremember set:K M N ms
pexpirememberat set:K M 1600000000000
zadd zset:K N M N M
zadd zset:K nx incr N M
zadd zset:K xx ch gt N M
zincrby zset:K 0.1 M
zpopmin zset:K 2
zmpop 2 zset:K zset:K max count 2
bzmpop 0.01 2 zset:K zset:K min
bzpopmax zset:K zset:K 0.01
zrangestore zset:K zset:K 0 5
zunionstore zset:K 2 zset:K set:K weights 1 2
zinterstore zset:K 2 zset:K zset:K
zremrangebyrank zset:K 3 5
expiremember zset:K M N ms
expiremember zset:K M 1
rpush list:K M M M
lpush list:K V
lpop list:K 2
lmpop 2 list:K list:K right count 2
blmpop 0.01 2 list:K list:K left
blpop list:K list:K 0.01
blpop list:K list:K 0.05
brpop list:K 0.02
blmove list:K list:K left right 0.01
brpoplpush list:K list:K 0.05
lrem list:K 1 M
linsert list:K before M N
ltrim list:K 1 -2
sort list:K alpha store list:K
sort set:K by nosort limit 0 3 store list:K
sort zset:K by nosort get # get string:* store list:K
sort list:K by hash:*->m1 alpha store list:K
geoadd geo:K N 10 M
georadius geo:K 10 10 5000 km store zset:K
georadius geo:K 10 10 5000 km storedist zset:K
geosearchstore zset:K geo:K fromlonlat 10 10 byradius 9000 km
xadd stream:K * M V
xadd stream:K maxlen ~ 20 * M V
xadd stream:K minid ~ 5 limit 10 * M N
xtrim stream:K maxlen = 10
xtrim stream:K maxlen ~ 10
xdel stream:K 5-N
xadd stream:K 5-N a b
xgroup create stream:K g 0 mkstream
xgroup create stream:K h $ mkstream
xgroup createconsumer stream:K g C
xgroup delconsumer stream:K g C
xgroup setid stream:K g 0 entriesread 3
xgroup destroy stream:K h
xreadgroup group g C count 3 streams stream:K >
xreadgroup group g C noack count 2 streams stream:K stream:K > >
xreadgroup group g C streams stream:K 0
xreadgroup group h C block 20 streams stream:K >
xautoclaim stream:K g C 0 0 count 3
xautoclaim stream:K g C 0 0 count 3 justid
xclaim stream:K g C 0 5-1 5-N force
xclaim stream:K g C 0 5-1 5-N justid idle 50 retrycount 4
xack stream:K g 5-N
xsetid stream:K 2900000000000-0
set string:K N px N
set string:K V exat 1600000000
set string:K V keepttl get
setex string:K 1 V
getex string:K px N
getex string:K persist
getdel string:K
incrbyfloat string:n 0.1
incrby string:n N
append string:K V
setrange string:K 9000 M
setrange string:K N V
setbit string:K N 1
bitop not string:K string:K
bitfield string:K incrby u8 N 3
mset string:K V string:K N
msetnx string:K V string:K N
pfadd hll:K M M M
pfmerge hll:K hll:K hll:K
pfcount hll:K hll:K
pfcount hll:K
del A B
unlink A
expire A 1
pexpire A N nx
pexpireat A 1600000000000
expireat A 9999999999 gt
persist A
rename A B
renamenx A B
copy A B replace
copy A B db 1 replace
move A 1
multi
multi
exec
exec
exec
select 1
select 0
keydb.hrename A B
keydb.nhset nest:K.M.M V
keydb.nhset nest:K.M V
`), "\n")

// own makes a command of the list.
func (d *driver) own() [][]byte {
	r := d.rnd
	words := strings.Fields(typed[r.IntN(len(typed))])
	types := []string{"hash", "set", "zset", "list", "stream", "string", "geo", "hll"}
	argv := make([][]byte, len(words))
	for i, w := range words {
		switch {
		case w == "M":
			w = fmt.Sprintf("m%d", r.IntN(12))
		case w == "N":
			w = strconv.Itoa(1 + r.IntN(200))
		case w == "C":
			w = fmt.Sprintf("c%d", r.IntN(3))
		case w == "V":
			w = strings.Repeat("value", r.IntN(60))
		case w == "A", w == "B":
			w = fmt.Sprintf("%s:%d", types[r.IntN(len(types))], r.IntN(2))
		case w == "5-N":
			w = fmt.Sprintf("5-%d", 1+r.IntN(30))
		case i > 0:
			w = strings.ReplaceAll(strings.ReplaceAll(w, ":K", fmt.Sprintf(":%d", r.IntN(2))), ".M", fmt.Sprintf(".m%d", r.IntN(3)))
		}
		argv[i] = []byte(w)
	}
	return argv
}

// run runs about n commands.
func (d *driver) run(n int) {
	d.g.Fresh()
	for n > 0 {
		var batch []dispatch.Pending
		conn := -1
		for _, s := range d.g.Batch() {
			if s.Raw != nil || s.Digest || len(s.Argv) == 0 || bytes.EqualFold(s.Argv[0], []byte("config")) ||
				bytes.EqualFold(s.Argv[0], []byte("debug")) || bytes.EqualFold(s.Argv[0], []byte("shutdown")) {
				continue
			}
			conn = s.Conn
			batch = append(batch, dispatch.Pending{Client: d.cl[conn], Argv: s.Argv})
			if s.ScanLoop {
				break
			}
		}
		if conn < 0 {
			continue
		}
		if conn == 0 { // the others do what the generator has them do
			for i := range batch {
				batch[i].Argv = d.own()
			}
		}
		if d.rnd.IntN(8) == 0 {
			batch = append(batch, dispatch.Pending{Client: d.cl[conn], Argv: d.extra()})
		}
		n -= len(batch)
		for i := range batch { // checked builds spoil arguments, which steps share
			batch[i].Argv = cloned(batch[i].Argv)
		}
		d.send(conn, batch)
		if d.rnd.IntN(4) == 0 {
			d.e.clock.now.Add(int64(d.rnd.IntN(40)) * int64(time.Millisecond))
		}
		if d.rnd.IntN(10) == 0 {
			d.e.ks.ExpireCycle(db.Millis(d.e.clock.Wall()/1e6), 1000)
		}
	}
	for i := range d.cl {
		d.hangUp(i)
	}
	d.mail.work()
	d.x.Close()
}

// cloned copies arguments.
func cloned(argv [][]byte) [][]byte {
	out := make([][]byte, len(argv))
	for i, a := range argv {
		out[i] = append([]byte{}, a...)
	}
	return out
}

// send runs a batch, and gives up what waits for too long.
func (d *driver) send(conn int, batch []dispatch.Pending) {
	for tries := 0; len(batch) > 0; tries++ {
		d.x.Expire()
		d.mail.work()
		c := d.cl[conn]
		if c.Closing() || c.Blocked() && tries > 4 {
			d.hangUp(conn)
			d.connect(conn)
			return
		}
		if !c.Blocked() {
			d.x.RunBatch(batch)
		} else {
			d.e.clock.now.Add(int64(d.rnd.IntN(1000)) * int64(time.Millisecond))
		}
		done := 0
		for done < len(batch) && batch[done].Done {
			done++
		}
		batch = batch[done:]
		for i := range batch {
			batch[i].Done = false
		}
		for _, p := range d.conns {
			p.w.Rewind(resp.Mark{})
		}
	}
}

// replay repeats what a reader has, and tells what that was.
func replay(t *testing.T, r *oplog.Reader, on *dispatch.Replayer, db *int) (history []string) {
	t.Helper()
	reader := resp.Reader{Limits: &resp.Limits{MaxBulk: 1 << 30}}
	for {
		b, err := r.Next(1<<18, 0)
		if err != nil {
			t.Fatal(err)
		}
		if b.Empty() {
			return history
		}
		var all [][][]byte
		for e := range b.Entries() {
			if e.DB != *db {
				*db = e.DB
				all = append(all, [][]byte{[]byte("SELECT"), strconv.AppendInt(nil, int64(e.DB), 10)})
			}
			rest := e.RESP
			for range e.Effects {
				argv, n, err := reader.Next(rest, nil)
				history = append(history, fmt.Sprintf("%d: %.150q", e.DB, argv))
				if err != nil || n == 0 {
					t.Fatalf("%v in %.100q", err, rest)
				}
				all = append(all, argv)
				rest = rest[n:]
			}
			if len(rest) > 0 {
				t.Fatalf("left over: %.100q", rest)
			}
		}
		on.Report = func(argv [][]byte, err error) { t.Errorf("effect %.300q: %v", argv, err) }
		if err := on.Run(len(all), func(i int) [][]byte { return all[i] }); err != nil {
			t.Fatal(err)
		}
		r.Release(b.End())
	}
}

// world describes all keys, those included whose time came at from or later.
func world(ks *db.Keyspace, from db.Millis) map[string]string {
	sn := ks.Snapshot(nil)
	defer sn.Close()
	m := map[string]string{}
	sn.Items(func(n int, it *db.Item) bool {
		if it.Expire != db.NoExpiry && it.Expire < from {
			return true
		}
		sum := digest.Value(it, 0)
		m[fmt.Sprintf("%d %s", n, it.Key)] = fmt.Sprintf("type %v, digest %s, expires %d, members %s", it.Type, sum.String(), it.Expire, deadlines(it))
		return true
	})
	return m
}

// deadlines sums up those of members.
func deadlines(it *db.Item) string {
	timed, ok := it.Coll.Object.(db.Timed)
	if !ok || timed.NextDeadline() == 0 {
		return "none"
	}
	n, sum := 0, int64(0)
	add := func(at db.Millis, found bool) bool {
		if found && at != 0 && at != db.NoExpiry {
			n++
			sum += int64(at)
		}
		return true
	}
	switch it.Type {
	case db.TypeHash:
		h := hash.Of(it.Coll, 0)
		h.Each(func(field, _ []byte) bool { return add(h.Deadline(field)) })
	case db.TypeSet:
		s := set.Of(it.Coll, 0)
		s.Each(func(m []byte) bool { return add(s.Deadline(m)) })
	case db.TypeZSet:
		z := zset.Of(&it.Coll, 0)
		z.Each(0, z.Len(), false, func(m []byte, _ float64) bool { return add(z.Deadline(m)) })
	}
	return fmt.Sprintf("%d %d first %d", n, sum, timed.NextDeadline())
}

// about are the last effects that name a key.
func about(key string, history []string) string {
	_, name, _ := strings.Cut(key, " ")
	var found []string
	for _, line := range history {
		if strings.Contains(line, strconv.Quote(name)) || strings.Contains(line, "FLUSH") || strings.Contains(line, "SWAPDB") {
			found = append(found, line)
		}
	}
	return strings.Join(found[max(len(found)-25, 0):], "\n   ")
}

// sameElsewhere repeats what a reader has in a new keyspace, a year later, and reports what
// differs there.
func sameElsewhere(t *testing.T, e *logged, r *oplog.Reader, from db.Millis) (copied *logged) {
	t.Helper()
	copied = newLogged(t, start+year, nil, 0)
	on, at := copied.NewReplayer(), 0
	history := replay(t, r, on, &at)
	on.Close()
	compareWorlds(t, e, copied, history, from)
	return copied
}

// compareWorlds reports what differs.
func compareWorlds(t *testing.T, want, got *logged, history []string, from db.Millis) {
	t.Helper()
	a, b := world(want.ks, from), world(got.ks, from)
	shown := 0
	for k, v := range a {
		if b[k] != v && shown < 8 {
			shown++
			t.Errorf("key %.60q:\nhas   %s\nafter %s\nby %s", k, v, b[k], about(k, history))
		}
	}
	for k, v := range b {
		if _, ok := a[k]; !ok && shown < 8 {
			shown++
			t.Errorf("key %.60q is there: %s\nby %s", k, v, about(k, history))
		}
	}
	compareStreams(t, want, got)
}

// seen are the times of consumers that no effect tells.
var seen = regexp.MustCompile(`(seen|active)-time\r\n:-?\d+`)

// compareStreams compares groups, consumers and pending entries.
func compareStreams(t *testing.T, want, got *logged) {
	t.Helper()
	sn := want.ks.Snapshot(nil)
	var keys []string
	var dbs []int
	sn.Items(func(n int, it *db.Item) bool {
		if it.Type == db.TypeStream && it.Expire == db.NoExpiry {
			keys, dbs = append(keys, string(it.Key)), append(dbs, n)
		}
		return true
	})
	sn.Close()
	for i, k := range keys {
		a, b := describe(want, dbs[i], k), describe(got, dbs[i], k)
		if a != b {
			t.Errorf("stream %d %q:\nis    %.3000q\nafter %.3000q", dbs[i], k, a, b)
			return
		}
	}
}

func describe(e *logged, n int, key string) string {
	x := e.NewExecutor()
	defer x.Close()
	p := &peer{mail: &mailbag{}}
	c := x.NewClient(p)
	defer c.Close()
	c.SetDB(n)
	var words [][]byte
	for _, w := range []string{"XINFO", "STREAM", key, "FULL", "COUNT", "0"} {
		words = append(words, []byte(w))
	}
	x.RunBatch([]dispatch.Pending{{Client: c, Argv: words}})
	return string(seen.ReplaceAll(p.w.Bytes(), nil))
}

// TestEffectsRepeat runs random commands with an oplog, by one executor and by several,
// and repeats the log elsewhere, a year later: the keyspaces are the same. HEDDLE_REPLAY
// is how many commands to run.
func TestEffectsRepeat(t *testing.T) {
	total := 60_000
	if testing.Short() {
		total = 10_000
	}
	if n, err := strconv.Atoi(os.Getenv("HEDDLE_REPLAY")); err == nil {
		total = n
	}
	for _, executors := range []int{1, 8} {
		t.Run(strconv.Itoa(executors), func(t *testing.T) { effectsRepeat(t, executors, total) })
	}
}

const (
	year  = int64(365 * 24 * time.Hour)
	start = int64(1_700_000_000_000_000_000)
)

func effectsRepeat(t *testing.T, executors, total int) {
	base := rand.Int64()
	if n, err := strconv.ParseInt(os.Getenv("HEDDLE_SEED"), 10, 64); err == nil {
		base = n
	}
	for era, done := int64(0), 0; done < total && !t.Failed(); era++ {
		n := 3000 + int(era%7)*1000
		seed := base + era*100
		e := newLogged(t, start, oplog.New(oplog.Options{}), 0)
		r, err := e.log.NewReader(0)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range executors {
			d := newDriver(t, e, seed+int64(i))
			wg.Go(func() { d.run(n / executors) })
		}
		wg.Wait()
		copied := sameElsewhere(t, e, r, 0)
		if t.Failed() {
			t.Logf("seed %d, %d commands by %d executors", seed, n, executors)
		}
		r.Close()
		if err := copied.ks.Check(); err != nil {
			t.Error(err)
		}
		e.ks.Close()
		copied.ks.Close()
		done += n
	}
}

// TestEffectsWithoutMemory is the same where there is little memory: commands that fail
// half-way leave in the log what they did.
func TestEffectsWithoutMemory(t *testing.T) {
	for range 4 {
		seed := rand.Int64()
		e := newLogged(t, start, oplog.New(oplog.Options{}), 12<<20)
		r, err := e.log.NewReader(0)
		if err != nil {
			t.Fatal(err)
		}
		d := newDriver(t, e, seed)
		fails := 0
		for range 4000 {
			argv := d.heavy()
			d.conns[0].w.Rewind(resp.Mark{})
			d.x.RunBatch([]dispatch.Pending{{Client: d.cl[0], Argv: argv}})
			if bytes.Contains(d.conns[0].w.Bytes(), []byte("-OOM")) {
				fails++
			}
			d.mail.work()
			if d.rnd.IntN(50) == 0 {
				e.clock.now.Add(int64(d.rnd.IntN(300)) * int64(time.Millisecond))
				e.ks.ExpireCycle(db.Millis(e.clock.Wall()/1e6), 1000)
			}
		}
		// A key whose time has come stays unseen when there is no memory to remove it.
		copied := sameElsewhere(t, e, r, db.Millis(e.clock.Wall()/1e6))
		if fails < 100 {
			t.Errorf("only %d commands failed", fails)
		}
		t.Logf("seed %d, %d failed", seed, fails)
		d.x.Close()
		r.Close()
		e.ks.Close()
		copied.ks.Close()
	}
}

// heavy makes a command that needs much memory, or gives some back.
func (d *driver) heavy() [][]byte {
	r := d.rnd
	list := []string{
		"hset hash:K L", "hset hash:K L", "hmset hash:K L", "hsetex hash:K px 100 fields 60 L", "sadd set:K L", "zadd zset:K Z", "rpush list:K L", "lpush list:K L",
		"set string:K V", "append string:K V", "setrange string:K 60000 V", "mset string:K V string:K V", "sort list:K alpha store list:K", "sunionstore set:K set:K set:K",
		"zunionstore zset:K 2 zset:K zset:K", "zrangestore zset:K zset:K 0 -1", "move hash:K 1", "copy hash:K hash:K replace", "copy zset:K zset:K db 1 replace",
		"zrem zset:K m1 m2 m3", "zpopmin zset:K 3", "hdel hash:K m1 m2 m3", "srem set:K m1 m2 m3", "xadd stream:K * L", "lmove list:K list:K left right",
		"rename hash:K hash:K", "keydb.nhset hash:K.a.b V V", "pfadd hll:K L", "pfmerge hll:K hll:K", "expiremember hash:K m1 1", "expiremember set:K m2 1", "expiremember zset:K m3 1",
		"set string:K V px 100", "del list:K", "del set:K", "smove set:K set:K m5", "linsert list:K before m1 V", "bitop not string:K string:K", "lpop list:K 50", "spop set:K 30",
		"zremrangebyrank zset:K 0 20", "ltrim list:K 0 20", "multi", "exec", "exec",
	}
	var argv [][]byte
	for _, w := range strings.Fields(list[r.IntN(len(list))]) {
		switch w {
		case "L":
			for i := range 120 {
				m := fmt.Sprintf("m%d", r.IntN(3000))
				if i%2 == 1 {
					m += strings.Repeat("v", r.IntN(200))
				}
				argv = append(argv, []byte(m))
			}
			continue
		case "Z":
			for range 60 {
				argv = append(argv, []byte(strconv.Itoa(r.IntN(100))), fmt.Appendf(nil, "m%d%s", r.IntN(3000), strings.Repeat("v", r.IntN(100))))
			}
			continue
		case "V":
			w = strings.Repeat("v", r.IntN(30000))
		}
		argv = append(argv, []byte(strings.ReplaceAll(w, ":K", fmt.Sprintf(":%d", r.IntN(120)))))
	}
	return argv
}

// TestEffectsMinusZero: -0, of which a listpack makes 0, is kept in what a command stores as
// a skiplist, for a long member or for many.
func TestEffectsMinusZero(t *testing.T) {
	many := make([]string, 0, 400)
	for i := range 200 {
		many = append(many, strconv.Itoa(i/100), fmt.Sprint("m:", i))
	}
	for name, pairs := range map[string][]string{
		"long": {"0", "a", "0", "b", "3", strings.Repeat("x", 80)},
		"many": many,
		"all":  {"0", "a", "0", strings.Repeat("x", 80)},
		"few":  {"0", "a", "3", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newLogged(t, start, oplog.New(oplog.Options{}), 0)
			r, err := e.log.NewReader(0)
			if err != nil {
				t.Fatal(err)
			}
			x, p := e.NewExecutor(), &peer{mail: &mailbag{}}
			c := x.NewClient(p)
			for _, words := range [][]string{append([]string{"ZADD", "from"}, pairs...), {"ZUNIONSTORE", "to", "1", "from", "WEIGHTS", "-1"}} {
				argv := make([][]byte, len(words))
				for i, w := range words {
					argv[i] = []byte(w)
				}
				x.RunBatch([]dispatch.Pending{{Client: c, Argv: argv}})
			}
			c.Close()
			x.Close()
			copied := sameElsewhere(t, e, r, 0)
			r.Close()
			e.ks.Close()
			copied.ks.Close()
		})
	}
}
