package config

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// cell holds the value of a directive in use.
type cell struct {
	d     *Directive
	def   value // the default, as it was when the store was made
	num   atomic.Int64
	words atomic.Pointer[[]string]
	// fromFile is set once a file or command line named the directive.
	fromFile bool
	slow     bool // see Slow
}

func (c *cell) load() value {
	v := value{num: c.num.Load()}
	if w := c.words.Load(); w != nil {
		v.words = *w
	}
	return v
}

func (c *cell) store(v value) {
	c.words.Store(&v.words)
	c.num.Store(v.num)
}

func (c *cell) text() string { return c.d.text(c.load()) }

// Store is the configuration of one server. Reading values is safe at any
// time from any goroutine; Set, Rewrite and loading exclude each other.
type Store struct {
	cells  []*cell
	byName map[string]*cell // names and aliases, lower case

	mu      sync.Mutex // serializes Set, Rewrite and loading
	hooks   []hook
	file    string // absolute path of the file, "" without one
	renames []Rename
	changer Dirs
	held    bool // see Held
}

// Held reports to a function of OnApply or OnChange, while it runs, what SetOptions.Held
// said. Nobody else may ask.
func (s *Store) Held() bool { return s.held }

// hook is a function to run when one of several directives changed.
type hook struct {
	names []string
	apply func() error
}

// Ineffective returns the directives that ask for something although they have
// no effect, each with the reason. What is switched off asks for nothing, and
// what is at its default was not asked for.
func (s *Store) Ineffective() []Pair {
	var out []Pair
	for _, c := range s.cells {
		v := c.load()
		off := v.num == 0 && strings.Join(v.words, "") == ""
		if c.d.Inert() && !off && !same(v, c.def) {
			out = append(out, Pair{c.d.Name, c.d.Note})
		}
	}
	return out
}

// Rename is a rename-command line: To is empty when the command is disabled.
type Rename struct {
	From, To string
	At       LineError // to report it, with a Reason
}

// Dirs changes and tells the working directory: the `dir` directive.
type Dirs struct {
	Chdir func(string) error
	Getwd func() (string, error)
}

// New returns a Store with every directive at its default. With dirs, `dir`
// is the working directory of the process; without, it is remembered only.
func New(dirs Dirs) *Store {
	s := &Store{byName: map[string]*cell{}, changer: dirs}
	for _, d := range Table() {
		c := &cell{d: d, def: defaultOf(d)}
		c.store(c.def)
		s.cells = append(s.cells, c)
		for _, name := range append([]string{d.Name}, d.Aliases...) {
			s.byName[name] = c
		}
	}
	s.syncDir()
	return s
}

func (s *Store) syncDir() {
	if s.changer.Getwd == nil {
		return
	}
	if wd, err := s.changer.Getwd(); err == nil {
		s.byName["dir"].store(value{words: []string{wd}})
	}
}

// defaultOf parses the default of d. A default that does not parse is a fault
// in the table, which a test finds.
func defaultOf(d *Directive) value {
	args := []string{d.Default}
	if d.Kind == List {
		args = strings.Fields(d.Default)
	}
	v, err := d.parse(value{}, args, source{})
	if err != nil {
		panic(fmt.Sprintf("default of directive %s: %v", d.Name, err))
	}
	return v
}

// cell finds a directive by exact name; an unknown one is a fault in the
// program, not in its input.
func (s *Store) cell(name string) *cell {
	c := s.byName[name]
	if c == nil {
		panic("config: no directive " + name)
	}
	return c
}

// Int returns the value of a number, a Bool (0, 1) or an Enum. Unsigned
// values beyond the signed range come as the largest signed one.
func (s *Store) Int(name string) int64 { return s.IntVar(name).Load() }

// Bytes is Int, for memory values.
func (s *Store) Bytes(name string) int64 { return s.Int(name) }

// Bool reports whether a directive is yes.
func (s *Store) Bool(name string) bool { return s.cell(name).num.Load() != 0 }

// String returns the value as CONFIG GET shows it.
func (s *Store) String(name string) string { return s.cell(name).text() }

// Words returns the words of a List, such as the addresses of bind. They must
// not be changed.
func (s *Store) Words(name string) []string { return s.cell(name).load().words }

