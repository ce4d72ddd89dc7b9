package dispatch

import (
	"heddle/db/invariants"
	"heddle/server/command"
)

// check is what checked builds do behind each command: there is exactly one
// reply (none while the client waits, wants none, or is sent away by SHUTDOWN;
// CLIENT REPLY inside EXEC leaves a hole in its array, as in Redis; messages may come
// with replies of clients that subscribe),
// no lock is held, and the arguments, which nobody may have kept, are
// overwritten. before is the client's mode before the command, own the argument
// that stood in memory of its own (-1: none), which is not the command's any more.
func (x *Executor) check(p *Pending, c *Client, before mode, own int) {
	invariants.Assert(x.held == 0 && !x.begun, "command %q left locks behind", p.Argv[0])
	pushes := (before|c.mode)&modeSubscribed != 0 || p.spec != nil && p.spec.Flags&command.Pushes != 0
	if (before|c.mode)&(modeBlocked|modeReplyOff|modeReplySkip|modeSkipNext) == 0 && !x.muted && !pushes {
		n := c.w.Replies(x.mark)
		invariants.Assert(n == 1 || n == 0 && c.Closing(), "command %q gave %d replies", p.Argv[0], n)
	}
	x.muted = false
	for at, a := range p.Argv {
		if at == own {
			continue
		}
		for i := range a {
			a[i] = 0xdb
		}
	}
}
