// Package linearize holds models of what single commands and transactions do,
// against which its tests check recorded histories of many clients: there must
// be one order of all operations, in keeping with when each was asked and
// answered, in which every answer is right.
package linearize

import (
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"
)

// slack is how far the server's clock of a command may be off the time at which
// we saw it asked or answered: it is read once for many commands.
const slack = int64(50 * time.Millisecond)

// op is an operation on one key.
type op struct {
	kind      string // the command in lower case; "setpx" is SET with PX
	key       int
	arg       string
	ttl       time.Duration
	call, ret int64 // nanoseconds
}

// keyState is one key. A key with a time to live ends between low and high.
type keyState struct {
	present, volatile bool
	value             string
	low, high         int64
}

// keyModel describes one key. If evicting, keys with a time to live may vanish
// at any time.
func keyModel(evicting bool) porcupine.Model {
	model := porcupine.NondeterministicModel{
		Partition: byKey,
		Init:      func() []any { return []any{keyState{}} },
		Step: func(state, input, output any) []any {
			return stepKey(state.(keyState), input.(op), output.(string), evicting)
		},
	}
	return model.ToModel()
}

// byKey splits a history into those of its keys.
func byKey(history []porcupine.Operation) [][]porcupine.Operation {
	keys := map[int][]porcupine.Operation{}
	for _, o := range history {
		k := o.Input.(op).key
		keys[k] = append(keys[k], o)
	}
	var parts [][]porcupine.Operation
	for _, part := range keys {
		parts = append(parts, part)
	}
	return parts
}

// refused is the answer to a write that found no memory.
const refused = "OOM"

// stepKey returns the states that an operation with this answer may lead to.
func stepKey(s keyState, o op, output string, evicting bool) []any {
	if output == refused {
		return []any{s}
	}
	var next []any
	if s.present && !(s.volatile && o.call > s.high+slack) {
		if after, want := apply(s, o); want == output {
			next = append(next, after)
		}
	}
	if !s.present || s.volatile && (evicting || o.ret+slack >= s.low) {
		if after, want := apply(keyState{}, o); want == output {
			next = append(next, after)
		}
	}
	return next
}

// apply runs an operation on a key that is certainly there, or not there.
func apply(s keyState, o op) (keyState, string) {
	value := func() string {
		if s.present {
			return s.value
		}
		return "(nil)"
	}
	there := "0"
	if s.present {
		there = "1"
	}
	expiring := s
	expiring.volatile, expiring.low, expiring.high = true, o.call+int64(o.ttl)-int64(time.Millisecond), o.ret+int64(o.ttl)
	switch o.kind {
	case "get":
		return s, value()
	case "exists":
		return s, there
	case "set":
		return keyState{present: true, value: o.arg}, "OK"
	case "setpx":
		expiring.present, expiring.value = true, o.arg
		return expiring, "OK"
	case "getset":
		return keyState{present: true, value: o.arg}, value()
	case "getdel":
		return keyState{}, value()
	case "del":
		return keyState{}, there
	case "incr":
		n, _ := strconv.ParseInt(s.value, 10, 64)
		s.present, s.value = true, strconv.FormatInt(n+1, 10)
		return s, s.value
	}
	switch {
	case o.kind == "setnx" && !s.present:
		return keyState{present: true, value: o.arg}, "1"
	case o.kind == "persist" && s.present && s.volatile:
		return keyState{present: true, value: s.value}, "1"
	case o.kind == "pexpire" && s.present:
		return expiring, "1"
	}
	return s, "0"
}

// nKeys is how many keys operations on several keys know.
const nKeys = 3

// multiOp is an operation on several keys at once.
type multiOp struct {
	kind   string // mget, mset, incrboth, cas
	a, b   int
	old    string
	values [nKeys]string
}

// multiModel describes nKeys keys that only operations on several keys touch.
// Its state is their values.
func multiModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any {
			var zero [nKeys]string
			for i := range zero {
				zero[i] = "0"
			}
			return zero
		},
		Step: func(state, input, output any) (bool, any) {
			return stepMulti(state.([nKeys]string), input.(multiOp), output.([nKeys]string))
		},
	}
}

func stepMulti(s [nKeys]string, o multiOp, output [nKeys]string) (bool, any) {
	if output[0] == refused {
		return true, s
	}
	switch o.kind {
	case "mget":
		return output == s, s
	case "mset":
		return true, o.values
	case "incrboth":
		s[o.a], s[o.b] = plusOne(s[o.a]), plusOne(s[o.b])
		return output[0] == s[o.a] && output[1] == s[o.b], s
	case "cas":
		if output[0] == "(nil)" { // somebody was faster, or Redis' WATCH thought so
			return true, s
		}
		same := s[o.a] == o.old
		s[o.a] = o.values[0]
		return same, s
	}
	return false, s
}

func plusOne(n string) string {
	v, _ := strconv.ParseInt(n, 10, 64)
	return strconv.FormatInt(v+1, 10)
}
