package db

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"heddle/db/arena"

	"pgregory.net/rapid"
)

// toy is a large collection for tests: a list of strings that copies itself.
type toy struct {
	items []string
	Shared
}

func (o *toy) Len() int         { return len(o.items) }
func (o *toy) Clone() Object    { return &toy{slices.Clone(o.items), o.Shared} }
func (o *toy) Encoding() string { return "toy" }
func (o *toy) MemSize() (n int64) {
	for _, s := range o.items {
		n += int64(len(s)) + 16
	}
	return n
}

// modelValue is what the model knows of a key.
type modelValue struct {
	val string // a toy's items joined by commas
	typ Type
	at  Expiry
}

// model is the keyspace as simple as can be.
type model struct {
	dbs [3]map[string]modelValue
	now Millis
}

func (m *model) get(db int, key string) (modelValue, bool) {
	v, ok := m.dbs[db][key]
	if ok && v.at != NoExpiry && m.now > v.at {
		return modelValue{}, false
	}
	return v, ok
}

func (m *model) clone() *model {
	c := &model{now: m.now}
	for i := range m.dbs {
		c.dbs[i] = maps.Clone(m.dbs[i])
	}
	return c
}

// expiry is what a deadline becomes by storing with e.
func (m *model) expiry(db int, key string, e Expiry) Expiry {
	if e != KeepExpiry {
		return e
	}
	if v, ok := m.get(db, key); ok {
		return v.at
	}
	return NoExpiry
}

// frozenModel is a snapshot and what it must show.
type frozenModel struct {
	snap *Snapshot
	want *model
}

// modelTest runs random operations on a keyspace and on the model.
type modelTest struct {
	ks    *Keyspace
	tx    *Tx
	m     *model
	snaps []frozenModel
	t     *rapid.T
}

func (mt *modelTest) key() string                                   { return mt.draw(keyGen, "key").(string) }
func (mt *modelTest) db() int                                       { return rapid.IntRange(0, 2).Draw(mt.t, "db") }
func (mt *modelTest) val() string                                   { return valGen.Draw(mt.t, "val") }
func (mt *modelTest) exp() Expiry                                   { return expGen(mt.m.now).Draw(mt.t, "expiry") }
func (mt *modelTest) draw(g *rapid.Generator[string], l string) any { return g.Draw(mt.t, l) }

var keyGen = rapid.Custom(func(t *rapid.T) string {
	k := strconv.Itoa(rapid.IntRange(0, 40).Draw(t, "n"))
	switch rapid.IntRange(0, 9).Draw(t, "long") {
	case 0:
		return k + strings.Repeat("k", 300)
	case 1:
		return ""
	}
	return "key:" + k
})

var valGen = rapid.Custom(func(t *rapid.T) string {
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1:
		return strconv.FormatInt(rapid.Int64().Draw(t, "int"), 10)
	case 2:
		return strings.Repeat("b", rapid.IntRange(BigMin-10, 3*BigMin).Draw(t, "big"))
	case 3:
		return strings.Repeat("r", rapid.IntRange(200, 2000).Draw(t, "raw"))
	}
	return strings.Repeat("v", rapid.IntRange(0, 70).Draw(t, "len"))
})

func expGen(now Millis) *rapid.Generator[Expiry] {
	return rapid.Custom(func(t *rapid.T) Expiry {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return KeepExpiry
		case 1:
			return now + Millis(rapid.Int64Range(1, 3000).Draw(t, "soon"))
		case 2:
			return now + Millis(rapid.Int64Range(1, 1<<33).Draw(t, "late"))
		}
		return NoExpiry
	})
}

// run runs fn in a transaction.
func (mt *modelTest) run(fn func(tx *Tx, db int)) {
	db := mt.db()
	with(mt.ks, mt.tx, db, mt.m.now, func(tx *Tx) { fn(tx, db) })
}

func (mt *modelTest) equal(what string, got, want any) {
	if got != want {
		mt.t.Fatalf("%s: got %.80v, want %.80v", what, got, want)
	}
}

