package aof

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The manifest is Redis 7's text file that says which files make up the AOF, a line each:
//
//	file appendonly.aof.2.base.rdb seq 2 type b
//	file appendonly.aof.1.incr.aof seq 1 type h
//	file appendonly.aof.2.incr.aof seq 2 type i
//
// Lines that begin with # are comments. One of them is ours: it says that the files were recovered to a time, see
// Manifest.Recovered. It stands here because it has to change with the files at once.
//
// b is the base (at most one), i an incremental file (their numbers grow from line to line), h a file of earlier
// times that may be deleted. Keys are read in any order and letter case, unknown ones are skipped with their values,
// lines that begin with # too. Names with odd characters stand in double quotes. Everything that Redis refuses is
// refused in its words.

// Type says what a file of the AOF is.
type Type byte

// Types as the manifest spells them.
const (
	Base    Type = 'b'
	Incr    Type = 'i'
	History Type = 'h'
)

// Entry is a file as the manifest names it.
type Entry struct {
	Name string // without folder
	Seq  int64  // counts bases and incremental files, each from 1
	Type Type
}

// Manifest is the list of files. Files are loaded in the order Base, Incr.
type Manifest struct {
	Base    *Entry // nil: none
	History []Entry
	Incr    []Entry
	// Recovered is the Unix time in seconds up to which the files before these were loaded to make them; 0: they were
	// not recovered. It stays when they are rewritten, so that asking for the same time again, as a script that starts
	// a server may, cuts nothing that was written since.
	Recovered int64
}

// recoveredNote begins the comment that tells Manifest.Recovered.
const recoveredNote = "# recovered until "

// maxLine is the longest line, with its end.
const maxLine = 1024

// Messages of ManifestError, in Redis' words.
const (
	msgFormat    = "Invalid AOF manifest file format"
	msgLong      = "The AOF manifest file contains too long line"
	msgEmpty     = "Found an empty AOF manifest"
	msgBase      = "Found duplicate base file information"
	msgMonotonic = "Found a non-monotonic sequence number"
	msgType      = "Unknown AOF file type"
	msgPath      = "File can't be a path, just a filename"
)

// ManifestError says what is wrong with a manifest.
type ManifestError struct {
	File string // path, if known
	Line int    // from 1; 0: not about one line
	Text string // the line
	Msg  string
}

// Error implements error.
func (e *ManifestError) Error() string {
	where := e.File
	if where == "" {
		where = "manifest"
	}
	if e.Line > 0 {
		where += fmt.Sprintf(": line %d '%s'", e.Line, e.Text)
	}
	return where + ": " + e.Msg
}

// Lines returns the lines that Redis logs about it.
func (e *ManifestError) Lines() []string {
	lines := []string{"\n*** FATAL AOF MANIFEST FILE ERROR ***"}
	if e.Line > 0 {
		lines = append(lines, fmt.Sprintf("Reading the manifest file, at line %d", e.Line), fmt.Sprintf(">>> '%s'", e.Text))
	}
	return append(lines, e.Msg)
}

// ParseManifest reads a manifest. Errors are *ManifestError.
func ParseManifest(text []byte) (*Manifest, error) {
	m := &Manifest{}
	if len(text) == 0 {
		return nil, &ManifestError{Msg: msgEmpty}
	}
	for n := 1; len(text) > 0; n++ {
		end := bytes.IndexByte(text, '\n')
		if text[0] == '#' {
			if end < 0 {
				break
			}
			if at, ok := bytes.CutPrefix(text[:end], []byte(recoveredNote)); ok {
				m.Recovered = max(0, leadingInt(string(at)))
			}
			text = text[end+1:]
			continue
		}
		// A last line without an end was cut off, which may have shortened its name.
		if end < 0 || end >= maxLine {
			return nil, &ManifestError{Msg: msgLong}
		}
		line := string(bytes.Trim(text[:end], " \t\r\n"))
		text = text[end+1:]
		if msg := m.add(line); msg != "" {
			return nil, &ManifestError{Line: n, Text: line, Msg: msg}
		}
	}
	return m, nil
}

