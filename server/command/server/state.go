package admin

import (
	"heddle/resp"
	"heddle/server/command"
)

// stateSpecs: TIME, LASTSAVE, ROLE
func (f *family) stateSpecs() []*command.Spec {
	return []*command.Spec{{
		Name: "time", Arity: 1, Flags: command.Fast | command.Loading | command.Stale, Group: group,
		Tips: []string{tipNondetermined}, Control: f.time,
	}, {
		Name: "lastsave", Arity: 1, Flags: command.Fast | command.Loading | command.Stale, Group: group,
		ACL: command.CatAdmin | command.CatDangerous, Tips: []string{tipNondetermined}, Control: f.lastSave,
	}, {
		Name: "role", Arity: 1, Flags: command.Fast | command.NoScript | command.Loading | command.Stale, Group: group,
		ACL: command.CatAdmin | command.CatDangerous, Control: f.role,
	}}
}

func (f *family) time(c *command.Call, _ command.Session) error {
	now := f.d.Server.Micros()
	c.Reply.Array(2)
	c.Reply.BulkInt(now / 1e6)
	c.Reply.BulkInt(now % 1e6)
	return nil
}

// facts collects what there is to tell. Inside EXEC all shards are locked.
func (f *family) facts(s command.Session) *Facts {
	facts := new(Facts)
	f.d.Server.Facts(facts, s.InExec())
	return facts
}

// role describes a primary without replicas.
func (f *family) role(c *command.Call, s command.Session) error {
	c.Reply.Array(3)
	c.Reply.BulkString("master")
	c.Reply.Int(f.facts(s).Replication.Offset)
	c.Reply.Array(0)
	return nil
}

// shutdownSpec: SHUTDOWN [NOSAVE | SAVE] [NOW] [FORCE] [ABORT] [SOFT]
func (f *family) shutdownSpec() *command.Spec {
	return &command.Spec{
		Name: "shutdown", Arity: -1, Flags: adminFlags | command.NoMulti | command.AllowBusy, Group: group,
		Control: f.shutdown,
	}
}

const (
	errNoShutdown     resp.Error = "ERR No shutdown in progress."
	errShutdownFailed resp.Error = "ERR Errors trying to SHUTDOWN. Check logs."
)

func (f *family) shutdown(c *command.Call, _ command.Session) error {
	o, abort, n := ShutdownOptions{}, false, c.Args.Len()
	for c.Args.More() {
		switch {
		case c.Args.Word("nosave"):
			o.NoSave = true
		case c.Args.Word("save"):
			o.Save = true
		case c.Args.Word("now"):
			o.Now = true
		case c.Args.Word("force"):
			o.Force = true
		case c.Args.Word("soft"):
			o.Soft = true
		case c.Args.Word("abort"):
			abort = true
		default:
			c.Args.Reject(resp.ErrSyntax)
		}
	}
	if abort && n > 1 || o.Save && o.NoSave {
		c.Args.Reject(resp.ErrSyntax)
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	if abort {
		if !f.d.Server.AbortShutdown() {
			return errNoShutdown
		}
		c.Reply.OK()
		return nil
	}
	if !o.Soft {
		// Without a reply the connection is closed, as all are.
		return c.Aside(func(w *resp.Writer) {
			if f.d.Server.Shutdown(o) != nil {
				w.Error(errShutdownFailed)
			}
		})
	}
	if err := f.d.Server.Shutdown(o); err != nil {
		return errShutdownFailed
	}
	c.Reply.OK()
	return nil
}
