// Package transactions has MULTI, EXEC, DISCARD, WATCH and UNWATCH. What they
// do is dispatch's: it queues the commands, and EXEC locks the keys of all of
// them.
package transactions

import "heddle/server/command"

const flags = command.NoScript | command.Loading | command.Stale | command.AtOnce

// Family returns the commands of the group, made anew by each call.
func Family() command.Family {
	fast := command.Spec{Arity: 1, Flags: flags | command.Fast | command.AllowBusy, ACL: command.CatTransaction, Group: "transactions"}
	multi, discard, unwatch, watch := fast, fast, fast, fast
	multi.Name, multi.Control = "multi", multiCommand
	discard.Name, discard.Control = "discard", discardCommand
	unwatch.Name, unwatch.Control = "unwatch", unwatchCommand
	unwatch.Flags &^= command.AtOnce
	watch.Name, watch.Control = "watch", watchCommand
	watch.Arity, watch.Keys = -2, command.Range(1, -1, 1, command.KeyRO)
	exec := command.Spec{
		Name: "exec", Arity: 1, Flags: flags | command.SkipSlowlog, ACL: command.CatTransaction, Group: "transactions",
		Control: execCommand,
	}
	return command.Family{Name: "transactions", Specs: []*command.Spec{&multi, &exec, &discard, &watch, &unwatch}}
}

func multiCommand(c *command.Call, s command.Session) error { return okay(c, s.Multi()) }

func execCommand(c *command.Call, s command.Session) error { return s.Exec(c) }

func discardCommand(c *command.Call, s command.Session) error { return okay(c, s.Discard()) }

func watchCommand(c *command.Call, s command.Session) error { return okay(c, s.Watch(c.Args.Rest())) }

func unwatchCommand(c *command.Call, s command.Session) error {
	s.Unwatch()
	return okay(c, nil)
}

func okay(c *command.Call, err error) error {
	if err == nil {
		c.Reply.OK()
	}
	return err
}
