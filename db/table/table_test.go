package table

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"heddle/db/arena"
)

// keyring reads the records of the tests: a block of two words, the key and a value.
type keyring struct {
	heap *arena.Heap
	hash func(id uint64) uint64
}

func (k *keyring) Equal(ref arena.Ref, key []byte) bool {
	return *k.heap.Word(ref) == binary.LittleEndian.Uint64(key)
}

func (k *keyring) Hash(ref arena.Ref) uint64 { return k.hash(*k.heap.Word(ref)) }

// mix is a good hash, thin one that makes keys meet, poor one that leaves few.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	return x ^ x>>32
}

func thin(x uint64) uint64 { return mix(x) & 0xfff00000001f0fff }

func poor(x uint64) uint64 { return mix(x) & 0x80000000001fe040 }

// world is a table with all it needs and a model of it.
type world struct {
	heap   *arena.Heap
	arena  *arena.Arena
	keys   *keyring
	epochs *Epochs
	t      *Table
	model  map[uint64]entryModel
	views  []viewModel
	dead   []deadRecord
	value  uint64
	even   bool // the hash spreads keys evenly
}

// entryModel is what the model knows of a key.
type entryModel struct {
	ref   arena.Ref
	value uint64
	clock uint32
}

// viewModel is an open snapshot and what it must show.
type viewModel struct {
	epoch uint64
	view  View
	want  map[uint64]uint64
}

// deadRecord is a record that only snapshots up to epoch see.
type deadRecord struct {
	epoch uint64
	ref   arena.Ref
}

func newWorld(hash func(uint64) uint64) (*world, error) {
	h, err := arena.NewHeap(arena.Options{Reserve: 1 << 32})
	if err != nil {
		return nil, err
	}
	w := &world{heap: h, arena: h.NewArena(), keys: &keyring{h, hash}, epochs: NewEpochs(new(atomic.Int64)),
		model: map[uint64]entryModel{}, even: hash(1)&0x7e000 == mix(1)&0x7e000 && hash(1)>>32 == mix(1)>>32}
	w.t = New(h, w.arena, w.keys, w.epochs)
	return w, nil
}

func keyOf(id uint64) []byte { return binary.LittleEndian.AppendUint64(nil, id) }

// record makes a record with a value of its own.
func (w *world) record(id uint64) entryModel {
	w.value++
	ref := w.arena.Alloc(16)
	copy(w.heap.Words(ref, 2), []uint64{id, w.value})
	return entryModel{ref, w.value, uint32(w.value*77) & 0xffffff}
}

// leave frees a record that left the table, or keeps it for the snapshots.
func (w *world) leave(ref arena.Ref, fresh bool) {
	if fresh {
		*w.heap.Word(ref + 1) = 0xdead
		w.arena.Free(ref)
		return
	}
	w.dead = append(w.dead, deadRecord{w.epochs.Current(), ref})
}

// set inserts or replaces a key, in place if that is allowed and wanted.
func (w *world) set(id uint64, inPlace bool) error {
	s, ok := w.t.Find(w.keys.hash(id), keyOf(id))
	old, known := w.model[id]
	if ok != known {
		return fmt.Errorf("Find(%d) = %v, want %v", id, ok, known)
	}
	if ok && inPlace && w.t.Fresh(s) {
		w.value++
		*w.heap.Word(old.ref + 1) = w.value
		old.value = w.value
		w.model[id] = old
		return nil
	}
	e := w.record(id)
	if !ok {
		if s, ok = w.t.Insert(w.keys.hash(id), e.ref, e.clock); !ok {
			return w.refused(e)
		}
	} else {
		fresh := w.t.Fresh(s)
		s = w.t.SetRef(s, e.ref)
		w.leave(old.ref, fresh)
		w.t.SetClock(s, e.clock)
	}
	if w.t.Ref(s) != e.ref || w.t.Clock(s) != e.clock || !w.t.Fresh(s) {
		return fmt.Errorf("slot of %d has ref %x, clock %x, fresh %v; want %+v", id, w.t.Ref(s), w.t.Clock(s), w.t.Fresh(s), e)
	}
	w.model[id] = e
	return nil
}

// refused is for an Insert that found no place: only poor hashes may come to that.
func (w *world) refused(e entryModel) error {
	w.arena.Free(e.ref)
	if w.t.Len() < segmentSlots {
		return fmt.Errorf("no place for record %d", w.t.Len()+1)
	}
	return nil
}

