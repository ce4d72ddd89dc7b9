package command

import (
	"testing"

	"heddle/db"
)

func TestRename(t *testing.T) {
	read := func(*Call, db.View) error { return nil }
	families := []Family{
		{Name: "a", Specs: []*Spec{{Name: "get", Arity: 2, Read: read}, {Name: "ttl", Arity: 2, Read: read}}},
		{Name: "b", Specs: []*Spec{{Name: "type", Arity: 2, Read: read}}},
	}
	f := func(from, to string, want error) {
		t.Helper()
		if err := Rename(families, from, to); err != want {
			t.Errorf("%s to %q: %v, want %v", from, to, err, want)
		}
	}
	f("nosuch", "x", ErrRenameUnknown)
	f("get", "type", ErrRenameTaken)
	f("get", "fetch", nil)
	f("get", "", ErrRenameUnknown)
	f("type", "", nil)
	f("ttl", "type", nil)
	table, err := NewTable(families...)
	if err != nil {
		t.Fatal(err)
	}
	for name, there := range map[string]bool{"get": false, "FETCH": true, "ttl": false, "type": true} {
		if (table.Lookup([]byte(name)) != nil) != there {
			t.Errorf("%s is there: %v", name, !there)
		}
	}
}
