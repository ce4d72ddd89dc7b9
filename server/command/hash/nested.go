package hashes

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"heddle/db"
	"heddle/db/hash"
	"heddle/resp"
	"heddle/server/command"
)

// KeyDB's nested hashes. What KeyDB keeps in a type of its own, which it can
// neither dump nor save nor replicate, is a hash here: a.b.c is field "b.c" of the
// hash at key "a". So it can do all that a hash can, and HSET and HGET reach it.
// Several values for one path are a list: the field is the path with a zero byte
// behind it, the value each element behind its length. A path is either a value or a
// nested hash: fields are removed, or the command refused, to keep that so.
//
// The key is only the begin of the argument, so the commands lock the whole
// keyspace, as rare as they are.

// KEYDB.NHSET path value [value ...]
func nhsetSpec() *command.Spec {
	return writeSpec("keydb.nhset", -3, command.DenyOOM|command.AllShards, command.KeyUpdate, nhset)
}

// listMark ends the field of a list.
const listMark = 0

// maxLevels is how deep hashes may be nested: each level is looked at when a path is
// set, and is a call within a call when it is shown. What stands deeper, since HSET put
// it there, is shown as one name.
const maxLevels = 128

const errDeep resp.Error = "ERR path has too many levels"

// splitPath cuts a path into its key and its field, "" if it names the key.
func splitPath(path []byte) (key, field []byte, err error) {
	if bytes.IndexByte(path, listMark) >= 0 {
		return nil, nil, resp.ErrSyntax
	}
	key, field, nested := bytes.Cut(path, []byte("."))
	if nested && len(field) == 0 {
		return nil, nil, resp.ErrSyntax
	}
	return key, field, nil
}

func nhset(c *command.Call, tx db.Txn) error {
	key, field, err := splitPath(c.Args.Bytes())
	values := c.Args.Rest()
	if err == nil && len(field) == 0 {
		err = resp.ErrSyntax
	}
	if err == nil && bytes.Count(field, []byte(".")) >= maxLevels {
		err = errDeep
	}
	if err != nil {
		return err
	}
	h, err := hash.Write(tx, key)
	if err != nil {
		return err
	}
	for i, ch := range field {
		if ch == '.' && (h.Has(field[:i]) || h.Has(listField(field[:i]))) {
			return db.ErrWrongType
		}
	}
	replaced := removeNested(&h, field)
	value := values[0]
	if len(values) > 1 {
		replaced = h.Delete(field) || replaced
		field, value = listField(field), appendList(nil, values)
	} else {
		replaced = h.Delete(listField(field)) || replaced
	}
	created, err := h.Set(field, value)
	if err != nil {
		return err
	}
	tx.Touched(key, db.ClassHash, "hset")
	if replaced || !created {
		c.Reply.Int(0)
	} else {
		c.Reply.Int(1)
	}
	return nil
}

func listField(field []byte) []byte { return append(slices.Clip(field), listMark) }

// removeNested removes what is nested below a field.
func removeNested(h *hash.Hash, field []byte) bool {
	var below [][]byte
	prefix := append(slices.Clip(field), '.')
	h.Each(func(f, _ []byte) bool {
		if bytes.HasPrefix(f, prefix) {
			below = append(below, bytes.Clone(f))
		}
		return true
	})
	for _, f := range below {
		h.Delete(f)
	}
	return len(below) > 0
}

func appendList(dst []byte, values [][]byte) []byte {
	for _, v := range values {
		dst = append(binary.AppendUvarint(dst, uint64(len(v))), v...)
	}
	return dst
}

// parseList is the inverse of appendList, whatever the bytes are.
func parseList(b []byte) (values [][]byte) {
	for len(b) > 0 {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return values
		}
		values = append(values, b[size:size+int(n)])
		b = b[size+int(n):]
	}
	return values
}

// KEYDB.NHGET [JSON | RESP] path
func nhgetSpec() *command.Spec {
	spec := readSpec("keydb.nhget", -2, command.Fast|command.AllShards, command.KeyAccess, nhget)
	spec.FindKeys = func(dst []command.KeyRef, argv [][]byte) ([]command.KeyRef, error) {
		return append(dst, command.KeyRef{Index: min(len(argv)-1, 2), Flags: command.KeyRO | command.KeyAccess}), nil
	}
	return spec
}

