package difftest

import (
	"fmt"
	"slices"
	"strings"
)

// argument is a node of a command's argument tree, as COMMAND DOCS gives it.
type argument struct {
	name, kind, token         string
	optional, multiple, again bool // again: the token stands before each of multiple
	args                      []argument
}

// parseArguments reads the field "arguments" of COMMAND DOCS in RESP2.
func parseArguments(r Reply) (list []argument) {
	for _, e := range r.Elems {
		f := fields(e)
		a := argument{name: string(f["name"].Text), kind: string(f["type"].Text), token: string(f["token"].Text)}
		for _, flag := range f["flags"].Elems {
			switch string(flag.Text) {
			case "optional":
				a.optional = true
			case "multiple":
				a.multiple = true
			case "multiple_token":
				a.again = true
			}
		}
		a.args = parseArguments(f["arguments"])
		list = append(list, a)
	}
	return list
}

// fields reads a map of RESP2.
func fields(r Reply) map[string]Reply {
	m := map[string]Reply{}
	for i := 0; i+1 < len(r.Elems); i += 2 {
		m[string(r.Elems[i].Text)] = r.Elems[i+1]
	}
	return m
}

// slot is an argument of a command, and what may stand there. A token has no kind.
type slot struct {
	text string
	kind string // of the argument: key, string, integer, double ...
	name string
}

// form is a command with its arguments.
type form []slot

func (f form) argv(name []string) []string {
	argv := slices.Clone(name)
	for _, s := range f {
		argv = append(argv, s.text)
	}
	return argv
}

// variants are the ways to write an argument that is there, the usual one first.
func (e *enumeration) variants(a *argument) (list []form) {
	var body []form
	switch a.kind {
	case "oneof":
		for i := range a.args {
			body = append(body, e.variants(&a.args[i])...)
		}
	case "block":
		body = e.sequences(a.args)
	case "pure-token":
		return []form{{{text: a.token, name: a.name}}}
	default:
		body = []form{{e.value(a)}}
	}
	token := form{}
	if a.token != "" {
		token = form{{text: a.token, name: a.name}}
	}
	for _, b := range body {
		list = append(list, slices.Concat(token, b))
	}
	if a.multiple {
		twice := slices.Concat(list[0], body[0])
		if a.again {
			twice = slices.Concat(list[0], list[0])
		}
		list = append(list, twice)
	}
	return list
}

// sequences are the ways to write a list of arguments: the least, then the least with
// each part in each of its other ways, with each two options in both orders, and with
// all options.
func (e *enumeration) sequences(args []argument) (list []form) {
	all := make([][]form, len(args)) // all[i][0] is what is there without more ado
	for i := range args {
		if args[i].optional {
			all[i] = []form{nil}
		}
		all[i] = append(all[i], e.variants(&args[i])...)
	}
	write := func(choose func(i int) int) {
		var f form
		for i := range all {
			f = append(f, all[i][choose(i)]...)
		}
		list = append(list, f)
	}
	write(func(int) int { return 0 })
	for i := range all {
		for v := 1; v < len(all[i]); v++ {
			write(func(k int) int {
				if k == i {
					return v
				}
				return 0
			})
		}
	}
	return append(list, pairs(args, all)...)
}

// pairs are the forms of a list of arguments with two options, and with all.
func pairs(args []argument, all [][]form) (list []form) {
	for i := range all {
		for j := range i {
			if !args[i].optional || !args[j].optional {
				continue
			}
			for v := 1; v < min(len(all[i]), 4); v++ {
				var f, swapped form
				for k := range all {
					switch k {
					case i:
						f, swapped = append(f, all[i][v]...), append(swapped, all[j][1]...)
					case j:
						f, swapped = append(f, all[j][1]...), append(swapped, all[i][v]...)
					default:
						f, swapped = append(f, all[k][0]...), append(swapped, all[k][0]...)
					}
				}
				list = append(list, f, swapped)
			}
		}
	}
	var f form
	for i := range all {
		f = append(f, all[i][min(1, len(all[i])-1)]...)
	}
	return append(list, f)
}