func (mt *modelTest) actions() map[string]func(*rapid.T) {
	do := func(fn func(tx *Tx, db int)) func(*rapid.T) {
		return func(t *rapid.T) { mt.t = t; mt.run(fn) }
	}
	return map[string]func(*rapid.T){
		"set": do(mt.set), "setRaw": do(mt.setRaw), "setInt": do(mt.setInt), "adopt": do(mt.adopt),
		"get": do(mt.get), "append": do(mt.append), "edit": do(mt.edit), "delete": do(mt.delete),
		"expire": do(mt.expire), "rename": do(mt.rename), "copy": do(mt.copy),
		"put": do(mt.putObject), "change": do(mt.editObject),
		"pack": do(mt.putPacked), "splice": do(mt.splice), "convert": do(mt.convert),
		"whole":    do(mt.whole),
		"time":     func(t *rapid.T) { mt.t = t; mt.time() },
		"cron":     func(t *rapid.T) { mt.t = t; mt.cron() },
		"snapshot": func(t *rapid.T) { mt.t = t; mt.snapshot() },
		"":         func(t *rapid.T) { mt.t = t; mt.check() },
	}
}

func (mt *modelTest) store(db int, key, val string, e Expiry) {
	mt.m.dbs[db][key] = modelValue{val, TypeString, mt.m.expiry(db, key, e)}
}

func (mt *modelTest) set(tx *Tx, db int) {
	k, v, e := mt.key(), mt.val(), mt.exp()
	mt.equal("set", tx.SetString([]byte(k), []byte(v), e), error(nil))
	mt.store(db, k, v, e)
}

func (mt *modelTest) setRaw(tx *Tx, db int) {
	k, v, e := mt.key(), mt.val(), mt.exp()
	mt.equal("setRaw", tx.SetRaw([]byte(k), []byte(v), e), error(nil))
	mt.store(db, k, v, e)
	m, _ := tx.Meta([]byte(k))
	mt.equal("encoding", m.Encoding, "raw")
}

func (mt *modelTest) setInt(tx *Tx, db int) {
	k, e, n := mt.key(), mt.exp(), rapid.Int64().Draw(mt.t, "n")
	mt.equal("setInt", tx.SetInt([]byte(k), n, e), error(nil))
	mt.store(db, k, strconv.FormatInt(n, 10), e)
}

func (mt *modelTest) adopt(tx *Tx, db int) {
	k, v, e := mt.key(), mt.val(), mt.exp()
	b := mt.ks.NewBig(len(v))
	copy(b.Bytes(), v)
	mt.equal("adopt", tx.AdoptBig([]byte(k), b, e), error(nil))
	mt.store(db, k, v, e)
}

func (mt *modelTest) get(tx *Tx, db int) {
	k := mt.key()
	s, ok, err := tx.String([]byte(k))
	v, has := mt.m.get(db, k)
	if has && v.typ != TypeString {
		mt.equal("get", err, ErrWrongType)
		return
	}
	mt.equal("get found", ok, has)
	if has {
		mt.equal("get", text(s), v.val)
	}
	at, ok := tx.Expire([]byte(k))
	mt.equal("expire found", ok, has)
	if has {
		mt.equal("expire", at, v.at)
	}
}

func (mt *modelTest) append(tx *Tx, db int) {
	k, v := mt.key(), mt.val()
	n, err := tx.Append([]byte(k), []byte(v))
	old, has := mt.m.get(db, k)
	if has && old.typ != TypeString {
		mt.equal("append", err, ErrWrongType)
		return
	}
	mt.store(db, k, old.val+v, KeepExpiry)
	mt.equal("append", n, len(old.val)+len(v))
}

func (mt *modelTest) edit(tx *Tx, db int) {
	k, size := mt.key(), rapid.IntRange(1, 2*BigMin).Draw(mt.t, "size")
	b, err := tx.Edit([]byte(k), size)
	old, has := mt.m.get(db, k)
	if has && old.typ != TypeString {
		mt.equal("edit", err, ErrWrongType)
		return
	}
	want := []byte(old.val)
	if len(want) < size {
		want = append(want, make([]byte, size-len(want))...)
	}
	mt.equal("edit", string(b), string(want))
	b[size/2] ^= 1
	want[size/2] ^= 1
	mt.store(db, k, string(want), KeepExpiry)
}

func (mt *modelTest) delete(tx *Tx, db int) {
	k := mt.key()
	_, has := mt.m.get(db, k)
	mt.equal("delete", tx.Delete([]byte(k)), has)
	delete(mt.m.dbs[db], k)
}

