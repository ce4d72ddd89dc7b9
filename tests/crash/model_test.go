package crash

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// value is what a key holds. Keys begin with the letter of their kind, and keep it.
type value struct {
	text    string            // of a string
	list    []string          // of a list; of a stream: ID, field, value after each other
	members map[string]string // of a set, hash or sorted set
	expires string            // milliseconds; empty: never
}

// model is what one client's keys hold after some of its commands.
type model struct {
	keys   map[string]*value
	sums   map[string]uint64 // of each key that is there
	digest uint64            // the sums added up: equal models have equal digests
}

func newModel() *model { return &model{keys: map[string]*value{}, sums: map[string]uint64{}} }

// get returns a key's value, a new one if the key is not there.
func (m *model) get(key string) *value {
	v := m.keys[key]
	if v == nil {
		v = &value{members: map[string]string{}}
		m.keys[key] = v
	}
	return v
}

func (v *value) clone() *value {
	return &value{v.text, slices.Clone(v.list), maps.Clone(v.members), v.expires}
}

// write spells a value so that equal values are spelled equally.
func (v *value) write(key string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %q %q", key, v.expires, v.text, v.list)
	for _, f := range slices.Sorted(maps.Keys(v.members)) {
		fmt.Fprintf(&b, " %q=%q", f, v.members[f])
	}
	return b.String()
}

func (v *value) empty() bool { return v.text == "" && len(v.list) == 0 && len(v.members) == 0 }

// settle brings the sum of a key up to date after a change. Collections that are empty, and
// strings, which are never set to nothing here, are gone; streams stay.
func (m *model) settle(key string) {
	m.digest -= m.sums[key]
	delete(m.sums, key)
	v := m.keys[key]
	if v == nil {
		return
	}
	if v.empty() {
		delete(m.keys, key)
		return
	}
	h := fnv.New64a()
	h.Write([]byte(v.write(key)))
	m.sums[key] = h.Sum64()
	m.digest += m.sums[key]
}

// apply does what the server does on a command.
func (m *model) apply(argv []string) {
	key := argv[1]
	v := m.get(key)
	switch argv[0] {
	case "DEL", "UNLINK", "GETDEL":
		delete(m.keys, key)
	case "RENAME":
		if !v.empty() {
			m.keys[argv[2]] = v
			delete(m.keys, key)
			if argv[2] == key {
				m.keys[key] = v
			}
		}
		m.settle(argv[2])
	case "COPY":
		if !v.empty() {
			m.keys[argv[2]] = v.clone()
		}
		m.settle(argv[2])
	case "PEXPIREAT":
		if !v.empty() {
			v.expires = argv[2]
		}
	case "PERSIST":
		v.expires = ""
	default:
		switch key[strings.IndexByte(key, ':')+1] {
		case 's', 'n':
			m.applyString(v, argv)
		case 'l':
			m.applyList(v, argv)
		case 'x':
			v.applyStream(argv)
		default:
			m.applyMembers(v, argv)
		}
	}
	m.settle(key)
}

func (m *model) applyString(v *value, argv []string) {
	switch argv[0] {
	case "SET":
		v.text = argv[2]
		if len(argv) < 4 {
			v.expires = ""
		}
	case "MSET":
		for i := 1; i < len(argv); i += 2 {
			*m.get(argv[i]) = value{text: argv[i+1], members: map[string]string{}}
			m.settle(argv[i])
		}
	case "APPEND":
		v.text += argv[2]
	case "INCRBY":
		v.text = add(v.text, argv[2])
	case "INCRBYFLOAT":
		f, _ := strconv.ParseFloat(v.text, 64)
		by, _ := strconv.ParseFloat(argv[2], 64)
		v.text = strconv.FormatFloat(f+by, 'f', -1, 64)
	case "SETRANGE":
		at, _ := strconv.Atoi(argv[2])
		b := []byte(v.text)
		for len(b) < at+len(argv[3]) {
			b = append(b, 0)
		}
		copy(b[at:], argv[3])
		v.text = string(b)
	default:
		panic("no model of " + argv[0])
	}
}