func nhget(c *command.Call, v db.View) error {
	asJSON := false
	if c.Args.Len() > 1 {
		if asJSON = c.Args.Word("json"); !asJSON && !c.Args.Word("resp") {
			return resp.ErrSyntax
		}
	}
	path := c.Args.Bytes()
	if err := c.Args.Done(); err != nil {
		return err
	}
	key, field, err := splitPath(path)
	if err != nil {
		return err
	}
	h, err := hash.Read(v, key)
	if err != nil {
		return err
	}
	n, found := collect(&h, field)
	switch {
	case !found:
		c.Reply.Null()
	case asJSON:
		c.Reply.Bulk(n.appendJSON(nil))
	default:
		n.reply(c.Reply)
	}
	return nil
}

// nested is a value, a list of values, or a nested hash.
type nested struct {
	name   []byte
	values [][]byte // one or, of a list, any number
	list   bool
	sub    []*nested // sorted by name, once all is there
	index  map[string]*nested
}

// collect builds what is at a field, or in the whole hash if field is empty.
func collect(h *hash.Hash, field []byte) (root *nested, found bool) {
	root = &nested{}
	h.Each(func(f, v []byte) bool {
		if !bytes.HasPrefix(f, field) {
			return true
		}
		f, list := bytes.CutSuffix(f, []byte{listMark})
		rest := f[len(field):]
		switch {
		case len(field) == 0:
		case len(rest) == 0:
		case rest[0] != '.':
			return true
		default:
			rest = rest[1:]
		}
		found = true
		root.add(rest, v, list)
		return true
	})
	root.sort()
	return root, found
}

func (n *nested) add(path, value []byte, list bool) {
	for level, more := 1, len(path) > 0; more; level++ {
		name := path
		if more = level < maxLevels; more {
			name, path, more = bytes.Cut(path, []byte("."))
		}
		s := n.index[string(name)]
		if s == nil {
			if n.index == nil {
				n.index = map[string]*nested{}
			}
			s = &nested{name: bytes.Clone(name)}
			n.sub, n.index[string(name)] = append(n.sub, s), s
		}
		n = s
	}
	value = bytes.Clone(value)
	if n.list = list; list {
		n.values = parseList(value)
	} else {
		n.values = [][]byte{value}
	}
}

func (n *nested) sort() {
	slices.SortFunc(n.sub, func(a, b *nested) int { return bytes.Compare(a.name, b.name) })
	for _, s := range n.sub {
		s.sort()
	}
}

func (n *nested) reply(w *resp.Writer) {
	switch {
	case n.sub != nil:
		w.Map(len(n.sub))
		for _, s := range n.sub {
			w.Bulk(s.name)
			s.reply(w)
		}
	case n.list:
		w.Array(len(n.values))
		for _, v := range n.values {
			w.Bulk(v)
		}
	default:
		w.Bulk(n.values[0])
	}
}

func (n *nested) appendJSON(dst []byte) []byte {
	switch {
	case n.sub != nil:
		dst = append(dst, '{')
		for i, s := range n.sub {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendText(dst, s.name), ':')
			dst = s.appendJSON(dst)
		}
		return append(dst, '}')
	case n.list:
		dst = append(dst, '[')
		for i, v := range n.values {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendScalar(dst, v)
		}
		return append(dst, ']')
	}
	return appendScalar(dst, n.values[0])
}

// appendScalar spells a value in JSON: a number as it is, all else as text.
func appendScalar(dst, v []byte) []byte {
	var number json.Number
	if len(v) > 0 && v[0] != '"' && json.Unmarshal(v, &number) == nil && string(v) == number.String() {
		return append(dst, v...)
	}
	return appendText(dst, v)
}

// appendText spells text in JSON. Bytes that are no UTF-8 become characters of the
// same number.
func appendText(dst, v []byte) []byte {
	text := string(v)
	if !utf8.Valid(v) {
		runes := make([]rune, len(v))
		for i, b := range v {
			runes[i] = rune(b)
		}
		text = string(runes)
	}
	spelt, err := json.Marshal(text)
	if err != nil {
		panic(err) // text is valid
	}
	return append(dst, spelt...)
}