// add reads a line, and returns what is wrong with it.
func (m *Manifest) add(line string) string {
	words, ok := splitWords(line)
	if !ok || len(words) < 6 || len(words)%2 != 0 {
		return msgFormat
	}
	var e Entry
	for i := 0; i < len(words); i += 2 {
		switch v := words[i+1]; strings.ToLower(words[i]) {
		case "file":
			if !IsName(v) {
				return msgPath
			}
			e.Name = v
		case "seq":
			e.Seq = leadingInt(v)
		case "type":
			e.Type = 0
			if v != "" {
				e.Type = Type(v[0])
			}
		}
	}
	if e.Name == "" || e.Seq == 0 || e.Type == 0 {
		return msgFormat
	}
	// From the largest number there is no next.
	if e.Seq == math.MaxInt64 {
		return msgFormat
	}
	switch e.Type {
	case Base:
		if m.Base != nil {
			return msgBase
		}
		m.Base = &e
	case History:
		m.History = append(m.History, e)
	case Incr:
		if e.Seq <= m.lastIncr() {
			return msgMonotonic
		}
		m.Incr = append(m.Incr, e)
	default:
		return msgType
	}
	return ""
}

// IsName reports whether s is a file's name and no path: for manifests, and for names in directives.
func IsName(s string) bool {
	return s != "." && s != ".." && !strings.ContainsAny(s, "/\\\x00")
}

// leadingInt is the number that s begins with, as C's atoll reads it; too large ones are the largest.
func leadingInt(s string) int64 {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == 0 && (s[end] == '-' || s[end] == '+')) {
		end++
	}
	n, err := strconv.ParseInt(s[:end], 10, 64)
	if err != nil && n != math.MaxInt64 && n != math.MinInt64 {
		return 0
	}
	return n
}

// lastIncr is the number of the last incremental file.
func (m *Manifest) lastIncr() int64 {
	if len(m.Incr) == 0 {
		return 0
	}
	return m.Incr[len(m.Incr)-1].Seq
}

// Append writes the manifest's text behind dst.
func (m *Manifest) Append(dst []byte) []byte {
	if m.Base != nil {
		dst = m.Base.append(dst)
	}
	for _, e := range m.History {
		dst = e.append(dst)
	}
	for _, e := range m.Incr {
		dst = e.append(dst)
	}
	if m.Recovered > 0 {
		dst = append(strconv.AppendInt(append(dst, recoveredNote...), m.Recovered, 10), '\n')
	}
	return dst
}

func (e Entry) append(dst []byte) []byte {
	dst = append(dst, "file "...)
	if needsQuotes(e.Name) {
		dst = appendQuoted(dst, e.Name)
	} else {
		dst = append(dst, e.Name...)
	}
	dst = append(dst, " seq "...)
	dst = strconv.AppendInt(dst, e.Seq, 10)
	return append(append(dst, " type "...), byte(e.Type), '\n')
}

// clone returns a copy that shares nothing.
func (m *Manifest) clone() *Manifest {
	c := &Manifest{History: slices.Clone(m.History), Incr: slices.Clone(m.Incr), Recovered: m.Recovered}
	if m.Base != nil {
		b := *m.Base
		c.Base = &b
	}
	return c
}

// empty reports whether it names no file to load.
func (m *Manifest) empty() bool { return m.Base == nil && len(m.Incr) == 0 }

// names reports whether any line has the name.
func (m *Manifest) names(name string) bool {
	is := func(e Entry) bool { return e.Name == name }
	return m.Base != nil && is(*m.Base) || slices.ContainsFunc(m.Incr, is) || slices.ContainsFunc(m.History, is)
}

// needsQuotes: what Redis quotes, and the single quote, which it does not, though its reader takes it for the begin
// of a quoted part.
func needsQuotes(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '\'' {
			return true
		}
	}
	return s == ""
}

func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '\\', '"':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\a':
			dst = append(dst, '\\', 'a')
		case '\b':
			dst = append(dst, '\\', 'b')
		default:
			if c < ' ' || c >= 0x7f {
				const hex = "0123456789abcdef"
				dst = append(dst, '\\', 'x', hex[c>>4], hex[c&15])
			} else {
				dst = append(dst, c)
			}
		}
	}
	return append(dst, '"')
}