// enumeration makes the cases of one command.
type enumeration struct {
	name  []string // the command, and its subcommand
	group string
	args  []argument
	seen  map[string]bool
	cases [][]string
}

// usual is what stands for an argument of a name; where it has none its kind decides.
var usual = map[string]string{
	"cursor": "0", "timeout": "0.001", "milliseconds": "1", "numkeys": "1", "group": "g", "consumer": "c", "field": "f",
	"id": "1-1", "start": "0", "end": "1", "stop": "1", "min": "0", "max": "5", "min-idle-time": "0", "member": "a",
	"element": "a", "pivot": "b", "destination": "new", "newkey": "new", "encoding": "u8", "pattern": "*", "seconds": "1000",
	"longitude": "13.5", "latitude": "38.1", "score": "2", "value": "5", "host": "nohost", "password": "word", "index": "1",
	"client-id": "999999", "last-id": "9-9", "bit": "1", "channel": "ch", "shardchannel": "ch", "db": "1", "destination-db": "1", "byradius": "200",
}

// mainKeys are the keys that each group's commands find a value of their type at.
var mainKeys = map[string]string{
	"list": "l", "hash": "h", "set": "t", "sorted-set": "z", "stream": "x", "hyperloglog": "p", "geo": "e", "bitmap": "s", "string": "n", "generic": "v",
}

// value is the usual value of an argument.
func (e *enumeration) value(a *argument) slot {
	s := slot{kind: a.kind, name: a.name}
	s.text = usual[a.name]
	command := e.name[0]
	switch {
	case a.kind == "key" && s.text == "":
		s.text = mainKeys[e.group]
	case e.group == "stream" && (a.name == "start" || a.name == "end"):
		s.text = map[string]string{"start": "-", "end": "+"}[a.name]
	case strings.HasSuffix(command, "bylex") || command == "zlexcount":
		s.text = map[string]string{"min": "-", "max": "[c"}[a.name]
	case command == "wait":
		s.text = "1"
	case command == "set" && len(e.name) > 1:
		s.text = "word"
	case s.text != "":
	case a.kind == "integer":
		s.text = "2"
	case a.kind == "double":
		s.text = "1.5"
	case a.kind == "unix-time":
		s.text = "9999999999"
	default:
		s.text = "a"
	}
	if s.text == "" {
		s.text = "1"
	}
	return s
}