func add(a, b string) string {
	x, _ := strconv.ParseInt(a, 10, 64)
	y, _ := strconv.ParseInt(b, 10, 64)
	return strconv.FormatInt(x+y, 10)
}

func (m *model) applyList(v *value, argv []string) {
	switch argv[0] {
	case "RPUSH":
		v.list = append(v.list, argv[2:]...)
	case "LPUSH":
		for _, e := range argv[2:] {
			v.list = append([]string{e}, v.list...)
		}
	case "LPOP", "RPOP":
		n, _ := strconv.Atoi(argv[2])
		if n = min(n, len(v.list)); argv[0] == "LPOP" {
			v.list = slices.Clone(v.list[n:])
		} else {
			v.list = v.list[:len(v.list)-n]
		}
	case "LTRIM": // key -n -1
		n, _ := strconv.Atoi(argv[2])
		v.list = slices.Clone(v.list[max(0, len(v.list)+n):])
	case "LSET": // key -1 element
		if len(v.list) > 0 {
			v.list[len(v.list)-1] = argv[3]
		}
	case "LREM": // key 0 element
		v.list = slices.DeleteFunc(v.list, func(e string) bool { return e == argv[3] })
	case "LMOVE": // from to LEFT RIGHT
		if len(v.list) > 0 {
			e := v.list[0]
			v.list = slices.Clone(v.list[1:])
			to := m.get(argv[2])
			to.list = append(to.list, e)
			m.settle(argv[2])
		}
	default:
		panic("no model of " + argv[0])
	}
}

func (m *model) applyMembers(v *value, argv []string) {
	switch argv[0] {
	case "SADD":
		for _, e := range argv[2:] {
			v.members[e] = ""
		}
	case "SREM", "HDEL", "ZREM":
		for _, e := range argv[2:] {
			delete(v.members, e)
		}
	case "SMOVE":
		if _, ok := v.members[argv[3]]; ok {
			delete(v.members, argv[3])
			m.get(argv[2]).members[argv[3]] = ""
			m.settle(argv[2])
		}
	case "SUNIONSTORE": // to a b
		all := maps.Clone(m.get(argv[2]).members)
		maps.Copy(all, m.get(argv[3]).members)
		v.members, v.expires = all, ""
		m.settle(argv[2])
		m.settle(argv[3])
	case "HSET":
		for i := 2; i < len(argv); i += 2 {
			v.members[argv[i]] = argv[i+1]
		}
	case "HINCRBY":
		v.members[argv[2]] = add(v.members[argv[2]], argv[3])
	case "ZADD":
		for i := 2; i < len(argv); i += 2 {
			v.members[argv[i+1]] = argv[i]
		}
	case "ZINCRBY":
		v.members[argv[3]] = add(v.members[argv[3]], argv[2])
	case "ZPOPMIN": // key n
		n, _ := strconv.Atoi(argv[2])
		popLowest(v.members, n)
	default:
		panic("no model of " + argv[0])
	}
}

// popLowest takes the n members of the lowest scores; of equal ones the first by name.
func popLowest(members map[string]string, n int) {
	names := slices.SortedFunc(maps.Keys(members), func(a, b string) int {
		x, _ := strconv.Atoi(members[a])
		y, _ := strconv.Atoi(members[b])
		if x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
	for _, name := range names[:min(n, len(names))] {
		delete(members, name)
	}
}

func (v *value) applyStream(argv []string) {
	switch argv[0] {
	case "XADD": // key ID field value
		v.list = append(v.list, argv[2:5]...)
	case "XTRIM": // key MAXLEN n
		n, _ := strconv.Atoi(argv[3])
		v.list = slices.Clone(v.list[max(0, len(v.list)-3*n):])
	case "XDEL": // key ID
		for i := 0; i < len(v.list); i += 3 {
			if v.list[i] == argv[2] {
				v.list = slices.Delete(v.list, i, i+3)
				break
			}
		}
	default:
		panic("no model of " + argv[0])
	}
}