func (mt *modelTest) expire(tx *Tx, db int) {
	k, e := mt.key(), mt.exp()
	v, has := mt.m.get(db, k)
	mt.equal("setExpire", tx.SetExpire([]byte(k), e), has)
	if has {
		v.at = mt.m.expiry(db, k, e)
		mt.m.dbs[db][k] = v
	}
}

func (mt *modelTest) rename(tx *Tx, db int) {
	from, to := mt.key(), mt.key()
	v, has := mt.m.get(db, from)
	ok, err := tx.Rename([]byte(from), []byte(to))
	mt.equal("rename", ok, has)
	mt.equal("rename", err, error(nil))
	if has {
		delete(mt.m.dbs[db], from)
		mt.m.dbs[db][to] = v
	}
}

func (mt *modelTest) copy(tx *Tx, db int) {
	from, to, other := mt.key(), mt.key(), mt.db()
	v, has := mt.m.get(db, from)
	ok, err := tx.Copy([]byte(from), other, []byte(to))
	mt.equal("copy", ok, has)
	mt.equal("copy", err, error(nil))
	if has {
		mt.m.dbs[other][to] = v
	}
	mt.equal("type", tx.In(other).Type([]byte(to)), mt.typeOf(other, to))
}

func (mt *modelTest) typeOf(db int, key string) Type {
	v, ok := mt.m.get(db, key)
	if !ok {
		return TypeNone
	}
	return v.typ
}

func (mt *modelTest) putObject(tx *Tx, db int) {
	k, e := mt.key(), mt.exp()
	mt.equal("put", tx.PutObject([]byte(k), TypeList, &toy{items: []string{"a"}}, e), error(nil))
	tx.Touched([]byte(k), ClassList, "rpush")
	mt.m.dbs[db][k] = modelValue{"a", TypeList, mt.m.expiry(db, k, e)}
}

// editObject adds to a toy or takes from it; an empty one goes.
func (mt *modelTest) editObject(tx *Tx, db int) {
	k, add := mt.key(), rapid.Bool().Draw(mt.t, "add")
	v, has := mt.m.get(db, k)
	c, _, err := tx.EditCollection([]byte(k), TypeList)
	if has && v.typ != TypeList {
		mt.equal("editObject", err, ErrWrongType)
		return
	}
	mt.equal("editObject", c.Object != nil, has)
	if !has {
		return
	}
	l := c.Object.(*toy)
	mt.equal("object", strings.Join(l.items, ","), v.val)
	if add {
		l.items = append(l.items, "b")
	} else {
		l.items = l.items[1:]
	}
	tx.Touched([]byte(k), ClassList, "rpush")
	v.val = strings.Join(l.items, ",")
	mt.m.dbs[db][k] = v
	if len(l.items) == 0 {
		delete(mt.m.dbs[db], k)
	}
}

func (mt *modelTest) whole(tx *Tx, db int) {
	w := tx.Whole()
	switch n := rapid.IntRange(0, 9).Draw(mt.t, "whole"); n {
	case 0:
		w.Flush(db, rapid.Bool().Draw(mt.t, "async"))
		mt.m.dbs[db] = map[string]modelValue{}
	case 1, 2:
		other := mt.db()
		w.Swap(db, other)
		mt.m.dbs[db], mt.m.dbs[other] = mt.m.dbs[other], mt.m.dbs[db]
	case 3, 4:
		key, ok := w.RandomKey(db, nil)
		if ok {
			_, has := mt.m.get(db, string(key))
			mt.equal("random key", has, true)
		}
	default:
		mt.scan(w, db)
	}
}

func (mt *modelTest) scan(w Whole, db int) {
	got := map[string]bool{}
	for cursor := uint64(0); ; {
		cursor = w.Scan(db, cursor, 3, func(k []byte, typ Type) {
			mt.equal("scanned type", typ, mt.typeOf(db, string(k)))
			got[string(k)] = true
		})
		if cursor == 0 {
			break
		}
	}
	each := map[string]bool{}
	w.Each(db, func(k []byte, typ Type) bool {
		mt.equal("each type", typ, mt.typeOf(db, string(k)))
		each[string(k)] = true
		return true
	})
	for k := range mt.m.dbs[db] {
		if _, has := mt.m.get(db, k); has && (!got[k] || !each[k]) {
			mt.t.Fatalf("key %.20q: scanned %v, visited %v", k, got[k], each[k])
		}
	}
}

