package connection

import (
	"fmt"
	"strings"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

const (
	clientFlags = command.NoScript | command.Loading | command.Stale
	clientAdmin = clientFlags | command.Admin

	errClientID      resp.Error = "ERR Invalid client ID"
	errNoClient      resp.Error = "ERR No such client"
	errPauseMode     resp.Error = "ERR CLIENT PAUSE mode must be WRITE or ALL"
	errPauseTimeout  resp.Error = "ERR timeout is not an integer or out of range"
	errUnblockReason resp.Error = "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"
	errCaching       resp.Error = "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled"
)

// clientSpec is CLIENT. Tracking comes with the invalidation of client-side
// caches; until then no connection tracks, and its subcommands say so.
func clientSpec() *command.Spec {
	own := func(name string, arity int, control func(*command.Call, command.Session) error, tips ...string) *command.Spec {
		return &command.Spec{Name: name, Arity: arity, Flags: clientFlags, ACL: command.CatConnection, Group: group, Tips: tips, Control: control}
	}
	admin := func(name string, arity int, control func(*command.Call, command.Session) error, tips ...string) *command.Spec {
		s := own(name, arity, control, tips...)
		s.Flags = clientAdmin
		return s
	}
	help := own("help", 2, clientHelp)
	help.Flags = command.Loading | command.Stale
	nodes := []string{"request_policy:all_nodes", "response_policy:all_succeeded"}
	return &command.Spec{
		Name: "client", Arity: -2, Group: group,
		Sub: []*command.Spec{
			own("caching", 3, clientCaching),
			own("getname", 2, clientGetName),
			own("getredir", 2, clientGetRedir),
			help,
			own("id", 2, clientID),
			own("info", 2, clientInfo, "nondeterministic_output"),
			admin("kill", -3, clientKill),
			admin("list", -2, clientList, "nondeterministic_output"),
			admin("no-evict", 3, clientNoEvict),
			own("no-touch", 3, clientNoTouch),
			admin("pause", -3, clientPause),
			own("reply", 3, clientReply),
			own("setinfo", 4, clientSetInfo, nodes...),
			own("setname", 3, clientSetName, nodes...),
			own("trackinginfo", 2, clientTrackingInfo),
			admin("unblock", -3, clientUnblock),
			admin("unpause", 2, clientUnpause),
		},
	}
}

// CLIENT ID
func clientID(c *command.Call, s command.Session) error {
	c.Reply.Int(s.ID())
	return nil
}

// CLIENT GETNAME
func clientGetName(c *command.Call, s command.Session) error {
	if name := s.Name(); name != "" {
		c.Reply.BulkString(name)
	} else {
		c.Reply.Null()
	}
	return nil
}

// CLIENT SETNAME name
func clientSetName(c *command.Call, s command.Session) error {
	name := c.Args.Bytes()
	if !validName(name) {
		return errName
	}
	s.SetName(string(name))
	c.Reply.OK()
	return nil
}

// CLIENT SETINFO LIB-NAME name | LIB-VER version
func clientSetInfo(c *command.Call, s command.Session) error {
	option, value := c.Args.Bytes(), c.Args.Bytes()
	set, field := s.SetLibName, "lib-name"
	switch {
	case command.EqualFold(option, "lib-name"):
	case command.EqualFold(option, "lib-ver"):
		set, field = s.SetLibVer, "lib-ver"
	default:
		return resp.Error("ERR Unrecognized option '" + string(option) + "'")
	}
	if !validName(value) {
		return resp.Error("ERR " + field + " cannot contain spaces, newlines or special characters.")
	}
	set(string(value))
	c.Reply.OK()
	return nil
}

// CLIENT GETREDIR
func clientGetRedir(c *command.Call, _ command.Session) error {
	c.Reply.Int(-1)
	return nil
}

// CLIENT TRACKINGINFO
func clientTrackingInfo(c *command.Call, _ command.Session) error {
	w := c.Reply
	w.Map(3)
	w.BulkString("flags")
	w.Set(1)
	w.BulkString("off")
	w.BulkString("redirect")
	w.Int(-1)
	w.BulkString("prefixes")
	w.Array(0)
	return nil
}

// CLIENT CACHING YES | NO
func clientCaching(*command.Call, command.Session) error { return errCaching }

// CLIENT REPLY ON | OFF | SKIP
func clientReply(c *command.Call, s command.Session) error {
	switch a := &c.Args; {
	case a.Word("on"):
		s.SetReplyMode(command.ReplyOn)
		c.Reply.OK()
	case a.Word("off"):
		s.SetReplyMode(command.ReplyOff)
	case a.Word("skip"):
		s.SetReplyMode(command.ReplySkip)
	default:
		return resp.ErrSyntax
	}
	return nil
}

// CLIENT NO-EVICT ON | OFF
func clientNoEvict(c *command.Call, s command.Session) error { return onOff(c, s.SetNoEvict) }

// CLIENT NO-TOUCH ON | OFF
func clientNoTouch(c *command.Call, s command.Session) error { return onOff(c, s.SetNoTouch) }

func onOff(c *command.Call, set func(bool)) error {
	switch {
	case c.Args.Word("on"):
		set(true)
	case c.Args.Word("off"):
		set(false)
	default:
		return resp.ErrSyntax
	}
	c.Reply.OK()
	return nil
}

// CLIENT PAUSE timeout [WRITE | ALL]
func clientPause(c *command.Call, s command.Session) error {
	a := &c.Args
	argc := len(a.Argv())
	if argc > 4 {
		return tooMany(a.Argv()[1])
	}
	timeout := a.Bytes()
	writes := false
	switch {
	case argc == 3 || a.Word("all"):
	case a.Word("write"):
		writes = true
	default:
		return errPauseMode
	}
	n, ok := command.ParseInt(timeout)
	switch {
	case !ok || n > 1<<53:
		return errPauseTimeout
	case n < 0:
		return resp.ErrTimeoutNeg
	}
	s.Clients().Pause(db.Millis(n), writes)
	c.Reply.OK()
	return nil
}

// tooMany is the error for more arguments than a subcommand takes.
func tooMany(sub []byte) error {
	return command.Errorf("ERR unknown subcommand or wrong number of arguments for '%.128s'. Try CLIENT HELP.", sub)
}

// CLIENT UNPAUSE
func clientUnpause(c *command.Call, s command.Session) error {
	s.Clients().Unpause()
	c.Reply.OK()
	return nil
}

// CLIENT UNBLOCK client-id [TIMEOUT | ERROR]
func clientUnblock(c *command.Call, s command.Session) error {
	a := &c.Args
	if a.Len() > 2 {
		return tooMany(a.Argv()[1])
	}
	id := a.Bytes()
	withError := false
	switch {
	case a.Len() == 0 || a.Word("timeout"):
	case a.Word("error"):
		withError = true
	default:
		return errUnblockReason
	}
	n, ok := command.ParseInt(id)
	if !ok {
		return resp.ErrNotInteger
	}
	if s.Clients().Unblock(n, withError) {
		c.Reply.Int(1)
	} else {
		c.Reply.Int(0)
	}
	return nil
}

// CLIENT INFO
func clientInfo(c *command.Call, s command.Session) error {
	info := s.Info()
	c.Reply.Verbatim("txt", appendInfo(nil, &info))
	return nil
}

// CLIENT LIST [TYPE type] [ID id [id ...]]
func clientList(c *command.Call, s command.Session) error {
	keep, err := listFilter(c)
	if err != nil {
		return err
	}
	var out []byte
	self := s.Info()
	s.Clients().Each(func(i *command.ClientInfo) {
		if i.ID == self.ID {
			i = &self
		}
		if keep(i) {
			out = appendInfo(out, i)
		}
	})
	c.Reply.Verbatim("txt", out)
	return nil
}

func listFilter(c *command.Call) (func(*command.ClientInfo) bool, error) {
	a := &c.Args
	switch {
	case a.Len() == 0:
		return func(*command.ClientInfo) bool { return true }, nil
	case a.Len() == 2 && a.Word("type"):
		return typeFilter(a.Bytes())
	case a.Len() >= 2 && a.Word("id"):
		ids := map[int64]bool{}
		for _, b := range a.Rest() {
			n, ok := command.ParseInt(b)
			if !ok {
				return nil, errClientID
			}
			ids[n] = true
		}
		return func(i *command.ClientInfo) bool { return ids[i.ID] }, nil
	}
	return nil, resp.ErrSyntax
}

// typeFilter keeps the clients of a type.
func typeFilter(name []byte) (func(*command.ClientInfo) bool, error) {
	switch t := strings.ToLower(string(name)); t {
	case "normal":
		return func(i *command.ClientInfo) bool { return !i.Subscribed() }, nil
	case "pubsub":
		return (*command.ClientInfo).Subscribed, nil
	case "master", "slave", "replica":
		return func(*command.ClientInfo) bool { return false }, nil
	}
	return nil, resp.Error("ERR Unknown client type '" + string(name) + "'")
}

// appendInfo appends a line of CLIENT LIST.
func appendInfo(dst []byte, i *command.ClientInfo) []byte {
	return fmt.Appendf(dst, "id=%d addr=%s laddr=%s fd=%d name=%s age=%d idle=%d flags=%s db=%d sub=%d psub=%d ssub=%d multi=%d"+
		" qbuf=%d qbuf-free=%d argv-mem=%d multi-mem=%d rbs=%d rbp=%d obl=%d oll=%d omem=%d tot-mem=%d events=%s cmd=%s user=%s"+
		" redir=-1 resp=%d lib-name=%s lib-ver=%s\n",
		i.ID, i.Addr, i.LAddr, i.FD, i.Name, i.Age, i.Idle, i.Flags, i.DB, i.Sub, i.PSub, i.SSub, i.Multi,
		i.QueryBuf, i.QueryBufFree, i.ArgvMem, i.MultiMem, i.ReplyBuf, i.ReplyBufPeak, i.OutBuf, i.OutList, i.OutMem, i.TotalMem,
		i.Events, i.Cmd, i.User, i.Proto, i.LibName, i.LibVer)
}
