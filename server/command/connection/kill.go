package connection

import (
	"heddle/resp"
	"heddle/server/command"
)

const errKillID resp.Error = "ERR client-id should be greater than 0"

// victims says whom CLIENT KILL closes: those that all of its filters keep.
type victims struct {
	filters []func(*command.ClientInfo) bool
	skipMe  bool
}

func (v *victims) has(i *command.ClientInfo) bool {
	for _, f := range v.filters {
		if !f(i) {
			return false
		}
	}
	return true
}

func (v *victims) add(f func(*command.ClientInfo) bool) { v.filters = append(v.filters, f) }

// CLIENT KILL addr:port | [ID id] [TYPE type] [USER name] [ADDR addr:port]
// [LADDR addr:port] [SKIPME yes|no]
func clientKill(c *command.Call, s command.Session) error {
	oldForm := c.Args.Len() == 1
	v, err := killFilter(c, s)
	if err != nil {
		return err
	}
	killed := killAll(v, s)
	switch {
	case !oldForm:
		c.Reply.Int(killed)
	case killed == 0:
		return errNoClient
	default:
		c.Reply.OK()
	}
	return nil
}

// killAll closes the victims; the caller's own connection after its reply.
func killAll(v *victims, s command.Session) int64 {
	n := int64(0)
	s.Clients().Each(func(i *command.ClientInfo) {
		switch me := i.ID == s.ID(); {
		case !v.has(i) || me && v.skipMe:
		case me:
			s.CloseAfterReply()
			n++
		case s.Clients().Kill(i.ID):
			n++
		}
	})
	return n
}

func killFilter(c *command.Call, s command.Session) (*victims, error) {
	a := &c.Args
	if a.Len() == 1 {
		v := &victims{}
		v.add(byAddr(string(a.Bytes())))
		return v, nil
	}
	v := &victims{skipMe: true}
	if a.Len()%2 != 0 {
		return nil, resp.ErrSyntax
	}
	for a.More() {
		if err := killOption(a, s, v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func killOption(a *command.Args, s command.Session, v *victims) error {
	switch {
	case a.Word("id"):
		id := a.IntRange(1, 1<<63-1, errKillID)
		v.add(func(i *command.ClientInfo) bool { return i.ID == id })
	case a.Word("type"):
		f, err := typeFilter(a.Bytes())
		if err != nil {
			return err
		}
		v.add(f)
	case a.Word("addr"):
		v.add(byAddr(string(a.Bytes())))
	case a.Word("laddr"):
		addr := string(a.Bytes())
		v.add(func(i *command.ClientInfo) bool { return i.LAddr == addr })
	case a.Word("user"):
		user := string(a.Bytes())
		if user != "default" {
			return resp.Error("ERR No such user '" + user + "'")
		}
		v.add(func(i *command.ClientInfo) bool { return i.User == user })
	case a.Word("skipme"):
		return skipMe(a, v)
	default:
		return resp.ErrSyntax
	}
	return a.Err()
}

func skipMe(a *command.Args, v *victims) error {
	switch {
	case a.Word("yes"):
		v.skipMe = true
	case a.Word("no"):
		v.skipMe = false
	default:
		return resp.ErrSyntax
	}
	return nil
}

func byAddr(addr string) func(*command.ClientInfo) bool {
	return func(i *command.ClientInfo) bool { return i.Addr == addr }
}

// CLIENT HELP
func clientHelp(c *command.Call, _ command.Session) error {
	return command.ReplyHelp(c, clientHelpLines[:]...)
}
