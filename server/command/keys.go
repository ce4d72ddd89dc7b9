package command

import (
	"bytes"
	"strconv"

	"heddle/resp"
)

// KeyFlags say what a command does with the keys of a KeySpec, as COMMAND INFO
// shows it.
type KeyFlags uint16

// The key flags in the order in which Redis lists them.
const (
	KeyRO KeyFlags = 1 << iota
	KeyRW
	KeyOW
	KeyRM
	KeyAccess
	KeyUpdate
	KeyInsert
	KeyDelete
	KeyNotKey
	KeyIncomplete
	KeyVariableFlags
)

// KeySpec says where keys stand among a command's arguments. The search begins
// at index Begin, or behind Keyword looked for from StartFrom (negative: from
// the end). From there keys reach to Last (relative to the begin; negative:
// counted from the end of argv) every Step arguments, at most 1/Limit of the
// rest if Limit > 1; or, if NumKeys is set, their number stands at NumIdx and
// the first at First, both relative to the begin.
type KeySpec struct {
	Begin     int
	Keyword   string
	StartFrom int
	Last      int
	Step      int
	Limit     int
	NumKeys   bool
	NumIdx    int
	First     int
	Unknown   bool // keys that only code can find: nothing else but Flags and Notes is set
	Flags     KeyFlags
	Notes     string
}

// Key is the usual KeySpec of one key at argument i.
func Key(i int, flags KeyFlags) []KeySpec {
	return []KeySpec{{Begin: i, Last: 0, Step: 1, Flags: flags}}
}

// Range is the KeySpec of keys from argument first to last (negative: from the
// end, -1 the last argument) every step.
func Range(first, last, step int, flags KeyFlags) []KeySpec {
	if last >= 0 {
		last -= first
	}
	return []KeySpec{{Begin: first, Last: last, Step: step, Flags: flags}}
}

// NumKeys is the KeySpec of a counted list of keys: the number at argument i,
// the keys right behind it.
func NumKeys(i int, flags KeyFlags) []KeySpec {
	return []KeySpec{{Begin: i, NumKeys: true, NumIdx: 0, First: 1, Step: 1, Flags: flags}}
}

// KeyRef is a key of a call: its index in argv and what is done with it.
type KeyRef struct {
	Index int
	Flags KeyFlags
}

// ErrNoKeyArgs and ErrBadKeyArgs are what COMMAND GETKEYS says.
const (
	ErrNoKeyArgs  resp.Error = "ERR The command has no key arguments"
	ErrBadKeyArgs resp.Error = "ERR Invalid arguments specified for command"
)

// FindKeys appends the keys of a call of s with argv to dst. It fails when a
// count of keys is not a number that argv has room for; dispatch then runs the
// command without keys, so that the handler gives the precise error.
func FindKeys(dst []KeyRef, s *Spec, argv [][]byte) ([]KeyRef, error) {
	if s.FindKeys != nil {
		return s.FindKeys(dst, argv)
	}
	for i := range s.Keys {
		var err error
		if dst, err = s.Keys[i].find(dst, argv); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func (k *KeySpec) find(dst []KeyRef, argv [][]byte) ([]KeyRef, error) {
	if k.Flags&KeyNotKey != 0 || k.Unknown {
		return dst, nil
	}
	begin := k.Begin
	if k.Keyword != "" {
		if begin = k.search(argv); begin == 0 {
			return dst, nil
		}
	}
	first, last, step := begin, begin+k.Last, k.Step
	switch {
	case k.NumKeys:
		at := begin + k.NumIdx
		if at >= len(argv) {
			return dst, ErrBadKeyArgs
		}
		n, err := strconv.Atoi(string(argv[at]))
		first = begin + k.First
		if err != nil || n < 0 || strconv.Itoa(n) != string(argv[at]) || n > len(argv)-first {
			return dst, ErrBadKeyArgs
		}
		last = first + (n-1)*step
	case k.Last < 0:
		last = len(argv) + k.Last
		if k.Limit > 1 {
			last = first + (len(argv)-first)/k.Limit + k.Last
		}
	}
	for i := first; i <= last; i += step {
		if i >= len(argv) {
			return dst, ErrBadKeyArgs
		}
		dst = append(dst, KeyRef{Index: i, Flags: k.Flags})
	}
	return dst, nil
}

// ShownKeys returns the keys of a call as COMMAND GETKEYS shows them. Unlike FindKeys it
// goes by the KeySpecs alone, unless they do not tell all, and each of them must find a
// key. Where a count of keys is no number Redis reads the digits that it begins with,
// and knows nothing of what is done with the keys.
func ShownKeys(s *Spec, argv [][]byte) ([]KeyRef, error) {
	for i := range s.Keys {
		if s.Keys[i].Unknown || s.Keys[i].Flags&KeyIncomplete != 0 {
			return FindKeys(nil, s, argv)
		}
	}
	var dst []KeyRef
	for i := range s.Keys {
		k, before := &s.Keys[i], len(dst)
		var err error
		if dst, err = k.find(dst, argv); err != nil || len(dst) == before && k.Keyword == "" && k.Flags&KeyNotKey == 0 {
			return looseKeys(s, argv)
		}
	}
	return dst, nil
}

// looseKeys are the keys of a call whose count of keys begins with a number: those, then
// the others, without flags.
func looseKeys(s *Spec, argv [][]byte) (dst []KeyRef, err error) {
	for _, counted := range [...]bool{true, false} {
		for i := range s.Keys {
			k := s.Keys[i]
			if k.NumKeys != counted {
				continue
			}
			if counted {
				n, at := leadingNumber(argv[k.Begin+k.NumIdx]), k.Begin+k.First
				if n < 1 || n > len(argv)-at {
					return nil, ErrBadKeyArgs
				}
				k = KeySpec{Begin: at, Last: (n - 1) * k.Step, Step: k.Step}
			}
			k.Flags = 0
			if dst, err = k.find(dst, argv); err != nil {
				return nil, err
			}
		}
		if counted && dst == nil {
			return nil, ErrBadKeyArgs
		}
	}
	return dst, nil
}

// leadingNumber reads the number that text begins with, 0 if there is none.
func leadingNumber(text []byte) (n int) {
	text = bytes.TrimPrefix(bytes.TrimLeft(text, " \t\n\v\f\r"), []byte("+"))
	for _, c := range text {
		if c < '0' || c > '9' || n > 1<<30 {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// search returns the index behind Keyword, 0 when it is not there.
func (k *KeySpec) search(argv [][]byte) int {
	word := []byte(k.Keyword)
	for i := range word {
		if 'A' <= word[i] && word[i] <= 'Z' {
			word[i] += 'a' - 'A'
		}
	}
	i, step := k.StartFrom, 1
	if i < 0 {
		i, step = len(argv)+i, -1
	}
	for ; i > 0 && i < len(argv)-1; i += step {
		if equalFold(argv[i], string(word)) {
			return i + 1
		}
	}
	return 0
}
