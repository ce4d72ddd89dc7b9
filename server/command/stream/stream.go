// Package streams holds the stream commands: entries, ranges, consumer groups. (The
// folder is named after the group; "stream" is the package of the type.)
package streams

import (
	"heddle/db"
	"heddle/db/stream"
	"heddle/resp"
	"heddle/server/command"
)

// Family lists the stream commands.
func Family() command.Family {
	return command.Family{Name: "stream", Specs: []*command.Spec{
		xaddSpec(), xtrimSpec(), xdelSpec(), xsetidSpec(), xlenSpec(), xrangeSpec(false), xrangeSpec(true),
		xreadSpec(), xreadgroupSpec(), xgroupSpec(), xackSpec(), xpendingSpec(), xclaimSpec(), xautoclaimSpec(), xinfoSpec(),
	}}
}

const (
	group           = "stream"
	tipNondetermine = "nondeterministic_output"
)

// Error texts of more than one command.
const (
	errID           resp.Error = "ERR Invalid stream ID specified as stream command argument"
	errStartOfRange resp.Error = "ERR invalid start ID for the interval"
	errEndOfRange   resp.Error = "ERR invalid end ID for the interval"
)

// Words that effects are written with.
var (
	wordXAdd           = []byte("XADD")
	wordXTrim          = []byte("XTRIM")
	wordXClaim         = []byte("XCLAIM")
	wordXAck           = []byte("XACK")
	wordXGroup         = []byte("XGROUP")
	wordSetID          = []byte("SETID")
	wordCreateConsumer = []byte("CREATECONSUMER")
	wordEntriesRead    = []byte("ENTRIESREAD")
	wordMaxLen         = []byte("MAXLEN")
	wordMinID          = []byte("MINID")
	wordExactly        = []byte("=")
	wordTime           = []byte("TIME")
	wordRetryCount     = []byte("RETRYCOUNT")
	wordForce          = []byte("FORCE")
	wordJustID         = []byte("JUSTID")
	wordLastID         = []byte("LASTID")
	wordZero           = []byte("0")
)

// readSpec describes a command that reads the stream at argument 1.
func readSpec(name string, arity int, flags command.Flags, key command.KeyFlags, read func(*command.Call, db.View) error) *command.Spec {
	return &command.Spec{
		Name: name, Arity: arity, Keys: command.Key(1, command.KeyRO|key),
		Flags: flags, ACL: command.CatStream, Group: group, Read: read,
	}
}

// writeSpec describes a command that changes the stream at argument 1.
func writeSpec(name string, arity int, flags command.Flags, key command.KeyFlags, write func(*command.Call, db.Txn) error) *command.Spec {
	return &command.Spec{
		Name: name, Arity: arity, Keys: command.Key(1, command.KeyRW|key),
		Flags: flags, ACL: command.CatStream, Group: group, Write: write,
	}
}

// errSubcommand is what containers say of arguments that fit none of their subcommands.
func errSubcommand(c *command.Call) error {
	return command.Errorf("ERR unknown subcommand or wrong number of arguments for '%.128s'. Try %s HELP.",
		c.Args.Argv()[1], command.Upper([]byte(c.Spec.Parent().Name)))
}

// errNoGroup says that there is no such group.
func errNoGroup(key, group []byte) error {
	return command.Errorf("NOGROUP No such key '%s' or consumer group '%s'", key, group)
}

// readGroup reads the stream at key and a group of it, for commands that need both.
// hit and miss are counted as reading, although the command may change the group.
func readGroup(v db.View, key, name []byte) (*stream.Stream, *stream.Group, error) {
	s, err := stream.Read(v, key)
	if err != nil {
		return nil, nil, err
	}
	if s != nil {
		if g := s.Group(name); g != nil {
			return s, g, nil
		}
	}
	return nil, nil, errNoGroup(key, name)
}

// replyID writes an ID as a bulk string.
func replyID(w *resp.Writer, id stream.ID) {
	var buf [stream.IDSize]byte
	w.Bulk(id.Append(buf[:0]))
}

// keepID returns the text of an ID for ReplicateAs.
func keepID(c *command.Call, id stream.ID) []byte {
	var buf [stream.IDSize]byte
	return c.Keep(id.Append(buf[:0]))
}

// tell publishes a keyspace event of a stream.
func tell(tx db.Txn, event string, key []byte) { tx.Event(db.ClassStream, event, key) }
