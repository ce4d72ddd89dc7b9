package generic

import (
	"bytes"
	"math"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// sortSpecs: SORT key [BY pattern] [LIMIT offset count] [GET pattern ...] [ASC | DESC]
// [ALPHA] [STORE destination], and SORT_RO without STORE
func sortSpecs() []*command.Spec {
	const note = "It is marked 'unknown' because the key names derive from the content of the key we sort"
	source := command.KeySpec{Begin: 1, Step: 1, Flags: command.KeyRO | command.KeyAccess}
	derived := command.KeySpec{Unknown: true, Flags: command.KeyRO | command.KeyAccess, Notes: "For the optional BY/GET keyword. " + note}
	stored := command.KeySpec{
		Unknown: true, Flags: command.KeyOW | command.KeyUpdate,
		Notes: "For the optional STORE keyword. It is marked 'unknown' because the keyword can appear anywhere in the argument array",
	}
	const acl = command.CatSet | command.CatSortedSet | command.CatList | command.CatDangerous
	return []*command.Spec{{
		Name: "sort", Arity: -2, Keys: []command.KeySpec{source, derived, stored}, Flags: command.DenyOOM, ACL: acl, Group: group,
		FindKeys: sortKeys, WholeKeyspace: sortLooksUp, Write: sortKey,
	}, {
		Name: "sort_ro", Arity: -2, Keys: []command.KeySpec{source, derived}, ACL: acl, Group: group,
		FindKeys: sortKeys, WholeKeyspace: sortLooksUp, Read: sortReadOnly,
	}}
}

// sortKeys finds the key and the destination; the last STORE counts. Keys that are
// made of patterns are not among them.
func sortKeys(dst []command.KeyRef, argv [][]byte) ([]command.KeyRef, error) {
	dst = append(dst, command.KeyRef{Index: 1, Flags: command.KeyRO | command.KeyAccess})
	if command.EqualFold(argv[0], "sort_ro") {
		return dst, nil
	}
	store := 0
	for i := 2; i < len(argv); i++ {
		switch {
		case command.EqualFold(argv[i], "limit"):
			i += 2
		case command.EqualFold(argv[i], "get"), command.EqualFold(argv[i], "by"):
			i++
		case command.EqualFold(argv[i], "store") && i+1 < len(argv):
			store = i + 1
			i++
		}
	}
	if store > 0 {
		dst = append(dst, command.KeyRef{Index: store, Flags: command.KeyOW | command.KeyUpdate})
	}
	return dst, nil
}

// sortLooksUp reports whether a call may look at keys that it does not name.
func sortLooksUp(argv [][]byte) bool {
	for _, a := range argv[2:] {
		if command.EqualFold(a, "by") || command.EqualFold(a, "get") {
			return true
		}
	}
	return false
}

// sorting is a call of SORT.
type sorting struct {
	v            db.View
	by           *pattern // nil: by the elements themselves
	get          []pattern
	unsorted     bool // BY without a star
	desc, alpha  bool
	offset, many int64
	store        []byte
	stored       bool
	elements     [][]byte
	room         []byte // that elements are copied to
	from, to     int    // of elements are wanted
}

func sortReadOnly(c *command.Call, v db.View) error {
	s, err := newSorting(c, v, false)
	if err == nil {
		s.reply(c.Reply)
	}
	return err
}

func sortKey(c *command.Call, tx db.Txn) error {
	s, err := newSorting(c, tx, true)
	switch {
	case err != nil:
		return err
	case !s.stored:
		s.reply(c.Reply)
		return nil
	}
	return s.put(c, tx)
}

// newSorting reads the options and the key, and sorts.
func newSorting(c *command.Call, v db.View, mayStore bool) (*sorting, error) {
	s := &sorting{v: v, many: -1}
	key := c.Args.Key()
	s.options(&c.Args, mayStore)
	if err := c.Args.Done(); err != nil {
		return nil, err
	}
	if err := s.load(key); err != nil {
		return nil, err
	}
	if s.unsorted {
		return s, nil
	}
	return s, s.sort()
}

func (s *sorting) options(a *command.Args, mayStore bool) {
	for a.More() {
		switch {
		case a.Word("asc"):
			s.desc = false
		case a.Word("desc"):
			s.desc = true
		case a.Word("alpha"):
			s.alpha = true
		case a.Len() >= 3 && a.Word("limit"):
			s.offset, s.many = a.Int(), a.Int()
		case mayStore && a.Len() >= 2 && a.Word("store"):
			s.store, s.stored = a.Bytes(), true
		case a.Len() >= 2 && a.Word("by"):
			p := newPattern(a.Bytes())
			// A pattern that is the same key for all elements says not to sort.
			s.by, s.unsorted = &p, s.unsorted || p.star < 0
		case a.Len() >= 2 && a.Word("get"):
			s.get = append(s.get, newPattern(a.Bytes()))
		default:
			a.Reject(resp.ErrSyntax)
		}
	}
}

// limit works out which of n elements are wanted.
func (s *sorting) limit(n int) {
	size := int64(n)
	start, count := min(max(s.offset, 0), size), min(max(s.many, -1), size)
	end := start + count
	if count < 0 {
		end = size
	}
	s.from, s.to = int(start), int(min(max(end, start), size))
}

// reply writes what is wanted.
func (s *sorting) reply(w *resp.Writer) {
	list := s.elements[s.from:s.to]
	w.Array(len(list) * max(len(s.get), 1))
	for _, e := range list {
		if len(s.get) == 0 {
			w.Bulk(e)
		}
		for i := range s.get {
			if val, found := s.get[i].lookUp(s.v, e); found {
				w.Bulk(val)
			} else {
				w.Null()
			}
		}
	}
}

// pattern is the argument of BY and GET: a key with a star, which stands for an
// element, and perhaps the field of a hash; or a lone #, the element itself.
type pattern struct {
	text  []byte
	star  int // where the star is, -1: there is none
	end   int // where the key ends
	field []byte
	self  bool
}

func newPattern(text []byte) pattern {
	p := pattern{text: text, end: len(text), self: string(text) == "#"}
	seen, _, _ := bytes.Cut(text, []byte{0}) // Redis looks at C strings here
	p.star = bytes.IndexByte(seen, '*')
	if p.star < 0 {
		return p
	}
	if i := bytes.Index(seen[p.star+1:], []byte("->")); i >= 0 && p.star+1+i+2 < len(seen) {
		p.end = p.star + 1 + i
		p.field = text[p.end+2:]
	}
	return p
}

// number reads a weight as C's strtod does: white space in front is skipped, nothing
// is zero, and what a float holds only roughly is refused.
func number(b []byte) (float64, bool) {
	b, _, _ = bytes.Cut(b, []byte{0})
	if len(b) == 0 {
		return 0, true
	}
	b = bytes.TrimLeft(b, " \t\n\v\f\r")
	f, ok := command.ParseFloat(b)
	const smallest = 0x1p-1022
	if ok && math.Abs(f) < smallest && (f != 0 || bytes.ContainsAny(mantissa(b), "123456789")) {
		return 0, false
	}
	return f, ok
}

// mantissa is what stands before the exponent.
func mantissa(b []byte) []byte {
	if i := bytes.IndexAny(b, "eEpP"); i >= 0 {
		return b[:i]
	}
	return b
}
