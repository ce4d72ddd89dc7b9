package db

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/db/invariants"
)

// timedToys is the lease of all, which nobody looks at.
var timedToys = Shared{new(lease)}

// timedToy is a set for tests, whose members have deadlines or 0.
type timedToy map[string]Millis

func (o timedToy) Len() int         { return len(o) }
func (o timedToy) Clone() Object    { return maps.Clone(o) }
func (o timedToy) Encoding() string { return "toy" }
func (o timedToy) MemSize() int64   { return int64(len(o)) * 20 }
func (o timedToy) shared() *Shared  { return &timedToys }

func (o timedToy) NextDeadline() (next Millis) {
	for _, at := range o {
		if at != 0 && (next == 0 || at < next) {
			next = at
		}
	}
	return next
}

func (o timedToy) ExpireDue(now Millis, limit int, fn func(member []byte)) (n int) {
	for m, at := range o {
		if n == limit {
			break
		}
		if at != 0 && at <= now {
			fn([]byte(m))
			delete(o, m)
			n++
		}
	}
	return n
}

// AllDue never tells.
func (o timedToy) AllDue(Millis) bool { return false }

// String spells the members in order.
func (o timedToy) String() string {
	var b strings.Builder
	for _, m := range slices.Sorted(maps.Keys(o)) {
		fmt.Fprintf(&b, "%s:%d ", m, o[m])
	}
	return b.String()
}

// timedTest changes sets of members with deadlines at random, beside a model.
type timedTest struct {
	t    *testing.T
	ks   *Keyspace
	tx   *Tx
	rnd  *rand.Rand
	now  Millis
	want map[string]timedToy
	ttl  map[string]Expiry // of keys
	gone []string          // what the hook was told of
}

func (tt *timedTest) key() string { return "k" + strconv.Itoa(tt.rnd.IntN(12)) }

// due drops from the model what is due by now.
func (tt *timedTest) due(now Millis) {
	for k, o := range tt.want {
		if at, ok := tt.ttl[k]; ok && now > at {
			tt.drop(k)
			continue
		}
		maps.DeleteFunc(o, func(_ string, at Millis) bool { return at != 0 && at <= now })
		if len(o) == 0 {
			tt.drop(k)
		}
	}
}

func (tt *timedTest) drop(k string) {
	delete(tt.want, k)
	delete(tt.ttl, k)
}

// edit adds members, changes deadlines, removes members. Due ones must not be there.
func (tt *timedTest) edit() {
	k := []byte(tt.key())
	tt.due(tt.now)
	with(tt.ks, tt.tx, 0, tt.now, func(tx *Tx) {
		c, found, err := tx.EditCollection(k, TypeSet)
		o, _ := c.Object.(timedToy)
		if err != nil || found != (o != nil) || o.String() != tt.want[string(k)].String() {
			tt.t.Fatalf("%s: found %v, %v, %v; want %v", k, found, err, o, tt.want[string(k)])
		}
		if !found {
			o = timedToy{"first": 0}
			if err := tx.PutObject(k, TypeSet, o, KeepExpiry); err != nil {
				tt.t.Fatal(err)
			}
		}
		for range tt.rnd.IntN(4) {
			m := strconv.Itoa(tt.rnd.IntN(10))
			switch tt.rnd.IntN(5) {
			case 0:
				delete(o, m)
			case 1:
				o[m] = 0
			default:
				o[m] = tt.now + 1 + Millis(tt.rnd.Int64N(1<<(5+tt.rnd.IntN(16))))
			}
		}
		if tt.rnd.IntN(4) == 0 {
			delete(o, "first")
		}
		tx.Touched(k, ClassSet, "sadd")
		if tt.want[string(k)] = maps.Clone(o); len(o) == 0 {
			tt.drop(string(k))
		}
	})
}

