package command

// What COMMAND INFO and the ACL say of a Spec, derived from it.

// flagNames are the names of flags, in the order in which Redis lists them. It does
// not list MayReplicate.
var flagNames = [...]struct {
	has  func(*Spec) bool
	name string
}{
	{(*Spec).IsWrite, "write"},
	{(*Spec).IsRead, "readonly"},
	{flagged(DenyOOM), "denyoom"},
	{flagged(Admin), "admin"},
	{flagged(PubSub), "pubsub"},
	{flagged(NoScript), "noscript"},
	{flagged(Blocking), "blocking"},
	{flagged(Loading), "loading"},
	{flagged(Stale), "stale"},
	{flagged(SkipMonitor), "skip_monitor"},
	{flagged(SkipSlowlog), "skip_slowlog"},
	{flagged(Asking), "asking"},
	{flagged(Fast), "fast"},
	{flagged(NoAuth), "no_auth"},
	{flagged(NoMandatoryKeys), "no_mandatory_keys"},
	{flagged(NoAsyncLoading), "no_async_loading"},
	{flagged(NoMulti), "no_multi"},
	{(*Spec).MovableKeys, "movablekeys"},
	{flagged(AllowBusy), "allow_busy"},
	{flagged(TouchesArbitraryKeys), "touches_arbitrary_keys"},
}

func flagged(f Flags) func(*Spec) bool {
	return func(s *Spec) bool { return s.Flags&f != 0 }
}

// FlagNames lists the flags of s as COMMAND INFO does.
func (s *Spec) FlagNames() []string {
	var names []string
	for _, f := range flagNames {
		if f.has(s) {
			names = append(names, f.name)
		}
	}
	return names
}

// MovableKeys reports whether first, last and step do not tell all keys.
func (s *Spec) MovableKeys() bool {
	variable := false
	for i := range s.Keys {
		k := &s.Keys[i]
		if k.Keyword != "" || k.NumKeys || k.Unknown || k.Flags&KeyIncomplete != 0 {
			return true
		}
		variable = variable || k.Flags&KeyVariableFlags != 0
	}
	return s.FindKeys != nil && !variable
}

// LegacyRange returns first, last and step of the keys as COMMAND told them
// before there were key specs: what the leading plain ranges cover, as far as
// they follow each other. All are 0 without keys.
func (s *Spec) LegacyRange() (first, last, step int) {
	for i := range s.Keys {
		k := &s.Keys[i]
		if k.Keyword != "" || k.NumKeys || k.Unknown {
			continue
		}
		end := k.Last
		if end >= 0 {
			end += k.Begin
		}
		switch {
		case first == 0:
			first, last, step = k.Begin, end, k.Step
		case step == 1 && k.Step == 1 && last == k.Begin-1:
			last = end
		}
	}
	return first, last, step
}

// categoryNames are the ACL categories in the order in which Redis lists them.
var categoryNames = [...]struct {
	has  func(*Spec) bool
	name string
}{
	{inCategory(CatKeyspace), "@keyspace"},
	{func(s *Spec) bool { return s.IsRead() && s.ACL&CatScripting == 0 }, "@read"},
	{func(s *Spec) bool { return s.IsWrite() }, "@write"},
	{inCategory(CatSet), "@set"},
	{inCategory(CatSortedSet), "@sortedset"},
	{inCategory(CatList), "@list"},
	{inCategory(CatHash), "@hash"},
	{inCategory(CatString), "@string"},
	{inCategory(CatBitmap), "@bitmap"},
	{inCategory(CatHyperLogLog), "@hyperloglog"},
	{inCategory(CatGeo), "@geo"},
	{inCategory(CatStream), "@stream"},
	{flagged(PubSub), "@pubsub"},
	{func(s *Spec) bool { return s.Flags&Admin != 0 || s.ACL&CatAdmin != 0 }, "@admin"},
	{flagged(Fast), "@fast"},
	{func(s *Spec) bool { return s.Flags&Fast == 0 }, "@slow"},
	{flagged(Blocking), "@blocking"},
	{func(s *Spec) bool { return s.Flags&Admin != 0 || s.ACL&CatDangerous != 0 }, "@dangerous"},
	{inCategory(CatConnection), "@connection"},
	{inCategory(CatTransaction), "@transaction"},
	{inCategory(CatScripting), "@scripting"},
	{inCategory(CatReplication), "@replication"},
}

func inCategory(c Cat) func(*Spec) bool {
	return func(s *Spec) bool { return s.ACL&c != 0 }
}

// Categories lists the ACL categories of s, each with its "@".
func (s *Spec) Categories() []string {
	var names []string
	for _, c := range categoryNames {
		if c.has(s) {
			names = append(names, c.name)
		}
	}
	return names
}

// InCategory reports whether s is in the ACL category of that name, given
// without "@" and in lower case.
func (s *Spec) InCategory(name string) bool {
	for _, c := range categoryNames {
		if c.name[1:] == name {
			return c.has(s)
		}
	}
	return false
}

// keyFlagNames in the order of the KeyFlags.
var keyFlagNames = [...]string{
	"RO", "RW", "OW", "RM", "access", "update", "insert", "delete", "not_key", "incomplete", "variable_flags",
}

// Names lists the key flags as COMMAND INFO does.
func (f KeyFlags) Names() []string {
	var names []string
	for i, name := range keyFlagNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Find finds a command or subcommand by name, "get" or "config|get", in any
// case; nil if there is none.
func (t *Table) Find(name []byte) *Spec {
	for i, c := range name {
		if c != '|' {
			continue
		}
		parent := t.Lookup(name[:i])
		if parent == nil {
			return nil
		}
		return t.LookupSub(parent, name[i+1:])
	}
	return t.Lookup(name)
}

// Resolve finds the Spec that a call of argv runs; nil if there is none. A
// container whose subcommand is missing is returned itself.
func (t *Table) Resolve(argv [][]byte) *Spec {
	s := t.Lookup(argv[0])
	if s == nil || len(s.Sub) == 0 || len(argv) < 2 {
		return s
	}
	return t.LookupSub(s, argv[1])
}

// ArityFits reports whether argv has as many words as s wants.
func (s *Spec) ArityFits(argv [][]byte) bool {
	if s.Arity < 0 {
		return len(argv) >= -s.Arity
	}
	return len(argv) == s.Arity
}