// IntVar is a handle of a number: loading it is one atomic load.
type IntVar struct{ c *cell }

// Load returns the value in force.
func (v IntVar) Load() int64 {
	n := v.c.num.Load()
	if n < 0 && v.c.d.Flags&Unsigned != 0 {
		return 1<<63 - 1
	}
	return n
}

// BoolVar is a handle of a yes or no.
type BoolVar struct{ c *cell }

// Load returns the value in force.
func (v BoolVar) Load() bool { return v.c.num.Load() != 0 }

// StringVar is a handle of a text.
type StringVar struct{ c *cell }

// Load returns the value in force, as CONFIG GET shows it.
func (v StringVar) Load() string { return v.c.text() }

// IntVar returns the handle of a number; unknown names are faults in the program.
func (s *Store) IntVar(name string) IntVar { return IntVar{s.cell(name)} }

// BoolVar returns the handle of a yes or no.
func (s *Store) BoolVar(name string) BoolVar { return BoolVar{s.cell(name)} }

// StringVar returns the handle of any directive, as text.
func (s *Store) StringVar(name string) StringVar { return StringVar{s.cell(name)} }

// Known reports whether name is a directive or an alias, whatever its case.
func (s *Store) Known(name string) bool { return s.byName[strings.ToLower(name)] != nil }

// IsSensitive reports whether the value of a directive is to be kept out of
// logs and MONITOR.
func (s *Store) IsSensitive(name string) bool {
	c := s.byName[strings.ToLower(name)]
	return c != nil && c.d.Flags&Sensitive != 0
}

// Slow says of directives that it may take as long as a disk does to apply them. It is
// called before the first Set.
func (s *Store) Slow(names ...string) {
	for _, name := range names {
		s.byName[name].slow = true
	}
}

// OnChange has fn run after CONFIG SET changed one of the named directives;
// once a CONFIG SET, however many of them it changed.
func (s *Store) OnChange(fn func(), names ...string) {
	s.OnApply(func() error { fn(); return nil }, names...)
}

// OnApply is OnChange for acts that may fail: the error's text is what the
// client sees, and all values of that CONFIG SET are put back. fn then runs
// once more, to act on the values put back. It must not call Set or Rewrite.
func (s *Store) OnApply(fn func() error, names ...string) {
	for i, n := range names {
		names[i] = s.cell(n).d.Name
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks = append(s.hooks, hook{names: slices.Clone(names), apply: fn})
}

// Path returns the absolute path of the configuration file, "" without one.
func (s *Store) Path() string { return s.file }

// Renames returns the rename-command lines in order.
func (s *Store) Renames() []Rename { return s.renames }

// Allowed decides what enable-protected-configs, enable-debug-command and
// enable-module-command decide: no, yes, or local for local connections.
func (s *Store) Allowed(name string, local bool) bool {
	switch s.String(name) {
	case "yes":
		return true
	case "local":
		return local
	}
	return false
}

// SaveRule is one `save` point: a snapshot after Seconds if at least Changes
// changes were made.
type SaveRule struct{ Seconds, Changes int64 }

// SaveRules returns the save points in force.
func (s *Store) SaveRules() []SaveRule {
	w := s.Words("save")
	rules := make([]SaveRule, 0, len(w)/2)
	for i := 0; i+1 < len(w); i += 2 {
		rules = append(rules, SaveRule{mustInt(w[i]), mustInt(w[i+1])})
	}
	return rules
}

// OutputLimit bounds the unsent output of a class of clients: at once beyond
// Hard bytes, or beyond Soft for SoftSeconds; 0 is no limit.
type OutputLimit struct{ Hard, Soft, SoftSeconds int64 }

// The classes of clients, the indexes of OutputLimits.
const (
	ClassNormal = iota
	ClassReplica
	ClassPubSub
	classes
)

// OutputLimits returns client-output-buffer-limit by class.
func (s *Store) OutputLimits() [classes]OutputLimit {
	var l [classes]OutputLimit
	w := s.Words("client-output-buffer-limit")
	for i := range l {
		g := w[4*i:]
		l[i] = OutputLimit{mustInt(g[1]), mustInt(g[2]), mustInt(g[3])}
	}
	return l
}
