// Package sortedset has the commands of sorted sets: members with scores, found by
// member, by score, by rank, or by their bytes.
package sortedset

import (
	"heddle/db"
	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
)

// Family returns the commands of the group, made anew by each call.
func Family() command.Family {
	var specs []*command.Spec
	for _, list := range [][]*command.Spec{
		addSpecs(), readSpecs(), rangeSpecs(), removeSpecs(), popSpecs(), combineSpecs(),
	} {
		specs = append(specs, list...)
	}
	return command.Family{Name: group, Specs: specs}
}

const group = "sorted-set"

// reading is the Spec of a command that reads the sorted set at argument 1.
func reading(name string, arity int, flags command.Flags, read func(*command.Call, db.View) error) *command.Spec {
	return &command.Spec{
		Name: name, Arity: arity, Keys: command.Key(1, command.KeyRO|command.KeyAccess), Flags: flags,
		ACL: command.CatSortedSet, Group: group, Read: read,
	}
}

// writing is the Spec of a command that changes the sorted set at argument 1.
func writing(name string, arity int, flags command.Flags, keys command.KeyFlags, write func(*command.Call, db.Txn) error) *command.Spec {
	return &command.Spec{
		Name: name, Arity: arity, Keys: command.Key(1, command.KeyRW|keys), Flags: flags,
		ACL: command.CatSortedSet, Group: group, Write: write,
	}
}

const (
	errLexRange resp.Error = "ERR min or max not valid string range item"
	errNotANum  resp.Error = "ERR resulting score is not a number (NaN)"
)

// aloneFrom is the length from which on a member is sent from where it stands: those of
// large sets that are this long are never changed.
const aloneFrom = 16 << 10

// replyMember writes the member of z at which an iterator stands.
func replyMember(w *resp.Writer, z *zset.ZSet, it *zset.Iter) {
	member := it.Member()
	if len(member) >= aloneFrom && z.Large() != nil {
		w.BulkExternal(it.Kept(), nil)
		return
	}
	w.Bulk(member)
}

// replyScore writes a score, or null.
func replyScore(w *resp.Writer, score float64, found bool) {
	if !found {
		w.Null()
		return
	}
	w.Double(score)
}
