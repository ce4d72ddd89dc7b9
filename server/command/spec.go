// Package command is the contract between commands and the server: what a
// command says of itself (Spec), what it is given (Call, Args, Session, and a
// db.View or db.Txn), and the table in which names are looked up.
//
// Commands live in subpackages, one a family. A handler reads its arguments,
// checks, changes, replies, in this order; it never locks, never does I/O, and
// keeps nothing of what it was given after it returns.
package command

import (
	"fmt"
	"strings"

	"heddle/db"
	"heddle/resp"
)

// Flags say how dispatch treats a command. Readonly and write, movablekeys and
// blocking are not here: they follow from the Spec's functions and keys.
type Flags uint32

// The flags, named as COMMAND INFO names them.
const (
	Fast                 Flags = 1 << iota // constant or logarithmic time
	DenyOOM                                // refused when over maxmemory
	Admin                                  // administration
	PubSub                                 // about published messages
	NoScript                               // not from scripts
	Loading                                // allowed while loading
	Stale                                  // allowed on a stale replica
	SkipMonitor                            // not shown to MONITOR
	SkipSlowlog                            // not in the slow log
	NoAuth                                 // allowed before authentication
	NoMulti                                // refused inside MULTI
	MayReplicate                           // may be propagated though not a write
	NoMandatoryKeys                        // may be called without keys
	AllowBusy                              // allowed while a script runs too long
	Asking                                 // cluster: implies ASKING
	NoAsyncLoading                         // refused during async loading
	TouchesArbitraryKeys                   // touches keys it does not name
	Blocking                               // may park the client
	// AllShards makes dispatch lock the whole keyspace around the handler.
	AllShards
	// AtOnce runs the command immediately inside MULTI instead of queueing it
	// (EXEC, DISCARD, MULTI, WATCH, QUIT, RESET).
	AtOnce
	// Undocumented commands answer, but COMMAND and INFO do not list them.
	Undocumented
	// Reads and Writes say of a Control command that it reads or changes the
	// keyspace (DBSIZE, FLUSHALL): it counts as readonly or write then. A command
	// with Write that Reads counts as readonly: what it changes is no more than a
	// note of what it found (PFCOUNT).
	Reads
	Writes
	// Quick takes constant time though Redis does not flag it fast (SET).
	Quick
	// WhileSubscribed commands are allowed to a RESP2 client that subscribes.
	WhileSubscribed
	// Pushes commands answer by messages as they are pushed, which CLIENT REPLY
	// does not hold back (SUBSCRIBE).
	Pushes
)

// Cat is a set of ACL categories.
type Cat uint32

// The ACL categories a Spec names itself. @read, @write, @fast, @slow, @admin
// with @dangerous, @pubsub and @blocking are derived where Redis derives them.
const (
	CatKeyspace Cat = 1 << iota
	CatString
	CatBitmap
	CatHash
	CatList
	CatSet
	CatSortedSet
	CatStream
	CatHyperLogLog
	CatGeo
	CatConnection
	CatTransaction
	CatScripting
	CatDangerous
	CatAdmin // without the flag Admin, as LASTSAVE
	CatReplication
)

// Spec is everything the server knows of a command.
// Exactly one of Read, Write, Control and Sub is set.
type Spec struct {
	Name  string // lower case; of a subcommand only its own word
	Arity int    // as COMMAND shows it: includes the name; negative means at least
	Keys  []KeySpec
	Flags Flags
	ACL   Cat
	Group string // as COMMAND DOCS names it: "string", "generic", "server", ...
	Tips  []string

	Sub     []*Spec // a container has only subcommands
	Read    func(*Call, db.View) error
	Write   func(*Call, db.Txn) error
	Control func(*Call, Session) error

	// OnTimeout answers a command that was parked by Call.Wait when its time is
	// up, and at once where it may not be parked (in EXEC). Blocking commands
	// have it.
	OnTimeout func(*resp.Writer)
	// OnDenied answers one that may not be parked where that is not what OnTimeout
	// writes: BLMOVE in EXEC has a null, not a null array. Nil: OnTimeout does.
	OnDenied func(*resp.Writer)

	// Awaits is the type of key that a parked call can go on with: it runs again
	// when one of its keys was written and has that type. TypeNone: any type.
	Awaits db.Type
	// AwaitsGone makes a parked call run again also when a key that it waits for
	// was deleted or has another type than Awaits, as XREADGROUP, whose group is
	// gone then.
	AwaitsGone bool

	// WholeKeyspace, if set, says of a call that it may look at any key, as SORT
	// with BY or GET does: all shards are locked then.
	WholeKeyspace func(argv [][]byte) bool

	// FindKeys replaces Keys for dispatch where key positions need code.
	// It appends to dst the indexes of the keys within argv.
	FindKeys func(dst []KeyRef, argv [][]byte) ([]KeyRef, error)

	// VariableFlags tells what a call does to keys that are flagged
	// KeyVariableFlags: SET without GET does not read. COMMAND asks it; the way
	// of a command through dispatch does not depend on it.
	VariableFlags func(argv [][]byte) KeyFlags

	// Heavy says of a call of a Write command whether it has work which takes long and
	// needs none of the keys, such as to parse a large payload: by the bytes of arguments
	// that it has to look at; 0: none that is worth it. Ahead does that work before any
	// shard is locked, also for commands of EXEC, so that nobody waits for the keys
	// meanwhile; much of it in another goroutine. The handler finds what it returns as
	// Call.Returned, or an error to be answered, when Ahead panicked. Call.Returned is nil
	// when the call is not heavy, and where nobody else is there (loading of a file). Only
	// the number of argv is checked before. Ahead keeps nothing of argv beyond the
	// command, and leaves errors to the handler, which knows their order. Both are set, or
	// none.
	Heavy func(argv [][]byte) int
	Ahead func(argv [][]byte, ks *db.Keyspace, now db.Millis) Prepared

	parent *Spec
	id     int
	full   string
}

