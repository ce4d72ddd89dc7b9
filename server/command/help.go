package command

import "strings"

// ReplyHelp answers the HELP subcommand of the call's container: a line that
// says how it is used, the given lines, and a word about HELP itself.
func ReplyHelp(c *Call, lines ...string) error {
	name := c.Spec.Name
	if p := c.Spec.Parent(); p != nil {
		name = p.Name
	}
	c.Reply.Array(len(lines) + 3)
	c.Reply.Simple(strings.ToUpper(name) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, l := range lines {
		c.Reply.Simple(l)
	}
	c.Reply.Simple("HELP")
	c.Reply.Simple("    Print this help.")
	return nil
}
