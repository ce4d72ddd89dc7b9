package difftest

import (
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"strings"
)

// A template is a grammar of one command, written on a line:
//
//	weight NAME word <value> [ optional ] ( one | or other ) ( repeated )+ @flag
//
// A value in angle brackets is drawn by the Generator's method of that name. A
// group in round brackets chooses one of its alternatives; with + behind it,
// it is repeated one to four times, with * up to six hundred, but seldom. Flags say how replies are compared (see
// Matcher), or "@fixed": arguments are never garbled at random.
type template struct {
	name   string // upper case, of the command
	weight int
	body   node
	match  Matcher
	fixed  bool // never garbled
	timed  bool // holds a time to live, which garbling must not make short
}

// node is a part of a template: it appends arguments to a command.
type node interface {
	expand(g *Generator, argv [][]byte) [][]byte
}

type (
	literal  string
	value    string
	sequence []node
	choice   []node
	optional struct{ node }
	repeat   struct{ node }
	many     struct{ node }
)

func (l literal) expand(g *Generator, argv [][]byte) [][]byte {
	return append(argv, g.anyCase(string(l)))
}

func (v value) expand(g *Generator, argv [][]byte) [][]byte {
	return append(argv, g.value(string(v)))
}

func (s sequence) expand(g *Generator, argv [][]byte) [][]byte {
	for _, n := range s {
		argv = n.expand(g, argv)
	}
	return argv
}

func (c choice) expand(g *Generator, argv [][]byte) [][]byte {
	return c[g.rng.Intn(len(c))].expand(g, argv)
}

func (o optional) expand(g *Generator, argv [][]byte) [][]byte {
	if g.rng.Intn(2) == 0 {
		return argv
	}
	return o.node.expand(g, argv)
}

func (r repeat) expand(g *Generator, argv [][]byte) [][]byte {
	for range 1 + g.rng.Intn(4) {
		argv = r.node.expand(g, argv)
	}
	return argv
}

func (m many) expand(g *Generator, argv [][]byte) [][]byte {
	n := 1 + g.rng.Intn(3)
	if g.rng.Intn(12) == 0 {
		n = g.rng.Intn(pick(g.rng, []int{10, 50, 140, 140, 600}))
	}
	for range n {
		argv = m.node.expand(g, argv)
	}
	return argv
}

// parseTemplates reads templates, one a line; empty lines and such that begin
// with # are skipped. It panics on a mistake, which is one in this package.
func parseTemplates(text string) []*template {
	var list []*template
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && line[0] != '#' {
			list = append(list, parseTemplate(line))
		}
	}
	return list
}

func parseTemplate(line string) *template {
	words := strings.Fields(line)
	weight, err := strconv.Atoi(words[0])
	if err != nil || len(words) < 2 {
		panic("difftest: no weight: " + line)
	}
	t := &template{name: words[1], weight: weight, match: exact, timed: strings.Contains(line, "<sec>") ||
		strings.Contains(line, "<ms>") || strings.Contains(line, "<at") || strings.Contains(line, "<later")}
	words = words[1:]
	for len(words) > 0 && words[len(words)-1][0] == '@' {
		t.flag(words[len(words)-1][1:])
		words = words[:len(words)-1]
	}
	p := parser{line, words}
	t.body = p.sequence()
	if len(p.words) > 0 {
		panic("difftest: brackets: " + line)
	}
	return t
}

func (t *template) flag(name string) {
	if name == "fixed" {
		t.fixed = true
		return
	}
	m, ok := matchers()[name]
	if !ok {
		panic("difftest: no matcher " + name)
	}
	t.match = m
}

type parser struct {
	line  string
	words []string
}

func (p *parser) sequence() node {
	var s sequence
	for len(p.words) > 0 {
		w := p.words[0]
		switch w {
		case "|", ")", ")+", ")*", "]":
			return s
		}
		p.words = p.words[1:]
		switch {
		case w == "[":
			s = append(s, optional{p.choice("]")})
		case w == "(":
			s = append(s, p.choice(")", ")+", ")*"))
		case w[0] == '<' && w[len(w)-1] == '>':
			s = append(s, value(w[1:len(w)-1]))
		default:
			s = append(s, literal(w))
		}
	}
	return s
}

func (p *parser) choice(closing ...string) node {
	var c choice
	for {
		c = append(c, p.sequence())
		if len(p.words) == 0 {
			panic("difftest: unclosed: " + p.line)
		}
		w := p.words[0]
		p.words = p.words[1:]
		if w == "|" {
			continue
		}
		if !slices.Contains(closing, w) {
			panic(fmt.Sprintf("difftest: %s closes the wrong bracket: %s", w, p.line))
		}
		switch w {
		case ")+":
			return repeat{c}
		case ")*":
			return many{c}
		}
		return c
	}
}

// anyCase returns a word as it stands, or sometimes in another case.
func (g *Generator) anyCase(word string) []byte {
	switch g.rng.Intn(10) {
	case 0:
		return []byte(strings.ToLower(word))
	case 1:
		b := []byte(word)
		for i, c := range b {
			if g.rng.Intn(2) == 0 && ('a' <= c|0x20 && c|0x20 <= 'z') {
				b[i] = c ^ 0x20
			}
		}
		return b
	}
	return []byte(word)
}

func pick[T any](rng *rand.Rand, list []T) T { return list[rng.Intn(len(list))] }
