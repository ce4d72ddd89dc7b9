// Package docs holds what COMMAND DOCS answers: summary, history and argument
// tree of each command.
//
// redis.json was written by the generate program from the answer of a running
// redis-server; heddle.json describes what that server does not have: what Redis
// 7.2 and later added, KeyDB's commands and our own. Both are read when first asked for.
package docs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"heddle/resp"
)

// Doc describes a command or subcommand. Empty fields are left out of answers.
type Doc struct {
	Summary         string          `json:"summary,omitempty"`
	Since           string          `json:"since,omitempty"`
	Group           string          `json:"group,omitempty"`
	Complexity      string          `json:"complexity,omitempty"`
	DocFlags        []string        `json:"doc_flags,omitempty"`
	DeprecatedSince string          `json:"deprecated_since,omitempty"`
	ReplacedBy      string          `json:"replaced_by,omitempty"`
	History         [][2]string     `json:"history,omitempty"` // version, change
	Arguments       []Argument      `json:"arguments,omitempty"`
	Subcommands     map[string]*Doc `json:"subcommands,omitempty"` // by full name: "client|list"
}

// Argument is a node of a command's argument tree.
type Argument struct {
	Name            string     `json:"name"`
	Type            string     `json:"type"`
	KeySpecIndex    *int       `json:"key_spec_index,omitempty"`
	Token           string     `json:"token,omitempty"`
	Summary         string     `json:"summary,omitempty"`
	Since           string     `json:"since,omitempty"`
	DeprecatedSince string     `json:"deprecated_since,omitempty"`
	Flags           []string   `json:"flags,omitempty"`
	Arguments       []Argument `json:"arguments,omitempty"`
}

//go:embed redis.json
var redisJSON []byte

//go:embed heddle.json
var heddleJSON []byte

// Library finds docs by name.
type Library struct {
	load func() (map[string]*Doc, error)
}

// New returns the library. Nothing is read before the first look.
func New() *Library { return &Library{load: sync.OnceValues(read)} }

// read joins the two files.
func read() (map[string]*Doc, error) {
	all, own := map[string]*Doc{}, map[string]*Doc{}
	if err := json.Unmarshal(redisJSON, &all); err != nil {
		return nil, fmt.Errorf("redis.json: %w", err)
	}
	if err := json.Unmarshal(heddleJSON, &own); err != nil {
		return nil, fmt.Errorf("heddle.json: %w", err)
	}
	for name, d := range own {
		if old := all[name]; old != nil {
			old.extend(d)
		} else {
			all[name] = d
		}
	}
	return all, nil
}

// extend adds what is newer than d: history, arguments at the end, subcommands.
func (d *Doc) extend(newer *Doc) {
	d.History = append(d.History, newer.History...)
	d.Arguments = append(d.Arguments, newer.Arguments...)
	for name, sub := range newer.Subcommands {
		if old := d.Subcommands[name]; old != nil {
			old.extend(sub)
		} else {
			d.Subcommands[name] = sub
		}
	}
}

// Find returns the docs of a command by its lower-case name, nil if there are
// none.
func (l *Library) Find(name string) (*Doc, error) {
	all, err := l.load()
	return all[name], err
}

// Reply writes d as COMMAND DOCS shows it, with those subcommands that keep
// says are there.
func Reply(w *resp.Writer, d *Doc, keep func(sub string) bool) {
	subs := d.subcommands(keep)
	w.Map(count(d.Summary != "", d.Since != "", d.Group != "", d.Complexity != "", len(d.DocFlags) > 0,
		d.DeprecatedSince != "", d.ReplacedBy != "", len(d.History) > 0, len(d.Arguments) > 0, len(subs) > 0))
	text(w, "summary", d.Summary)
	text(w, "since", d.Since)
	text(w, "group", d.Group)
	text(w, "complexity", d.Complexity)
	words(w, "doc_flags", d.DocFlags)
	text(w, "deprecated_since", d.DeprecatedSince)
	text(w, "replaced_by", d.ReplacedBy)
	if len(d.History) > 0 {
		w.BulkString("history")
		w.Set(len(d.History))
		for _, h := range d.History {
			w.Array(2)
			w.BulkString(h[0])
			w.BulkString(h[1])
		}
	}
	if len(d.Arguments) > 0 {
		w.BulkString("arguments")
		arguments(w, d.Arguments)
	}
	if len(subs) > 0 {
		w.BulkString("subcommands")
		w.Map(len(subs))
		for _, name := range subs {
			w.BulkString(name)
			Reply(w, d.Subcommands[name], keep)
		}
	}
}

func arguments(w *resp.Writer, args []Argument) {
	w.Array(len(args))
	for i := range args {
		a := &args[i]
		w.Map(count(true, true, a.KeySpecIndex != nil, a.Token != "", a.Summary != "", a.Since != "",
			a.DeprecatedSince != "", len(a.Flags) > 0, len(a.Arguments) > 0))
		text(w, "name", a.Name)
		text(w, "type", a.Type)
		if a.KeySpecIndex != nil {
			w.BulkString("key_spec_index")
			w.Int(int64(*a.KeySpecIndex))
		}
		text(w, "token", a.Token)
		text(w, "summary", a.Summary)
		text(w, "since", a.Since)
		text(w, "deprecated_since", a.DeprecatedSince)
		words(w, "flags", a.Flags)
		if len(a.Arguments) > 0 {
			w.BulkString("arguments")
			arguments(w, a.Arguments)
		}
	}
}

func count(present ...bool) int {
	n := 0
	for _, p := range present {
		if p {
			n++
		}
	}
	return n
}

func text(w *resp.Writer, field, value string) {
	if value != "" {
		w.BulkString(field)
		w.BulkString(value)
	}
}

func words(w *resp.Writer, field string, value []string) {
	if len(value) == 0 {
		return
	}
	w.BulkString(field)
	w.Set(len(value))
	for _, v := range value {
		w.Simple(v)
	}
}

// subcommands returns the names of the subcommands to show, in order.
func (d *Doc) subcommands(keep func(string) bool) []string {
	var names []string
	for name := range d.Subcommands {
		if keep(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
