package table

import (
	"encoding/binary"
	"testing"
)

// FuzzTable runs a program of calls against the model. A call is a byte that says which,
// with two bytes for a key or a seed. The first byte chooses the hash.
func FuzzTable(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 0, 2, 0, 1, 1, 0})
	f.Add([]byte{1, 2, 7, 7, 3, 0, 0, 2, 9, 1, 4, 0, 0, 5, 3, 3, 2, 8, 8})
	f.Add([]byte{2, 2, 1, 1, 3, 0, 0, 2, 255, 255, 6, 0, 1, 7, 0, 0, 8, 1, 1})
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) == 0 || len(program) > 100 {
			return
		}
		hashes := []func(uint64) uint64{mix, thin, poor}
		w, err := newWorld(hashes[int(program[0])%len(hashes)])
		if err != nil {
			t.Fatal(err)
		}
		for i, calls := 0, program[1:]; len(calls) >= 3; i, calls = i+1, calls[3:] {
			if err := w.call(calls[0], uint64(binary.LittleEndian.Uint16(calls[1:]))); err != nil {
				t.Fatal(err)
			}
			if i%8 == 7 {
				if err := w.t.Check(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.check(); err != nil {
			t.Fatal(err)
		}
		if err := w.end(); err != nil {
			t.Fatal(err)
		}
	})
}

// call runs one step of a program.
func (w *world) call(op byte, arg uint64) error {
	switch op % 10 {
	case 0:
		return w.set(arg%2000, false)
	case 1:
		return w.del(arg % 2000)
	case 2: // a run of keys comes
		for i := range arg % 512 {
			if err := w.set((arg*7+i)%2000, i%2 == 0); err != nil {
				return err
			}
		}
	case 3:
		if len(w.views) < 4 {
			w.snapshot()
		}
	case 4:
		if n := uint64(len(w.views)); n > 0 {
			return w.closeView(int(arg % n))
		}
	case 5: // a run of keys goes
		for i := range arg % 1024 {
			if err := w.del((arg*5 + i) % 2000); err != nil {
				return err
			}
		}
	case 6:
		return w.scan(arg, 2000)
	case 7:
		return w.sample(arg * 0x9e3779b97f4a7c15)
	case 8:
		w.t.Shrink(arg<<48, int(arg%4))
	case 9:
		return w.compact()
	}
	return nil
}