// del removes a key.
func (w *world) del(id uint64) error {
	s, ok := w.t.Find(w.keys.hash(id), keyOf(id))
	old, known := w.model[id]
	if ok != known {
		return fmt.Errorf("Find(%d) = %v, want %v", id, ok, known)
	}
	if ok {
		fresh := w.t.Fresh(s)
		w.t.Delete(s)
		w.leave(old.ref, fresh)
		delete(w.model, id)
	}
	return nil
}

// snapshot opens a view.
func (w *world) snapshot() {
	v := viewModel{w.epochs.Begin(), w.t.Freeze(), map[uint64]uint64{}}
	for id, e := range w.model {
		v.want[id] = e.value
	}
	w.views = append(w.views, v)
}

// checkView verifies that a view shows what it must.
func (w *world) checkView(v viewModel) error {
	seen := map[uint64]bool{}
	var err error
	v.view.Each(func(ref arena.Ref, _ uint32) bool {
		id, value := w.heap.Words(ref, 2)[0], w.heap.Words(ref, 2)[1]
		if want, ok := v.want[id]; !ok || want != value || seen[id] {
			err = fmt.Errorf("snapshot %d shows %d = %d (again: %v), want %d (%v)", v.epoch, id, value, seen[id], want, ok)
		}
		seen[id] = true
		return err == nil
	})
	if err == nil && (len(seen) != len(v.want) || v.view.Len() != len(v.want)) {
		err = fmt.Errorf("snapshot %d shows %d records of %d", v.epoch, len(seen), len(v.want))
	}
	return err
}

// closeView ends view i and frees what only it saw.
func (w *world) closeView(i int) error {
	v := w.views[i]
	if err := w.checkView(v); err != nil {
		return err
	}
	w.views = append(w.views[:i], w.views[i+1:]...)
	w.epochs.End(v.epoch)
	for w.epochs.Free(3) {
	}
	rest := w.dead[:0]
	for _, d := range w.dead {
		if d.epoch < w.epochs.Oldest() {
			*w.heap.Word(d.ref + 1) = 0xdead
			w.arena.Free(d.ref)
		} else {
			rest = append(rest, d)
		}
	}
	w.dead = rest
	return nil
}

// check compares the table with the model.
func (w *world) check() error {
	if err := w.t.Check(); err != nil {
		return err
	}
	if w.t.Len() != len(w.model) {
		return fmt.Errorf("Len() = %d, want %d", w.t.Len(), len(w.model))
	}
	for id, e := range w.model {
		s, ok := w.t.Find(w.keys.hash(id), keyOf(id))
		if !ok || w.t.Ref(s) != e.ref || w.t.Clock(s) != e.clock {
			return fmt.Errorf("key %d is not found as it was put", id)
		}
		if w.heap.Words(e.ref, 2)[1] != e.value {
			return fmt.Errorf("record of %d was overwritten", id)
		}
	}
	return w.checkMemory()
}

// checkMemory verifies that the arena holds records and segments, and nothing else.
func (w *world) checkMemory() error {
	if err := w.arena.Check(); err != nil {
		return err
	}
	want := int64(len(w.model)+len(w.dead))*16 + int64(w.t.bytes)
	for _, r := range w.epochs.retired {
		want += int64(w.heap.Cap(r.ref))
	}
	if got := w.arena.Used(); got != want {
		return fmt.Errorf("the arena holds %d bytes, %d are known", got, want)
	}
	return nil
}

// end closes all and verifies that nothing is left.
func (w *world) end() error {
	for len(w.views) > 0 {
		if err := w.closeView(0); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.model)) { // a fuzzer wants the same run each time
		if err := w.del(id); err != nil {
			return err
		}
	}
	if n := w.arena.Used(); n != 0 || w.t.MemSize() != 0 {
		return fmt.Errorf("%d bytes are left", n)
	}
	return w.heap.Close()
}

func TestTableModel(t *testing.T) {
	f := func(name string, hash func(uint64) uint64, most uint64) {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { runModel(t, hash, most) })
		})
	}
	f("mix", mix, 6000)
	f("thin", thin, 6000)
	f("poor", poor, 1000)
}