// shuffle renames, copies, deletes and times whole keys.
func (tt *timedTest) shuffle() {
	from, to := tt.key(), tt.key()
	tt.due(tt.now)
	with(tt.ks, tt.tx, 0, tt.now, func(tx *Tx) {
		// EditCollection first: a key may be there because its members were not removed yet.
		tx.EditCollection([]byte(from), TypeSet)
		tx.EditCollection([]byte(to), TypeSet)
		o, has := tt.want[from]
		switch tt.rnd.IntN(4) {
		case 0:
			tx.Rename([]byte(from), []byte(to))
			if has && from != to {
				at, timed := tt.ttl[from]
				tt.drop(from)
				tt.drop(to)
				if tt.want[to] = o; timed {
					tt.ttl[to] = at
				}
			}
		case 1:
			tx.Copy([]byte(from), 0, []byte(to))
			if has && from != to {
				delete(tt.ttl, to)
				if at, timed := tt.ttl[from]; timed {
					tt.ttl[to] = at
				}
				tt.want[to] = maps.Clone(o)
			}
		case 2:
			tx.Delete([]byte(from))
			tt.drop(from)
		case 3:
			at := tt.now + Millis(tt.rnd.IntN(5000))
			if tx.SetExpire([]byte(from), at); has {
				tt.ttl[from] = at
			}
		}
	})
}

// compare wants the keyspace to show what the model has, and what was due less than
// two ticks ago at most.
func (tt *timedTest) compare() {
	tt.due(tt.now)
	late := func(at Millis) bool { return at > 0 && at <= tt.now && at+2<<tickShift >= tt.now }
	got := map[string]bool{}
	sn := tt.ks.Snapshot(nil)
	defer sn.Close()
	sn.Each(0, func(it *Item) bool {
		k, o := string(it.Key), maps.Clone(it.Coll.Object.(timedToy))
		maps.DeleteFunc(o, func(_ string, at Millis) bool { return late(at) })
		if got[k] = true; o.String() != tt.want[k].String() && !late(it.Expire) {
			tt.t.Fatalf("at %d: %s has %v, want %v", tt.now, k, o, tt.want[k])
		}
		return true
	})
	for k := range tt.want {
		if !got[k] {
			tt.t.Fatalf("%s is gone", k)
		}
	}
}

func TestTimedModel(t *testing.T) {
	for seed := range uint64(20) {
		tt := &timedTest{t: t, rnd: rand.New(rand.NewPCG(seed, 5)), now: 1_700_000_000_000,
			want: map[string]timedToy{}, ttl: map[string]Expiry{}}
		tt.ks = open(t, Options{Shards: 1 << (seed % 3), Databases: 1, Hooks: Hooks{
			MemberExpired: func(_ int, _ Type, key, member []byte) { tt.gone = append(tt.gone, string(key)+" "+string(member)) },
		}})
		tt.tx = tt.ks.NewTx()
		var sn *Snapshot
		for i := range 3000 {
			switch tt.rnd.IntN(12) {
			case 0, 1, 2:
				tt.shuffle()
			case 3, 4:
				tt.now += Millis(tt.rnd.Int64N(1 << tt.rnd.IntN(15)))
			case 5:
				if sn != nil {
					sn.Close()
					sn = nil
				} else {
					sn = tt.ks.Snapshot(nil)
				}
			case 6:
				tt.ks.ExpireCycle(tt.now, 1<<30)
				tt.compare()
			default:
				tt.edit()
			}
			if i%50 == 0 {
				if err := tt.ks.Check(); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, i, err)
				}
			}
		}
		if sn != nil {
			sn.Close()
		}
		if len(tt.gone) == 0 {
			t.Errorf("seed %d: no member expired", seed)
		}
	}
}

