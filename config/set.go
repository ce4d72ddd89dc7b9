package config

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"heddle/db/glob"
	"heddle/resp"
)

// Pair is a directive and a value.
type Pair struct{ Name, Value string }

// Get returns the directives that match any of the patterns, each once, an
// alias under its own name. A pattern without wildcards finds hidden
// directives too and is answered in the spelling it was asked in.
func (s *Store) Get(patterns ...string) []Pair {
	seen := map[string]bool{}
	var out []Pair
	add := func(name, as string) {
		if !seen[name] {
			seen[name] = true
			out = append(out, Pair{as, s.byName[name].text()})
		}
	}
	for _, p := range patterns {
		if !strings.ContainsAny(p, "*?[") {
			if name := strings.ToLower(p); s.byName[name] != nil {
				add(name, p)
			}
			continue
		}
		for _, name := range s.names() {
			if s.byName[name].d.Flags&Hidden == 0 && glob.MatchFold([]byte(p), []byte(name)) {
				add(name, name)
			}
		}
	}
	return out
}

func (s *Store) names() []string {
	names := make([]string, 0, len(s.byName))
	for n := range s.byName {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// SetOptions say what the one who sets may do.
type SetOptions struct {
	Protected bool // may set protected directives: see Allowed
	Loading   bool // the data set is being loaded
	Held      bool // all shards are locked, in EXEC: nothing is waited for
	NoWait    bool // ErrWaits rather than to wait for a disk, or for another Set that does
}

// ErrWaits is returned where SetOptions.NoWait asks for it. Nothing has changed.
var ErrWaits = errors.New("the configuration waits for a disk")

// errBusy is the answer in EXEC when the disk keeps another Set.
const errBusy resp.Error = "ERR Another CONFIG SET or CONFIG REWRITE waits for the disk, for which a transaction cannot wait"

// change is one step of a Set.
type change struct {
	cell     *cell
	name     string
	old, new value
}

// enter begins a Set.
func (s *Store) enter(pairs []Pair, opt SetOptions) error {
	switch {
	case opt.NoWait && slices.ContainsFunc(pairs, s.isSlow):
		return ErrWaits
	case !opt.NoWait && !opt.Held:
		s.mu.Lock()
	case s.mu.TryLock():
	case !opt.Held:
		return ErrWaits
	case !s.lockSoon():
		return errBusy
	}
	return nil
}

// lockSoon is for who has all shards locked: it gives others the time to end a Set that
// waits for no disk, and reports whether that was enough.
func (s *Store) lockSoon() bool {
	for range 20 {
		if s.mu.TryLock() {
			return true
		}
		time.Sleep(50 * time.Microsecond)
	}
	return false
}

// isSlow reports whether Slow was told of a directive.
func (s *Store) isSlow(p Pair) bool {
	c := s.byName[strings.ToLower(p.Name)]
	return c != nil && c.slow
}

// Set changes directives, all or none. The error is the reply. Several exclude each other,
// so that what one takes back is what was there before it.
func (s *Store) Set(pairs []Pair, opt SetOptions) error {
	if err := s.enter(pairs, opt); err != nil {
		return err
	}
	defer s.mu.Unlock()
	s.held = opt.Held
	defer func() { s.held = false }()
	changes, err := s.plan(pairs, opt)
	if err != nil {
		return err
	}
	for i := range changes {
		c := &changes[i]
		if c.cell.d.Flags&Immutable != 0 {
			c.new = c.old
			continue
		}
		args := c.cell.d.split([]string{pairs[i].Value})
		if c.new, err = c.cell.d.parse(c.old, args, source{}); err != nil {
			return setError(c.name, err)
		}
	}
	return s.commit(changes)
}

// plan looks up all directives and refuses what may not be set.
func (s *Store) plan(pairs []Pair, opt SetOptions) ([]change, error) {
	changes := make([]change, 0, len(pairs))
	for _, p := range pairs {
		name := strings.ToLower(p.Name)
		c := s.byName[name]
		switch {
		case c == nil:
			return nil, resp.Error("ERR Unknown option or number of arguments for CONFIG SET - '" + p.Name + "'")
		case c.d.Flags&Immutable != 0 && !s.unchanged(c, p.Value):
			return nil, setError(p.Name, argError("can't set immutable config"))
		case c.d.Flags&Protected != 0 && !opt.Protected:
			return nil, setError(p.Name, argError("can't set protected config"))
		case opt.Loading && c.d.Flags&DenyLoading != 0:
			return nil, errLoading
		}
		for _, d := range changes {
			if d.name == name {
				return nil, setError(p.Name, argError("duplicate parameter"))
			}
		}
		changes = append(changes, change{cell: c, name: name, old: c.load()})
	}
	return changes, nil
}

// unchanged reports whether a value is the one that an immutable directive of
// KeyDB has: setting it again is let pass, so that tools which know Redis'
// immutable directives, but not these, can set all that CONFIG GET shows.
func (s *Store) unchanged(c *cell, text string) bool {
	return c.d.Flags&KeyDB != 0 && c.text() == text
}

// errLoading is what commands answer while the data set is being loaded.
const errLoading resp.Error = "LOADING Redis is loading the dataset in memory"

func setError(name string, err error) error {
	return resp.Error(fmt.Sprintf("ERR CONFIG SET failed (possibly related to argument '%s') - %s", name, err))
}

// commit puts the new values in force and runs the hooks; if one fails, the old
// values come back and the hooks that ran run again.
func (s *Store) commit(changes []change) error {
	for _, c := range changes {
		if err := s.put(c.cell, c.new); err != nil {
			s.restore(changes)
			return setError(c.name, err)
		}
	}
	var ran []hook
	for _, h := range s.hooks {
		name, hit := touches(h, changes)
		if !hit {
			continue
		}
		ran = append(ran, h)
		if err := h.apply(); err != nil {
			s.restore(changes)
			s.rerun(ran)
			return setError(name, err)
		}
	}
	return nil
}

// put stores a value; `dir` is kept by the process.
func (s *Store) put(c *cell, v value) error {
	if c.d.Name == "dir" && s.changer.Chdir != nil {
		if err := s.changer.Chdir(v.words[0]); err != nil {
			return argError(SysText(err))
		}
		s.syncDir()
		return nil
	}
	c.store(v)
	return nil
}

func (s *Store) restore(changes []change) {
	for _, c := range slices.Backward(changes) {
		// The old directory may be gone; there is nobody left to tell.
		_ = s.put(c.cell, c.old)
	}
}

// rerun lets hooks act on restored values. Their first act on the same values
// succeeded, so an error here has no remedy.
func (s *Store) rerun(ran []hook) {
	for _, h := range ran {
		_ = h.apply()
	}
}

// touches reports whether h listens to one of the changes, and to which first.
func touches(h hook, changes []change) (string, bool) {
	for _, c := range changes {
		if slices.Contains(h.names, c.cell.d.Name) && !same(c.old, c.new) {
			return c.name, true
		}
	}
	return "", false
}

func same(a, b value) bool { return a.num == b.num && slices.Equal(a.words, b.words) }
