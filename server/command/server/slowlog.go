package admin

import (
	"heddle/resp"
	"heddle/server/command"
)

// slowlogSpec: SLOWLOG GET [count] | LEN | RESET | HELP
func (f *family) slowlogSpec() *command.Spec {
	const flags = command.Admin | command.Loading | command.Stale
	return &command.Spec{Name: "slowlog", Arity: -2, Group: group, Sub: []*command.Spec{
		simpleSub("get", -2, flags, f.slowlogGet, tipAllNodes, tipNondetermined),
		simpleSub("help", 2, command.Loading|command.Stale, slowlogHelp),
		simpleSub("len", 2, flags, f.slowlogLen, tipAllNodes, tipSum, tipNondetermined),
		simpleSub("reset", 2, flags, f.slowlogReset, tipAllNodes, tipAllSucceeded),
	}}
}

const errSlowlogCount resp.Error = "ERR count should be greater than or equal to -1"

func (f *family) slowlogGet(c *command.Call, _ command.Session) error {
	count := int64(10)
	if c.Args.More() {
		if c.Args.Len() > 1 {
			return subcommandError(c)
		}
		count = c.Args.IntRange(-1, 1<<31, errSlowlogCount)
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	calls := f.d.Stats.Slowlog.Last(int(count))
	c.Reply.Array(len(calls))
	for i := range calls {
		e := &calls[i]
		c.Reply.Array(6)
		c.Reply.Int(e.ID)
		c.Reply.Int(e.Unix)
		c.Reply.Int(e.Micros)
		c.Reply.Array(len(e.Args))
		for _, a := range e.Args {
			c.Reply.BulkString(a)
		}
		c.Reply.BulkString(e.Addr)
		c.Reply.BulkString(e.Name)
	}
	return nil
}

// subcommandError says that a subcommand was used wrongly.
func subcommandError(c *command.Call) error {
	argv := c.Args.Argv()
	name := command.Upper(argv[0])
	return command.Errorf("ERR unknown subcommand or wrong number of arguments for '%.128s'. Try %s HELP.", argv[1], name)
}

func (f *family) slowlogLen(c *command.Call, _ command.Session) error {
	c.Reply.Int(int64(f.d.Stats.Slowlog.Len()))
	return nil
}

func (f *family) slowlogReset(c *command.Call, _ command.Session) error {
	f.d.Stats.Slowlog.Reset()
	c.Reply.OK()
	return nil
}

func slowlogHelp(c *command.Call, _ command.Session) error {
	return command.ReplyHelp(c,
		"GET [<count>]",
		"    The latest <count> slow calls (default: 10, -1: all). Each consists of",
		"    its number, when it ended, microseconds, arguments, client address and",
		"    client name.",
		"LEN",
		"    How many slow calls are kept.",
		"RESET",
		"    Forget them.",
	)
}