// TestTimedMany lets many members of one collection be due at once: they go a few
// under each lock, all of them in one cycle, and with the last the key goes.
func TestTimedMany(t *testing.T) {
	const members = 5000
	var events []string
	hooked := 0
	ks := open(t, Options{Shards: 2, Databases: 1, Hooks: Hooks{
		Event: func(_ int, class Class, event string, key []byte) {
			events = append(events, fmt.Sprint(class, event, string(key)))
		},
		MemberExpired: func(int, Type, []byte, []byte) { hooked++ },
	}})
	tx, k, now := ks.NewTx(), []byte("k"), Millis(1_700_000_000_000)
	o := timedToy{}
	for i := range members {
		o[strconv.Itoa(i)] = now + 1000
	}
	with(ks, tx, 0, now, func(tx *Tx) {
		tx.PutObject(k, TypeHash, o, NoExpiry)
		tx.Touched(k, ClassHash, "hset")
	})
	if n := ks.ExpireCycle(now+900, 1<<30); n != 0 || hooked != 0 {
		t.Errorf("%d entries, %d members before their time", n, hooked)
	}
	if n := ks.ExpireCycle(now+2000, 100); n < 100 || n > 300 || hooked == 0 || hooked > 300 {
		t.Errorf("a cycle with a budget of 100 did %d, %d members", n, hooked)
	}
	if err := ks.Check(); err != nil {
		t.Error(err)
	}
	ks.ExpireCycle(now+2001, 1<<30)
	if st := ks.Stats(); hooked != members || st.ExpiredMembers != members || st.Expired != 0 {
		t.Errorf("%d members expired, counted %d, and %d keys", hooked, st.ExpiredMembers, st.Expired)
	}
	if ks.Whole(now).Len(0) != 0 {
		t.Error("the key is left")
	}
	last := events[len(events)-2:]
	if want := []string{fmt.Sprint(ClassHash, "hexpired", "k"), fmt.Sprint(ClassGeneric, "del", "k")}; !slices.Equal(last, want) {
		t.Errorf("events end with %q, want %q", last, want)
	}
}

// TestTimedEntries checks that deadlines which change, and collections that come and
// go, do not fill the expiry index.
func TestTimedEntries(t *testing.T) {
	ks := open(t, Options{Shards: 1, Databases: 1})
	tx, now := ks.NewTx(), Millis(1_700_000_000_000)
	for i := range 30_000 {
		k := fmt.Append(nil, i%50)
		with(ks, tx, 0, now, func(tx *Tx) {
			if i%3 == 0 {
				tx.Delete(k)
			}
			c, found, _ := tx.EditCollection(k, TypeSet)
			if !found {
				tx.PutObject(k, TypeSet, timedToy{"m": now + 1<<40}, NoExpiry)
			} else {
				c.Object.(timedToy)["m"] = now + 1<<40 - Millis(i)
			}
			tx.Touched(k, ClassSet, "sadd")
		})
		if i%100 == 0 {
			ks.ExpireCycle(now, 1000)
		}
	}
	if n := ks.shards[0].at(0).Load().wheel.entries; n > 3*staleSlack {
		t.Errorf("%d entries for 50 collections", n)
	}
}

// TestTimedSnapshot removes members while a snapshot shows them.
func TestTimedSnapshot(t *testing.T) {
	ks := open(t, Options{Shards: 1, Databases: 1})
	tx, now := ks.NewTx(), Millis(1_700_000_000_000)
	want := ""
	with(ks, tx, 0, now, func(tx *Tx) {
		o := timedToy{"a": now + 10, "b": now + 5000, "c": 0}
		want = o.String()
		tx.PutObject([]byte("k"), TypeZSet, o, NoExpiry)
	})
	sn := ks.Snapshot(nil)
	ks.ExpireCycle(now+1000, math.MaxInt)
	ks.ExpireCycle(now+10_000, math.MaxInt)
	sn.Each(0, func(it *Item) bool {
		if got := it.Coll.Object.(timedToy).String(); got != want {
			t.Errorf("the snapshot shows %s, want %s", got, want)
		}
		return true
	})
	sn.Close()
	with(ks, tx, 0, now, func(tx *Tx) {
		if c, _, _ := tx.Collection([]byte("k"), TypeZSet); c.Object.(timedToy).String() != "c:0 " {
			t.Errorf("left is %v", c.Object)
		}
	})
}

// BenchmarkTouchedObject is what a change of a large collection costs the engine.
func BenchmarkTouchedObject(b *testing.B) {
	if invariants.Enabled {
		b.Skip("checked builds are slow")
	}
	ks := open(b, Options{})
	tx, key := ks.NewTx(), []byte("key:00000000001")
	with(ks, tx, 0, 1, func(tx *Tx) { tx.PutObject(key, TypeList, &toy{items: []string{"a"}}, NoExpiry) })
	b.ReportAllocs()
	for b.Loop() {
		one(ks, tx, key, true, func() {
			tx.EditCollection(key, TypeList)
			tx.Touched(key, ClassList, "rpush")
		})
	}
}
