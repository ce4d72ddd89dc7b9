// Package lists holds the list commands, those that block among them. (The
// folder is named after the group; "list" is the package of the type.)
package lists

import (
	"heddle/db"
	"heddle/db/list"
	"heddle/db/listpack"
	"heddle/resp"
	"heddle/server/command"
)

// Family lists the list commands.
func Family() command.Family {
	return command.Family{Name: "list", Specs: []*command.Spec{
		pushSpec("lpush", true, false), pushSpec("rpush", false, false),
		pushSpec("lpushx", true, true), pushSpec("rpushx", false, true), linsertSpec(),
		popSpec("lpop", true), popSpec("rpop", false), lmpopSpec(),
		llenSpec(), lindexSpec(), lrangeSpec(), lposSpec(),
		lsetSpec(), lremSpec(), ltrimSpec(),
		lmoveSpec(), rpoplpushSpec(),
		blockingPopSpec("blpop", true), blockingPopSpec("brpop", false), blmpopSpec(),
		blmoveSpec(), brpoplpushSpec(),
	}}
}

const group = "list"

// Names that effects are written with.
var (
	wordLPop      = []byte("LPOP")
	wordRPop      = []byte("RPOP")
	wordLMove     = []byte("LMOVE")
	wordRPopLPush = []byte("RPOPLPUSH")
)

const (
	errIndex   resp.Error = "ERR index out of range"
	errNoKey   resp.Error = "ERR no such key"
	errNumKeys resp.Error = "ERR numkeys should be greater than 0"
	errCount   resp.Error = "ERR count should be greater than 0"
)

// readSpec describes a command that reads a list.
func readSpec(name string, arity int, flags command.Flags, key command.KeyFlags, read func(*command.Call, db.View) error) *command.Spec {
	return &command.Spec{
		Name: name, Arity: arity, Keys: command.Key(1, command.KeyRO|key),
		Flags: flags, ACL: command.CatList, Group: group, Read: read,
	}
}

// writeSpec describes a command that changes a list.
func writeSpec(name string, arity int, flags command.Flags, key command.KeyFlags, write func(*command.Call, db.Txn) error) *command.Spec {
	return &command.Spec{
		Name: name, Arity: arity, Keys: command.Key(1, command.KeyRW|key),
		Flags: flags, ACL: command.CatList, Group: group, Write: write,
	}
}

// end is an end of a list.
type end struct {
	front           bool
	push, pop, word string // events, and how LMOVE spells it
}

func theEnd(front bool) end {
	if front {
		return end{true, "lpush", "lpop", "LEFT"}
	}
	return end{false, "rpush", "rpop", "RIGHT"}
}

// effect is the command that pops from here.
func (e end) effect() []byte {
	if e.front {
		return wordLPop
	}
	return wordRPop
}

// side reads LEFT or RIGHT.
func side(a *command.Args) end {
	front := a.Word("left")
	if !front && !a.Word("right") {
		a.Reject(resp.ErrSyntax)
	}
	return theEnd(front)
}

// reply writes an element.
func reply(w *resp.Writer, e listpack.Entry, buf *listpack.Scratch) {
	if long := list.Lasting(e); long != nil {
		w.BulkExternal(long, nil)
		return
	}
	w.Bulk(e.Bytes(buf))
}
