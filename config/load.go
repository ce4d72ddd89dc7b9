package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// LineError is a line of configuration that cannot be taken. It stops the
// start; its text is the report that redis-server prints.
type LineError struct {
	Where  string // where the line stands, in words
	Line   int    // from 1
	Text   string
	Reason string
}

func (e *LineError) Error() string {
	return fmt.Sprintf("\n*** FATAL CONFIG FILE ERROR (Redis %s) ***\nReading the configuration file, at line %d\n>>> '%s'\n%s\n(%s)\n",
		RedisVersion, e.Line, e.Text, e.Reason, e.Where)
}

// Fatal is another mistake in the configuration that stops the start.
type Fatal string

func (e Fatal) Error() string {
	return fmt.Sprintf("\n*** FATAL CONFIG FILE ERROR (Redis %s) ***\n%s\n", RedisVersion, string(e))
}

// OpenError is a configuration file that cannot be read.
type OpenError struct {
	Path string
	Err  error
}

func (e *OpenError) Error() string {
	return fmt.Sprintf("Fatal error, can't open config file '%s': %s", e.Path, SysText(e.Err))
}

func (e *OpenError) Unwrap() error { return e.Err }

// Source is where a configuration comes from. Later parts win: the file, then
// Stdin, then Options.
type Source struct {
	File    string
	Stdin   io.Reader
	Options string
}

// maxInclude bounds how deep files may include others.
const maxInclude = 16

// maxFile bounds the size of a configuration file, against reading a device.
const maxFile = 64 << 20

// Load reads a configuration on top of what is there. On an error the store is
// left half changed and must not be used to serve.
func (s *Store) Load(src Source) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := loader{store: s, end: &ending{}}
	if src.File != "" {
		path, err := filepath.Abs(src.File)
		if err != nil {
			return &OpenError{src.File, err}
		}
		s.file = path
	}
	config, parts, err := gather(s.file, src)
	if err != nil {
		return err
	}
	l.parts = parts
	if err := l.lines(config); err != nil {
		return err
	}
	return l.finish()
}

// part says from which line on a text comes from where.
type part struct {
	from  int
	where string
}

// gather joins the parts of a source to one text, whose lines are counted
// through, as Redis counts them.
func gather(path string, src Source) (string, []part, error) {
	var text string
	parts := []part{{1, "in file " + path}}
	if path != "" {
		var err error
		if text, err = readFile(path); err != nil {
			return "", nil, err
		}
	}
	next := func(more, where string) {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		parts = append(parts, part{strings.Count(text, "\n") + 1, where})
		text += more
	}
	if src.Stdin != nil {
		b, err := io.ReadAll(io.LimitReader(src.Stdin, maxFile))
		if err != nil {
			return "", nil, &OpenError{"standard input", err}
		}
		next(string(b), "on standard input")
	}
	if src.Options != "" {
		text += "\n"
		next(src.Options, "on the command line")
	}
	return text, parts, nil
}

func readFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", &OpenError{path, err}
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	if err != nil {
		return "", &OpenError{path, err}
	}
	return string(b), nil
}

// loader reads lines into a store.
type loader struct {
	store *Store
	parts []part
	depth int
	end   *ending
}

// ending is what can be judged only when all is read.
type ending struct {
	multi *LineError // where multi-master was switched on
	users []userLine
}

// userLine is a line about an ACL user.
type userLine struct {
	at    *LineError
	rules []string
}

func (l *loader) where(line int) string {
	w := ""
	for _, p := range l.parts {
		if p.from <= line {
			w = p.where
		}
	}
	return w
}

