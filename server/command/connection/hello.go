package connection

import (
	"heddle/resp"
	"heddle/server/command"
)

// greeting is what HELLO asks for.
type greeting struct {
	proto          int // 0: as before
	user, password []byte
	auth           bool
	name           []byte
	named          bool
}

// HELLO [protover [AUTH username password] [SETNAME clientname]]
func (d Deps) hello(c *command.Call, s command.Session) error {
	g, err := parseHello(c)
	if err != nil {
		return err
	}
	if g.auth {
		if err := s.Authenticate(g.user, g.password); err != nil {
			return err
		}
	}
	if !s.Authenticated() {
		return errHelloAuth
	}
	if g.named {
		if !validName(g.name) {
			return errName
		}
		s.SetName(string(g.name))
	}
	if g.proto != 0 {
		s.SetProto(g.proto)
	}
	d.replyHello(c, s)
	return nil
}

func parseHello(c *command.Call) (greeting, error) {
	var g greeting
	a := &c.Args
	if !a.More() {
		return g, nil
	}
	ver := a.IntOr(errInvalidPort)
	if err := a.Err(); err != nil {
		return g, err
	}
	if ver != 2 && ver != 3 {
		return g, errNoProto
	}
	g.proto = int(ver)
	for a.More() {
		word, at := a.Peek(), len(a.Argv())-a.Len()
		switch {
		case a.Len() > 2 && a.Word("auth"):
			c.Redact(at + 1)
			c.Redact(at + 2)
			g.auth, g.user, g.password = true, a.Bytes(), a.Bytes()
		case a.Len() > 1 && a.Word("setname"):
			g.named, g.name = true, a.Bytes()
		default:
			return g, resp.Error("ERR Syntax error in HELLO option '" + string(word) + "'")
		}
	}
	return g, nil
}

func (d Deps) replyHello(c *command.Call, s command.Session) {
	w := c.Reply
	w.Map(7)
	w.BulkString("server")
	w.BulkString("redis")
	w.BulkString("version")
	w.BulkString(d.Version)
	w.BulkString("proto")
	w.Int(int64(s.Proto()))
	w.BulkString("id")
	w.Int(s.ID())
	w.BulkString("mode")
	w.BulkString("standalone")
	w.BulkString("role")
	w.BulkString("master")
	w.BulkString("modules")
	w.Array(0)
}

// validName reports whether a client or library may be called so: printable
// characters without spaces only.
func validName(name []byte) bool {
	for _, ch := range name {
		if ch < '!' || ch > '~' {
			return false
		}
	}
	return true
}
