// Package str holds the string commands: SET and GET with their relatives,
// counters, ranges, and LCS. (The folder is named after the group; "string"
// would hide the type.)
package str

import (
	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// Family lists the string commands. maxBulk tells how long a string may
// become, as proto-max-bulk-len has it at the moment.
func Family(maxBulk func() int64) command.Family {
	return command.Family{Name: "string", Specs: []*command.Spec{
		getSpec(), getdelSpec(), getexSpec(), getsetSpec(), mgetSpec(), strlenSpec(),
		setSpec(), setexSpec(), psetexSpec(), setnxSpec(), msetSpec(), msetnxSpec(),
		incrSpec(), decrSpec(), incrbySpec(), decrbySpec(), incrbyfloatSpec(),
		getrangeSpec("getrange"), getrangeSpec("substr"), setrangeSpec(maxBulk), appendSpec(maxBulk),
		lcsSpec(maxBulk),
	}}
}

// Names that effects are written with.
var (
	wordSet       = []byte("SET")
	wordDel       = []byte("DEL")
	wordPXAt      = []byte("PXAT")
	wordKeepTTL   = []byte("KEEPTTL")
	wordPExpireAt = []byte("PEXPIREAT")
	wordPersist   = []byte("PERSIST")
)

// replyCurrent writes the string at key, or null, counting a read. The write
// commands with GET in their names begin with it.
func replyCurrent(c *command.Call, v db.View, key []byte) (found bool, err error) {
	s, found, err := v.String(key)
	switch {
	case err != nil:
		return false, err
	case !found:
		c.Reply.Null()
	default:
		command.ReplyStr(c.Reply, &s)
	}
	return found, nil
}

// tooLong refuses to make a string of have bytes longer by more.
func tooLong(have, more, most int64) error {
	if more > most-have {
		return resp.ErrTooLong
	}
	return nil
}
