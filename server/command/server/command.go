package admin

import (
	"slices"

	"heddle/db/glob"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/command/docs"
)

const (
	errGetKeysName  resp.Error = "ERR Invalid command specified"
	errGetKeysArity resp.Error = "ERR Invalid number of arguments specified for command"
)

// commandSpec: COMMAND [COUNT | LIST [FILTERBY MODULE|ACLCAT|PATTERN x] |
// INFO [name ...] | DOCS [name ...] | GETKEYS command ... |
// GETKEYSANDFLAGS command ... | HELP]
func (f *family) commandSpec() *command.Spec {
	const flags = command.Loading | command.Stale
	noOrder := []string{tipNoOrder}
	sub := func(name string, arity int, tips []string, fn func(*command.Call, command.Session) error) *command.Spec {
		return &command.Spec{
			Name: name, Arity: arity, Flags: flags, ACL: command.CatConnection, Group: group, Tips: tips, Control: fn,
		}
	}
	return &command.Spec{
		Name: "command", Arity: -1, Flags: flags, ACL: command.CatConnection, Group: group, Tips: noOrder,
		Control: f.commandAll,
		Sub: []*command.Spec{
			sub("count", 2, nil, f.commandCount),
			sub("docs", -2, noOrder, f.commandDocs),
			sub("getkeys", -3, nil, f.commandGetKeys),
			sub("getkeysandflags", -3, nil, f.commandGetKeysAndFlags),
			sub("help", 2, nil, commandHelp),
			sub("info", -2, noOrder, f.commandInfo),
			sub("list", -2, noOrder, f.commandList),
		},
	}
}

// visible returns the specs that COMMAND shows.
func visible(specs []*command.Spec) []*command.Spec {
	return slices.DeleteFunc(slices.Clone(specs), func(s *command.Spec) bool {
		return s.Flags&command.Undocumented != 0
	})
}

func (f *family) commandAll(c *command.Call, _ command.Session) error {
	specs := visible(f.d.Table().Commands())
	c.Reply.Array(len(specs))
	for _, s := range specs {
		writeSpec(c.Reply, s)
	}
	return nil
}

func (f *family) commandCount(c *command.Call, _ command.Session) error {
	c.Reply.Int(int64(len(visible(f.d.Table().Commands()))))
	return nil
}

func (f *family) commandInfo(c *command.Call, s command.Session) error {
	names := c.Args.Rest()
	if len(names) == 0 {
		return f.commandAll(c, s)
	}
	c.Reply.Array(len(names))
	for _, name := range names {
		if spec := f.d.Table().Find(name); spec != nil {
			writeSpec(c.Reply, spec)
		} else {
			c.Reply.Null()
		}
	}
	return nil
}

func writeSpec(w *resp.Writer, s *command.Spec) {
	first, last, step := s.LegacyRange()
	subs := visible(s.Sub)
	w.Array(10)
	w.BulkString(s.FullName())
	w.Int(int64(s.Arity))
	simpleSet(w, s.FlagNames())
	w.Int(int64(first))
	w.Int(int64(last))
	w.Int(int64(step))
	simpleSet(w, s.Categories())
	w.Set(len(s.Tips))
	for _, t := range s.Tips {
		w.BulkString(t)
	}
	w.Set(len(s.Keys))
	for i := range s.Keys {
		writeKeySpec(w, &s.Keys[i])
	}
	w.Set(len(subs))
	for _, sub := range subs {
		writeSpec(w, sub)
	}
}

func simpleSet(w *resp.Writer, words []string) {
	w.Set(len(words))
	for _, s := range words {
		w.Simple(s)
	}
}

func writeKeySpec(w *resp.Writer, k *command.KeySpec) {
	if k.Notes != "" {
		w.Map(4)
		w.BulkString("notes")
		w.BulkString(k.Notes)
	} else {
		w.Map(3)
	}
	w.BulkString("flags")
	simpleSet(w, k.Flags.Names())
	w.BulkString("begin_search")
	if k.Unknown {
		typeAndSpec(w, "unknown", 0)
		w.BulkString("find_keys")
		typeAndSpec(w, "unknown", 0)
		return
	}
	if k.Keyword != "" {
		typeAndSpec(w, "keyword", 2)
		w.BulkString("keyword")
		w.BulkString(k.Keyword)
		field(w, "startfrom", k.StartFrom)
	} else {
		typeAndSpec(w, "index", 1)
		field(w, "index", k.Begin)
	}
	w.BulkString("find_keys")
	if k.NumKeys {
		typeAndSpec(w, "keynum", 3)
		field(w, "keynumidx", k.NumIdx)
		field(w, "firstkey", k.First)
		field(w, "keystep", k.Step)
		return
	}
	typeAndSpec(w, "range", 3)
	field(w, "lastkey", k.Last)
	field(w, "keystep", k.Step)
	field(w, "limit", k.Limit)
}

// typeAndSpec opens a map of a type and of a spec with n fields.
func typeAndSpec(w *resp.Writer, kind string, n int) {
	w.Map(2)
	w.BulkString("type")
	w.BulkString(kind)
	w.BulkString("spec")
	w.Map(n)
}

func field(w *resp.Writer, name string, n int) {
	w.BulkString(name)
	w.Int(int64(n))
}

