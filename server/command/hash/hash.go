// Package hashes holds the hash commands: fields and their values, counters in
// fields, fields that expire, and what KeyDB adds. (The folder is named after the
// group; "hash" is the package of the type.)
package hashes

import (
	"math/rand/v2"

	"heddle/db"
	"heddle/db/hash"
	"heddle/resp"
	"heddle/server/command"
)

// Family lists the hash commands.
func Family() command.Family {
	return command.Family{Name: "hash", Specs: []*command.Spec{
		hsetSpec(), hmsetSpec(), hsetnxSpec(), hincrbySpec(), hincrbyfloatSpec(),
		hgetSpec(), hmgetSpec(), hlenSpec(), hstrlenSpec(), hexistsSpec(),
		hgetallSpec(), hkeysSpec(), hvalsSpec(), hrandfieldSpec(), hscanSpec(),
		hdelSpec(), hgetdelSpec(), hgetexSpec(), hsetexSpec(),
		expireSpec("hexpire", seconds, false), expireSpec("hpexpire", milliseconds, false),
		expireSpec("hexpireat", seconds, true), expireSpec("hpexpireat", milliseconds, true),
		ttlSpec("httl", seconds, false), ttlSpec("hpttl", milliseconds, false),
		ttlSpec("hexpiretime", seconds, true), ttlSpec("hpexpiretime", milliseconds, true),
		hpersistSpec(), hrenameSpec(), nhsetSpec(), nhgetSpec(),
	}}
}

const group = "hash"

// Names that effects are written with.
var (
	wordHSet       = []byte("HSET")
	wordHDel       = []byte("HDEL")
	wordHSetEx     = []byte("HSETEX")
	wordHPExpireAt = []byte("HPEXPIREAT")
	wordHPersist   = []byte("HPERSIST")
	wordPXAt       = []byte("PXAT")
	wordKeepTTL    = []byte("KEEPTTL")
	wordFields     = []byte("FIELDS")
)

// readSpec describes a command that reads a hash.
func readSpec(name string, arity int, flags command.Flags, key command.KeyFlags, read func(*command.Call, db.View) error) *command.Spec {
	return &command.Spec{
		Name: name, Arity: arity, Keys: command.Key(1, command.KeyRO|key),
		Flags: flags, ACL: command.CatHash, Group: group, Read: read,
	}
}

// writeSpec describes a command that changes a hash.
func writeSpec(name string, arity int, flags command.Flags, key command.KeyFlags, write func(*command.Call, db.Txn) error) *command.Spec {
	return &command.Spec{
		Name: name, Arity: arity, Keys: command.Key(1, command.KeyRW|key),
		Flags: flags | command.Fast, ACL: command.CatHash, Group: group, Write: write,
	}
}

// parts says what a reply holds of each field.
type parts uint8

const (
	partField parts = 1 << iota
	partValue
)

func (p parts) reply(w *resp.Writer, field, value []byte) {
	if p&partField != 0 {
		w.Bulk(field)
	}
	if p&partValue != 0 {
		w.Bulk(value)
	}
}

// replyIter is reply of where a walk is. What is larger than what is packed never
// changes, so it need not be copied.
func (p parts) replyIter(w *resp.Writer, it *hash.Iter) {
	if p&partField != 0 {
		if f := it.Field(); len(f) > db.PackedMax {
			w.BulkExternal(it.LastingField(), nil)
		} else {
			w.Bulk(f)
		}
	}
	if p&partValue != 0 {
		if v := it.Value(); len(v) > db.PackedMax {
			w.BulkExternal(it.LastingValue(), nil)
		} else {
			w.Bulk(v)
		}
	}
}

// streamFrom is from how many fields on a reply is made piece by piece, of a frozen
// copy, while the client reads: then neither the shard is held nor all in memory at
// once. Below that it is quicker to write it.
const streamFrom = 1000

// replyAll writes all fields of a hash, whose number was written already.
func replyAll(w *resp.Writer, h *hash.Hash, p parts) {
	if h.Len() > streamFrom {
		f := h.Freeze()
		w.Stream(&all{f.Pin, f.Iter(), p})
		return
	}
	for it := h.Iter(); it.Next(); {
		p.replyIter(w, &it)
	}
}

// all is a resp.Stream of all fields.
type all struct {
	db.Pin
	it    hash.Iter
	parts parts
}

func (a *all) Next(w *resp.Writer) bool {
	for w.Len() < resp.StreamPiece {
		if !a.it.Next() {
			return false
		}
		a.parts.replyIter(w, &a.it)
	}
	return true
}

// source makes random numbers of its own for a stream, which outlives its command.
type source struct{ pcg rand.PCG }

func (s *source) Rand() uint64 { return s.pcg.Uint64() }

func newSource(v db.View) *source { return &source{*rand.NewPCG(v.Rand(), v.Rand())} }