// Prepared is what Spec.Ahead has made.
type Prepared interface {
	// Release gives up what the handler has not taken. Dispatch calls it in any case,
	// behind the command or instead of it.
	Release()
}

// FullName is "get", or "client|list" for a subcommand.
func (s *Spec) FullName() string { return s.full }

// ErrArity is the answer to a wrong number of arguments: dispatch's, and that of handlers whose
// options allow fewer than Arity does.
func (s *Spec) ErrArity() resp.Error {
	return resp.Error("ERR wrong number of arguments for '" + s.full + "' command")
}

// ID is a small number, unique in its Table, dense from 0: an index for
// per-command statistics.
func (s *Spec) ID() int { return s.id }

// Parent is the container of a subcommand, nil for a command.
func (s *Spec) Parent() *Spec { return s.parent }

// IsWrite reports whether the command changes the keyspace.
func (s *Spec) IsWrite() bool { return s.Write != nil && s.Flags&Reads == 0 || s.Flags&Writes != 0 }

// IsRead reports whether the command only reads the keyspace.
func (s *Spec) IsRead() bool { return s.Read != nil || s.Flags&Reads != 0 }

// Family is the explicit list of the commands of one package.
type Family struct {
	Name  string
	Specs []*Spec
}

// Table finds specs by name. It is built once and then only read.
type Table struct {
	all   []*Spec // by ID, subcommands too
	top   []*Spec
	slots []*Spec // open addressing by lower-cased name
	mask  uint32
	subs  map[*Spec]map[string]*Spec
}

// NewTable joins families. A duplicate or incomplete Spec is a fault in the
// program and reported as an error, which must stop the start.
func NewTable(families ...Family) (*Table, error) {
	t := &Table{subs: map[*Spec]map[string]*Spec{}}
	for _, f := range families {
		for _, s := range f.Specs {
			if err := t.add(s, nil); err != nil {
				return nil, fmt.Errorf("family %s: %w", f.Name, err)
			}
		}
	}
	size := uint32(16)
	for int(size) < 4*len(t.top) {
		size *= 2
	}
	t.slots, t.mask = make([]*Spec, size), size-1
	for _, s := range t.top {
		i := nameHash([]byte(s.Name)) & t.mask
		for t.slots[i] != nil {
			if t.slots[i].Name == s.Name {
				return nil, fmt.Errorf("command %s registered twice", s.Name)
			}
			i = (i + 1) & t.mask
		}
		t.slots[i] = s
	}
	return t, nil
}

func (t *Table) add(s, parent *Spec) error {
	if s.Name == "" || s.Name != strings.ToLower(s.Name) || s.Arity == 0 {
		return fmt.Errorf("command %q: name or arity missing", s.Name)
	}
	set := 0
	for _, has := range []bool{s.Read != nil, s.Write != nil, s.Control != nil, len(s.Sub) > 0} {
		if has {
			set++
		}
	}
	if set != 1 && !(set == 2 && len(s.Sub) > 0 && s.Control != nil) {
		return fmt.Errorf("command %q: exactly one of Read, Write, Control, Sub", s.Name)
	}
	if (s.Heavy == nil) != (s.Ahead == nil) || s.Heavy != nil && s.Write == nil {
		return fmt.Errorf("command %q: Heavy and Ahead are for Write commands, both or none", s.Name)
	}
	s.parent, s.id, s.full = parent, len(t.all), s.Name
	t.all = append(t.all, s)
	if parent == nil {
		t.top = append(t.top, s)
	} else {
		s.full = parent.Name + "|" + s.Name
	}
	if len(s.Sub) > 0 {
		m := map[string]*Spec{}
		t.subs[s] = m
		for _, sub := range s.Sub {
			if m[sub.Name] != nil {
				return fmt.Errorf("command %s|%s registered twice", s.Name, sub.Name)
			}
			m[sub.Name] = sub
			if err := t.add(sub, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func nameHash(b []byte) uint32 {
	h := uint32(2166136261)
	for _, c := range b {
		h = (h ^ uint32(c|0x20)) * 16777619
	}
	return h
}

// Lookup finds a command by name, whatever its case; nil if there is none.
func (t *Table) Lookup(name []byte) *Spec {
	i := nameHash(name) & t.mask
	for {
		s := t.slots[i]
		if s == nil {
			return nil
		}
		if equalFold(name, s.Name) {
			return s
		}
		i = (i + 1) & t.mask
	}
}

// LookupSub finds a subcommand of container s by name; nil if there is none.
func (t *Table) LookupSub(s *Spec, name []byte) *Spec {
	for _, sub := range s.Sub {
		if equalFold(name, sub.Name) {
			return sub
		}
	}
	return nil
}

// All returns every Spec, subcommands too, indexed by ID.
func (t *Table) All() []*Spec { return t.all }

// Commands returns the commands without subcommands, in registration order.
func (t *Table) Commands() []*Spec { return t.top }

// equalFold compares ASCII letters regardless of case; lower is lower case.
func equalFold(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i := 0; i < len(b); i++ {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// Errorf is an error reply made of a format. It allocates.
func Errorf(format string, args ...any) error { return resp.Error(fmt.Sprintf(format, args...)) }