func (mt *modelTest) time() {
	if rapid.Bool().Draw(mt.t, "far") {
		mt.m.now += Millis(rapid.Int64Range(0, 1<<33).Draw(mt.t, "later"))
	} else {
		mt.m.now += Millis(rapid.Int64Range(0, 2000).Draw(mt.t, "later"))
	}
}

// cron expires, compacts and shrinks; then no dead key may be left.
func (mt *modelTest) cron() {
	mt.ks.ExpireCycle(mt.m.now, 1<<30)
	mt.ks.Age()
	mt.ks.Compact(1000, 10)
	mt.ks.Shrink()
	w := mt.ks.Whole(mt.m.now)
	for db := range mt.m.dbs {
		n := 0
		for k, v := range mt.m.dbs[db] {
			// An entry is due within a tick after its deadline.
			if v.at == NoExpiry || mt.m.now <= v.at+1<<tickShift {
				n++
			} else {
				delete(mt.m.dbs[db], k)
			}
		}
		if got := int(w.Len(db)); got > n {
			mt.t.Fatalf("database %d has %d keys after expiry, want %d", db, got, n)
		}
	}
}

// snapshot opens or closes one.
func (mt *modelTest) snapshot() {
	if len(mt.snaps) < 3 && rapid.Bool().Draw(mt.t, "begin") {
		mt.snaps = append(mt.snaps, frozenModel{mt.ks.Snapshot(nil), mt.m.clone()})
		return
	}
	if len(mt.snaps) == 0 {
		return
	}
	i := rapid.IntRange(0, len(mt.snaps)-1).Draw(mt.t, "which")
	mt.compare(mt.snaps[i])
	mt.snaps[i].snap.Close()
	mt.snaps = slices.Delete(mt.snaps, i, i+1)
}

// compare checks that a snapshot shows what was there when it began.
func (mt *modelTest) compare(f frozenModel) {
	for db := range f.want.dbs {
		got := map[string]modelValue{}
		f.snap.Each(db, func(it *Item) bool {
			v := modelValue{text(it.Str), it.Type, it.Expire}
			if it.Coll.Object != nil {
				v.val = strings.Join(it.Coll.Object.(*toy).items, ",")
			}
			if it.Coll.Packing != NotPacked {
				v.val = string(it.Coll.Packed)
			}
			got[string(it.Key)] = v
			return true
		})
		for k, v := range got { // keys that were expired, but not found yet
			if _, ok := f.want.dbs[db][k]; !ok && v.at != NoExpiry && v.at < f.want.now {
				delete(got, k)
			}
		}
		for k, v := range f.want.dbs[db] {
			if _, ok := got[k]; !ok && v.at != NoExpiry && v.at < f.want.now {
				delete(f.want.dbs[db], k)
			}
		}
		if !maps.Equal(got, f.want.dbs[db]) {
			mt.t.Fatalf("snapshot of database %d shows %.200v\nwant %.200v", db, got, f.want.dbs[db])
		}
	}
}

// check verifies the keyspace and some of its sums.
func (mt *modelTest) check() {
	if err := mt.ks.Check(); err != nil {
		mt.t.Fatal(err)
	}
	for _, f := range mt.snaps {
		mt.compare(f)
	}
}

func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		shards := 1 << rapid.IntRange(0, 3).Draw(rt, "shards")
		ks, err := Open(Options{Databases: 3, Shards: shards, Arena: arena.Options{Reserve: 1 << 32}})
		if err != nil {
			t.Fatal(err)
		}
		mt := &modelTest{ks: ks, tx: ks.NewTx(), m: &model{now: 1_700_000_000_000}, t: rt}
		for i := range mt.m.dbs {
			mt.m.dbs[i] = map[string]modelValue{}
		}
		defer func() {
			for _, f := range mt.snaps {
				f.snap.Close()
			}
			closeChecked(rt, ks)
		}()
		rt.Repeat(mt.actions())
	})
}

var _ = fmt.Sprint
