package command

import (
	"slices"
	"testing"

	"heddle/db"
)

func read(*Call, db.View) error { return nil }

func TestDescribe(t *testing.T) {
	s := &Spec{
		Name: "x", Arity: -3, Read: read, Flags: Fast | Loading | DenyOOM, ACL: CatGeo | CatDangerous,
		Keys: []KeySpec{{Begin: 1, Step: 1}, {Begin: 2, Last: -1, Step: 1}},
	}
	if got := s.FlagNames(); !slices.Equal(got, []string{"readonly", "denyoom", "loading", "fast"}) {
		t.Errorf("flags %v", got)
	}
	if got := s.Categories(); !slices.Equal(got, []string{"@read", "@geo", "@fast", "@dangerous"}) {
		t.Errorf("categories %v", got)
	}
	if first, last, step := s.LegacyRange(); first != 1 || last != -1 || step != 1 {
		t.Errorf("range %d %d %d", first, last, step)
	}
	if !s.InCategory("geo") || s.InCategory("write") || s.InCategory("nosuch") {
		t.Error("InCategory")
	}
	if s.MovableKeys() || !(&Spec{Keys: NumKeys(1, KeyRO)}).MovableKeys() {
		t.Error("MovableKeys")
	}
}

func TestFindAndResolve(t *testing.T) {
	sub := &Spec{Name: "sub", Arity: 2, Read: read}
	table, err := NewTable(Family{Name: "f", Specs: []*Spec{
		{Name: "one", Arity: 1, Read: read}, {Name: "box", Arity: -2, Sub: []*Spec{sub}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	find := func(name, want string) {
		t.Helper()
		s := table.Find([]byte(name))
		if got := nameOf(s); got != want {
			t.Errorf("Find(%s) = %q", name, got)
		}
	}
	find("ONE", "one")
	find("box|SUB", "box|sub")
	find("box|nosuch", "")
	find("nosuch|sub", "")
	find("one|sub", "")
	find("box|sub|x", "")
	resolve := func(want string, argv ...string) {
		t.Helper()
		var b [][]byte
		for _, a := range argv {
			b = append(b, []byte(a))
		}
		if got := nameOf(table.Resolve(b)); got != want {
			t.Errorf("Resolve(%q) = %q", argv, got)
		}
	}
	resolve("one", "one", "x")
	resolve("box|sub", "BOX", "Sub", "x")
	resolve("box", "box")
	resolve("", "box", "nosuch")
	if sub.ArityFits([][]byte{nil}) || !sub.ArityFits([][]byte{nil, nil}) {
		t.Error("ArityFits")
	}
}

func nameOf(s *Spec) string {
	if s == nil {
		return ""
	}
	return s.FullName()
}

func TestRedact(t *testing.T) {
	var c Call
	c.Redact(3)
	if !c.Redacted(3) || c.Redacted(4) || c.Redacted(100) {
		t.Error("a low index")
	}
	c.Redact(200)
	if !c.Redacted(200) || c.Redacted(4) {
		t.Error("a high index")
	}
}