var (
	integerEdges = []string{"0", "1", "-1", "3", "abc", "", "1.5", "+1", " 1", "01", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809"}
	doubleEdges  = []string{"0", "-1.5", "inf", "-inf", "nan", "abc", "", "1e400", "0x10", " 1", "1 ", "(1", "9223372036854775808"}
	idEdges      = []string{"0", "0-0", "$", ">", "-", "+", "*", "1-*", "(1-1", "(-", "1-2", "5", "abc", "", "18446744073709551615-18446744073709551615", "18446744073709551616", "1-1-1", "-1"}
	rangeEdges   = []string{"-", "+", "[a", "(a", "(1", "-inf", "+inf", "abc", "", "nan", "-1", "9223372036854775808"}
	stringEdges  = []string{"", "0", "nosuch"}
	timeEdges    = []string{"-1", "abc", "", "nan", "inf", "1e400", "9223372036854775808", "0x1p-9"}
	keyEdges     = []string{"s", "n", "l", "h", "t", "z", "x", "p", "e", "v", "nokey"}
)

// choices are what else than the usual may stand in a slot.
func (e *enumeration) choices(s slot) []string {
	few := []string{"0", "-1", "-2", "1", "3", "abc", "", "1.5", "9223372036854775807", "9223372036854775808"}
	switch {
	case s.kind == "":
		return []string{strings.ToLower(s.text), s.text + "x", "0"}
	case s.kind == "key":
		return keyEdges
	case s.name == "timeout" || s.name == "milliseconds" && e.group == "stream":
		return timeEdges
	case e.group == "stream" && s.kind == "string", s.name == "id", s.name == "last-id":
		return idEdges
	case s.name == "min", s.name == "max", s.name == "start", s.name == "stop", s.name == "end":
		return slices.Concat(rangeEdges, integerEdges[:4])
	case strings.Contains(e.name[0], "rand"), s.name == "offset" && e.group != "bitmap" && e.name[0] != "setrange":
		return few // nobody can send as many members as the largest numbers ask for
	case s.name == "offset" || s.name == "encoding":
		return []string{"0", "#1", "-1", "7", "abc", "", "9223372036854775807", "9223372036854775808", "4294967296", "u64", "i64", "i65", "u0", "i1"}
	case s.kind == "integer", s.kind == "unix-time":
		return integerEdges
	case s.kind == "double":
		return doubleEdges
	}
	return append(stringEdges, "10", "abc", "1.5", "9223372036854775807", "1e400")
}

// add keeps a case, once.
func (e *enumeration) add(argv []string) {
	if id := fmt.Sprintf("%q", argv); !e.seen[id] {
		e.seen[id] = true
		e.cases = append(e.cases, argv)
	}
}

// enumerate makes all cases: each form; each with other keys; with every number of
// arguments; with a wrong word, or an option, in every place; the simple ones with each
// other value in each place, at a key of the right type, of a wrong one, and at none.
func (e *enumeration) enumerate() {
	forms := e.sequences(e.args)
	single := 1
	for i := range e.args {
		single += len(e.variants(&e.args[i]))
	}
	var words []string
	for _, f := range forms {
		for _, s := range f {
			if s.kind == "" && !slices.Contains(words, s.text) {
				words = append(words, s.text)
			}
		}
	}
	for i, f := range forms {
		e.add(f.argv(e.name))
		e.add(f.numbered().argv(e.name))
		if i < single || i == len(forms)-1 {
			e.vary(f)
		}
		if i == 0 || i == len(forms)-1 {
			e.garble(f, append(words, "nosuch"))
		}
		for _, key := range keyEdges {
			e.add(f.at(key).argv(e.name))
		}
	}
}

// at is f with its first key at another place.
func (f form) at(key string) form {
	f = slices.Clone(f)
	for i := range f {
		if f[i].kind == "key" {
			f[i].text = key
			break
		}
	}
	return f
}

// numbered is f with the number of keys that it has.
func (f form) numbered() form {
	f, n := slices.Clone(f), 0
	for _, s := range f {
		if s.kind == "key" && s.name != "destination" {
			n++
		}
	}
	for i := range f {
		if f[i].name == "numkeys" {
			f[i].text = fmt.Sprint(n)
		}
	}
	return f
}

func (e *enumeration) vary(f form) {
	f = f.numbered()
	for i := range f {
		for _, text := range e.choices(f[i]) {
			g := slices.Clone(f)
			g[i].text = text
			e.add(g.argv(e.name))
			if f[i].kind != "key" {
				e.add(g.at("nokey").argv(e.name))
				e.add(g.at(map[bool]string{true: "l", false: "s"}[e.group == "string" || e.group == "bitmap"]).argv(e.name))
			}
		}
	}
}

func (e *enumeration) garble(f form, words []string) {
	argv := f.numbered().argv(e.name)
	for n := len(e.name); n <= len(argv); n++ {
		e.add(argv[:n])
		for _, w := range words {
			e.add(slices.Insert(slices.Clone(argv), n, w))
		}
	}
	e.add(append(slices.Clone(argv), f.argv(nil)...))
	for i := len(e.name); i < len(argv); i++ {
		e.add(slices.Delete(slices.Clone(argv), i, i+1))
	}
}