func (f *family) commandList(c *command.Call, _ command.Session) error {
	keep := func(*command.Spec) bool { return true }
	if c.Args.More() {
		if c.Args.Len() != 2+1 || !c.Args.Word("filterby") {
			return resp.ErrSyntax
		}
		if keep = listFilter(&c.Args); keep == nil {
			return resp.ErrSyntax
		}
	}
	var names []string
	for _, s := range visible(f.d.Table().All()) {
		if keep(s) {
			names = append(names, s.FullName())
		}
	}
	c.Reply.Array(len(names))
	for _, name := range names {
		c.Reply.BulkString(name)
	}
	return nil
}

// listFilter reads what COMMAND LIST FILTERBY filters by; nil if it is no such
// thing.
func listFilter(a *command.Args) func(*command.Spec) bool {
	switch {
	case a.Word("module"):
		return func(*command.Spec) bool { return false }
	case a.Word("aclcat"):
		name := command.Lower(a.Bytes())
		return func(s *command.Spec) bool { return s.InCategory(name) }
	case a.Word("pattern"):
		pattern := a.Bytes()
		return func(s *command.Spec) bool { return glob.MatchFold(pattern, []byte(s.FullName())) }
	}
	return nil
}

func (f *family) commandDocs(c *command.Call, _ command.Session) error {
	var specs []*command.Spec
	if names := c.Args.Rest(); len(names) == 0 {
		specs = visible(f.d.Table().Commands())
	} else {
		for _, name := range names {
			if s := f.d.Table().Find(name); s != nil {
				specs = append(specs, s)
			}
		}
	}
	c.Reply.Map(len(specs))
	for _, s := range specs {
		d, err := f.findDoc(s)
		if err != nil {
			return err
		}
		c.Reply.BulkString(s.FullName())
		docs.Reply(c.Reply, d, func(sub string) bool {
			found := f.d.Table().Find([]byte(sub))
			return found != nil && found.Flags&command.Undocumented == 0
		})
	}
	return nil
}

// findDoc returns what is known of a command; at least its group.
func (f *family) findDoc(s *command.Spec) (*docs.Doc, error) {
	top := s
	if p := s.Parent(); p != nil {
		top = p
	}
	d, err := f.d.Docs.Find(top.Name)
	if err != nil {
		return nil, err
	}
	if d != nil && top != s {
		d = d.Subcommands[s.FullName()]
	}
	if d == nil {
		d = &docs.Doc{Group: s.Group}
	}
	return d, nil
}

// keysOf finds the keys of the command that is given as arguments.
func (f *family) keysOf(c *command.Call) (keys []command.KeyRef, argv [][]byte, err error) {
	argv = c.Args.Rest()
	s := f.d.Table().Resolve(argv)
	switch {
	case s == nil:
		return nil, nil, errGetKeysName
	case !hasKeys(s):
		return nil, nil, command.ErrNoKeyArgs
	case !s.ArityFits(argv):
		return nil, nil, errGetKeysArity
	}
	keys, err = command.ShownKeys(s, argv)
	for i := range keys {
		if keys[i].Flags&command.KeyVariableFlags != 0 && s.VariableFlags != nil {
			keys[i].Flags = s.VariableFlags(argv)
		}
	}
	if err == nil && len(keys) == 0 {
		err = command.ErrBadKeyArgs
	}
	if err != nil && s.Flags&command.NoMandatoryKeys != 0 {
		return nil, argv, nil
	}
	return keys, argv, err
}

// hasKeys reports whether a command may have keys; a shard channel is none.
func hasKeys(s *command.Spec) bool {
	return s.FindKeys != nil || slices.ContainsFunc(s.Keys, func(k command.KeySpec) bool {
		return k.Flags&command.KeyNotKey == 0
	})
}

func (f *family) commandGetKeys(c *command.Call, _ command.Session) error {
	keys, argv, err := f.keysOf(c)
	if err != nil {
		return err
	}
	c.Reply.Array(len(keys))
	for _, k := range keys {
		c.Reply.Bulk(argv[k.Index])
	}
	return nil
}

func (f *family) commandGetKeysAndFlags(c *command.Call, _ command.Session) error {
	keys, argv, err := f.keysOf(c)
	if err != nil {
		return err
	}
	c.Reply.Array(len(keys))
	for _, k := range keys {
		c.Reply.Array(2)
		c.Reply.Bulk(argv[k.Index])
		simpleSet(c.Reply, k.Flags.Names())
	}
	return nil
}

func commandHelp(c *command.Call, _ command.Session) error {
	return command.ReplyHelp(c,
		"(no subcommand)",
		"    Details of all commands.",
		"COUNT",
		"    How many commands there are.",
		"LIST [FILTERBY (MODULE <name> | ACLCAT <category> | PATTERN <pattern>)]",
		"    The names of all commands, or of some.",
		"INFO [<command> ...]",
		"    Details of the named commands, or of all.",
		"DOCS [<command> ...]",
		"    Documentation of the named commands, or of all.",
		"GETKEYS <command> [<arg> ...]",
		"    The keys in a command.",
		"GETKEYSANDFLAGS <command> [<arg> ...]",
		"    The keys in a command, each with what is done to it.",
	)
}
