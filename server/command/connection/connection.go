// Package connection has the commands about a connection itself: PING, HELLO,
// AUTH, SELECT, QUIT, RESET, MONITOR and CLIENT with its subcommands.
package connection

import (
	"heddle/resp"
	"heddle/server/command"
)

const (
	group  = "connection"
	anyone = command.NoScript | command.Loading | command.Stale | command.NoAuth | command.AllowBusy | command.Fast

	errInvalidPort resp.Error = "ERR Protocol version is not an integer or out of range"
	errNoProto     resp.Error = "NOPROTO unsupported protocol version"
	errHelloAuth   resp.Error = "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time"
	errNoPassword  resp.Error = "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
	errNot32       resp.Error = "ERR value is out of range, value must between -2147483648 and 2147483647"
	errMonitorExec resp.Error = "ERR MONITOR isn't allowed for DENY BLOCKING client"
	errName        resp.Error = "ERR Client names cannot contain spaces, newlines or special characters."
)

// Deps is what the commands need besides the session.
type Deps struct {
	Version   string // the version of Redis that HELLO reports
	Databases int
}

// Family returns the commands of the group, made anew by each call.
func Family(d Deps) command.Family {
	return command.Family{Name: group, Specs: []*command.Spec{
		{
			Name: "ping", Arity: -1, Flags: command.Fast | command.WhileSubscribed, ACL: command.CatConnection, Group: group,
			Tips: []string{"request_policy:all_shards", "response_policy:all_succeeded"}, Control: ping,
		},
		{
			Name: "echo", Arity: 2, Flags: command.Fast | command.Loading | command.Stale, ACL: command.CatConnection,
			Group: group, Control: echo,
		},
		{
			Name: "select", Arity: 2, Flags: command.Fast | command.Loading | command.Stale, ACL: command.CatConnection,
			Group: group, Control: d.selectDB,
		},
		{Name: "auth", Arity: -2, Flags: anyone, ACL: command.CatConnection, Group: group, Control: auth},
		{Name: "hello", Arity: -1, Flags: anyone, ACL: command.CatConnection, Group: group, Control: d.hello},
		{Name: "quit", Arity: -1, Flags: anyone | command.AtOnce | command.WhileSubscribed, ACL: command.CatConnection, Group: group, Control: quit},
		{Name: "reset", Arity: 1, Flags: anyone | command.AtOnce | command.WhileSubscribed, ACL: command.CatConnection, Group: group, Control: reset},
		{
			Name: "monitor", Arity: 1, Flags: command.Admin | command.NoScript | command.Loading | command.Stale,
			Group: "server", Control: monitor,
		},
		clientSpec(),
	}}
}

// PING [message]
func ping(c *command.Call, s command.Session) error {
	argv := c.Args.Argv()
	switch {
	case len(argv) > 2:
		return c.Spec.ErrArity()
	case s.Subscribed() && s.Proto() == 2: // it expects messages, which look like this
		c.Reply.Array(2)
		c.Reply.BulkString("pong")
		if len(argv) == 2 {
			c.Reply.Bulk(argv[1])
		} else {
			c.Reply.BulkString("")
		}
	case len(argv) == 2:
		c.Reply.Bulk(argv[1])
	default:
		c.Reply.Simple("PONG")
	}
	return nil
}

// ECHO message
func echo(c *command.Call, _ command.Session) error {
	c.Reply.Bulk(c.Args.Bytes())
	return nil
}

// SELECT index
func (d Deps) selectDB(c *command.Call, s command.Session) error {
	n := c.Args.Int()
	if n < -1<<31 || n > 1<<31-1 {
		c.Args.Reject(errNot32)
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	if n < 0 || n >= int64(d.Databases) {
		return resp.ErrDBIndex
	}
	s.SetDB(int(n))
	c.Reply.OK()
	return nil
}

// AUTH [username] password
func auth(c *command.Call, s command.Session) error {
	argv := c.Args.Argv()
	for i := 1; i < len(argv); i++ {
		c.Redact(i)
	}
	user, password := []byte("default"), argv[len(argv)-1]
	switch {
	case len(argv) > 3:
		return resp.ErrSyntax
	case len(argv) == 3:
		user = argv[1]
	case !s.HasPassword():
		return errNoPassword
	}
	if err := s.Authenticate(user, password); err != nil {
		return err
	}
	c.Reply.OK()
	return nil
}

// QUIT
func quit(c *command.Call, s command.Session) error {
	s.CloseAfterReply()
	c.Reply.OK()
	return nil
}

// RESET
func reset(c *command.Call, s command.Session) error {
	s.Reset()
	c.Reply.Simple("RESET")
	return nil
}

// MONITOR
func monitor(c *command.Call, s command.Session) error {
	if s.InExec() {
		return errMonitorExec
	}
	s.Monitor()
	c.Reply.OK()
	return nil
}