func (l *loader) lines(config string) error {
	for i, line := range strings.Split(config, "\n") {
		line = strings.Trim(line, " \t\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		at := &LineError{Where: l.where(i + 1), Line: i + 1, Text: line}
		words, ok := SplitArgs(line)
		if !ok {
			at.Reason = "Unbalanced quotes in configuration line"
			return at
		}
		if len(words) == 0 {
			continue
		}
		if err := l.line(at, strings.ToLower(words[0]), words[1:]); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) line(at *LineError, name string, args []string) error {
	fail := func(reason string) error {
		at.Reason = reason
		return at
	}
	c := l.store.byName[name]
	if c == nil {
		if name == "include" && len(args) == 1 {
			return l.include(args[0], at)
		}
		if name == "user" && len(args) >= 1 {
			l.end.users = append(l.end.users, userLine{at, args[1:]})
		}
		if reason := l.special(at, name, args); reason != "" {
			return fail(reason)
		}
		return nil
	}
	v, err := c.d.parse(c.load(), c.d.split(args), source{file: true, first: !c.fromFile})
	if err == nil {
		err = l.store.put(c, v)
	}
	if err != nil {
		return fail(err.Error())
	}
	c.fromFile = true
	if name == "multi-master" && v.num != 0 {
		l.end.multi = at
	}
	if reason := refused(c, v); reason != "" {
		return fail(reason)
	}
	return nil
}

// maxDatabases bounds what empty databases take: memory in each shard, and a look
// at each by every periodic task.
const maxDatabases = 1 << 16

// refused says why a value cannot be served: a promise of safety or of a port
// that the server could not keep must stop the start.
func refused(c *cell, v value) string {
	switch {
	case c.d.Name == "cluster-enabled" && v.num != 0:
		return "cluster mode is not available in this server"
	case c.d.Name == "tls-port" && v.num != 0:
		return "TLS is not available in this server"
	case c.d.Name == "databases" && v.num > maxDatabases:
		return "argument must be between 1 and " + strconv.Itoa(maxDatabases) + " inclusive"
	case c.d.Name == "aclfile" && v.words[0] != "":
		return "ACL files are not available in this server"
	}
	return ""
}

// special reads lines that are no directives with a value.
func (l *loader) special(at *LineError, name string, args []string) (reason string) {
	const bad = "Bad directive or wrong number of arguments"
	switch {
	case name == "rename-command" && len(args) == 2:
		l.store.renames = append(l.store.renames, Rename{strings.ToLower(args[0]), strings.ToLower(args[1]), *at})
	case name == "user" && len(args) >= 1:
		return userRefused(args)
	case name == "loadmodule" && len(args) >= 1:
		return "modules are not available in this server"
	case name == "sentinel":
		return "sentinel directive while not in sentinel mode"
	case name == "list-max-ziplist-entries" && len(args) == 1, name == "list-max-ziplist-value" && len(args) == 1:
		// Redis takes and forgets them, too: lists have no such limits since 3.2.
	case name == "is-flash-enabled" && len(args) <= 1:
		return "there is no flash storage in this server"
	default:
		return bad
	}
	return ""
}

// userRefused takes what CONFIG REWRITE of Redis writes about a default user
// who may do everything, and nothing else: rules that would not be kept must
// not seem to be.
func userRefused(args []string) string {
	const only = "ACL users are not available in this server, except a default user who may do everything"
	if args[0] != "default" {
		return only
	}
	for _, rule := range args[1:] {
		switch {
		case rule == "on", rule == "nopass", rule == "~*", rule == "&*", rule == "+@all", rule == "allkeys",
			rule == "allchannels", rule == "allcommands", rule == "sanitize-payload", strings.HasPrefix(rule, "#"):
		default:
			return only
		}
	}
	return ""
}

// checkUsers makes sure that a password of the default user is requirepass.
func (l *loader) checkUsers() error {
	pass := l.store.String("requirepass")
	sum := sha256.Sum256([]byte(pass))
	want := "#" + hex.EncodeToString(sum[:])
	for _, u := range l.end.users {
		for _, rule := range u.rules {
			if strings.HasPrefix(rule, "#") && (pass == "" || !strings.EqualFold(rule, want)) {
				u.at.Reason = "the default user's password must be that of requirepass: ACL users are not available in this server"
				return u.at
			}
		}
	}
	return nil
}

// include reads the files that a pattern names, in order. Without wildcards a
// missing file is an error, with them it is not.
func (l *loader) include(pattern string, at *LineError) error {
	if l.depth >= maxInclude {
		at.Reason = "too many files that include one another"
		return at
	}
	paths := []string{pattern}
	if strings.ContainsAny(pattern, "*?[") {
		var err error
		if paths, err = filepath.Glob(pattern); err != nil {
			at.Reason = "malformed pattern of file names"
			return at
		}
		slices.Sort(paths)
	}
	for _, p := range paths {
		text, err := readFile(p)
		if err != nil {
			return err
		}
		inner := loader{store: l.store, parts: []part{{1, "in file " + p}}, depth: l.depth + 1, end: l.end}
		if err := inner.lines(text); err != nil {
			return err
		}
	}
	return nil
}

// finish settles what depends on several lines, wherever they stood.
func (l *loader) finish() error {
	s := l.store
	if s.Bool("multi-master") && !s.Bool("active-replica") {
		l.end.multi.Reason = "multi-master needs active-replica yes"
		return l.end.multi
	}
	primaries := s.cell("replicaof")
	if w := primaries.load().words; len(w) > 2 && !s.Bool("multi-master") {
		primaries.store(value{words: w[len(w)-2:]})
	}
	return l.checkUsers()
}