// runModel compares a table with the model over random calls, with up to most keys.
func runModel(t *rapid.T, hash func(uint64) uint64, most uint64) {
	w, err := newWorld(hash)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	keys := rapid.SampledFrom([]uint64{20, 1000, most}).Draw(t, "keys")
	id := rapid.Uint64Range(0, keys-1)
	seed, steps := rapid.Uint64(), 0
	t.Repeat(map[string]func(*rapid.T){
		"set": func(t *rapid.T) { must(w.set(id.Draw(t, "id"), rapid.Bool().Draw(t, "in place"))) },
		"del": func(t *rapid.T) { must(w.del(id.Draw(t, "id"))) },
		"many": func(t *rapid.T) {
			r := rand.New(rand.NewPCG(seed.Draw(t, "seed"), 1))
			del := r.IntN(4)
			for range r.Uint64N(keys) {
				if r.IntN(4) < del {
					must(w.del(r.Uint64N(keys)))
				} else {
					must(w.set(r.Uint64N(keys), r.IntN(2) == 0))
				}
			}
		},
		"snapshot": func(t *rapid.T) {
			if len(w.views) < 4 {
				w.snapshot()
			}
		},
		"close": func(t *rapid.T) {
			if n := len(w.views); n > 0 {
				must(w.closeView(rapid.IntRange(0, n-1).Draw(t, "which")))
			}
		},
		"scan":    func(t *rapid.T) { must(w.scan(seed.Draw(t, "seed"), keys)) },
		"sample":  func(t *rapid.T) { must(w.sample(seed.Draw(t, "seed"))) },
		"shrink":  func(t *rapid.T) { w.t.Shrink(0, 1+int(seed.Draw(t, "limit")%8)) },
		"compact": func(t *rapid.T) { must(w.compact()) },
		"check":   func(t *rapid.T) { must(w.check()) },
		"": func(t *rapid.T) {
			// A poor hash makes every look at a record long.
			if steps++; w.even || steps%8 == 0 {
				must(w.t.Check())
			}
		},
	})
	must(w.check())
	must(w.end())
}

// scan changes the table while it scans, and expects to see what was there all along.
func (w *world) scan(seed, keys uint64) error {
	r := rand.New(rand.NewPCG(seed, 2))
	always, seen := map[uint64]bool{}, map[uint64]bool{}
	for id := range w.model {
		always[id] = true
	}
	churn := r.IntN(3) // none, more, fewer
	for cursor, steps := uint64(0), 0; ; steps++ {
		cursor = w.t.Scan(cursor, func(s Slot) { seen[*w.heap.Word(w.t.Ref(s))] = true })
		if cursor == 0 {
			break
		}
		if steps > 1e6 {
			return fmt.Errorf("the scan does not end")
		}
		for range r.IntN(1 + 8*churn*churn) {
			id := r.Uint64N(keys)
			if steps > 3000 {
				break
			}
			if churn == 1 || r.IntN(8) == 0 {
				if err := w.set(id, false); err != nil {
					return err
				}
				continue
			}
			delete(always, id)
			if err := w.del(id); err != nil {
				return err
			}
		}
	}
	for id := range always {
		if !seen[id] {
			return fmt.Errorf("the scan missed %d", id)
		}
	}
	return nil
}

// sample expects samples to be records, and as many different ones as asked for.
func (w *world) sample(seed uint64) error {
	seen := map[arena.Ref]bool{}
	n := w.t.Sample(seed, 5, func(s Slot) { seen[w.t.Ref(s)] = true })
	if n != len(seen) || w.even && n < min(5, len(w.model)) && len(w.model) > segmentSlots/4 || n > len(w.model) {
		return fmt.Errorf("a sample of 5 gave %d, %d different ones, of %d", n, len(seen), len(w.model))
	}
	r := rand.New(rand.NewPCG(seed, 3))
	s, ok := w.t.Random(r.Uint64)
	if ok != (len(w.model) > 0) {
		return fmt.Errorf("Random gave %v with %d records", ok, len(w.model))
	}
	if ok {
		seen[w.t.Ref(s)] = true
	}
	for ref := range seen {
		if w.model[*w.heap.Word(ref)].ref != ref {
			return fmt.Errorf("a sample is no record: %x", ref)
		}
	}
	return nil
}

// compact moves records and segments out of sparse slabs.
func (w *world) compact() error {
	if w.epochs.Active() {
		return nil
	}
	w.arena.Sparse()
	w.t.Walk(func(s Slot) {
		ref := w.t.Ref(s)
		if !w.arena.Evacuating(ref) {
			return
		}
		n := w.arena.Alloc(16)
		copy(w.heap.Words(n, 2), w.heap.Words(ref, 2))
		w.t.SetRef(s, n)
		w.arena.Free(ref)
		id := *w.heap.Word(n)
		e := w.model[id]
		e.ref = n
		w.model[id] = e
	})
	for cursor := w.t.Relocate(0, 1); cursor != 0; {
		cursor = w.t.Relocate(cursor, 1)
	}
	if n := w.arena.Pending(); n != 0 {
		return fmt.Errorf("%d slabs could not be evacuated", n)
	}
	return nil
}
