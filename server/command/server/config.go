package admin

import (
	"errors"
	"strings"

	"heddle/config"
	"heddle/resp"
	"heddle/server/command"
)

// configSpec: CONFIG GET pattern ... | SET name value ... | REWRITE | RESETSTAT | HELP
func (f *family) configSpec() *command.Spec {
	everywhere := []string{tipAllNodes, tipAllSucceeded}
	return &command.Spec{Name: "config", Arity: -2, Group: group, Sub: []*command.Spec{
		simpleSub("get", -3, adminFlags, f.configGet),
		simpleSub("help", 2, command.Loading|command.Stale, configHelp),
		simpleSub("resetstat", 2, adminFlags, f.configResetStat, everywhere...),
		simpleSub("rewrite", 2, adminFlags, f.configRewrite, everywhere...),
		simpleSub("set", -4, adminFlags, f.configSet, everywhere...),
	}}
}

func (f *family) configGet(c *command.Call, _ command.Session) error {
	var patterns []string
	for _, p := range c.Args.Rest() {
		patterns = append(patterns, string(p))
	}
	pairs := f.d.Config.Get(patterns...)
	c.Reply.Map(len(pairs))
	for _, p := range pairs {
		c.Reply.BulkString(p.Name)
		c.Reply.BulkString(p.Value)
	}
	return nil
}

func (f *family) configSet(c *command.Call, s command.Session) error {
	args := c.Args.Rest()
	const firstValue = 3 // in argv: CONFIG SET name value
	var pairs []config.Pair
	for i := 0; i+1 < len(args); i += 2 {
		p := config.Pair{Name: string(args[i]), Value: string(args[i+1])}
		pairs = append(pairs, p)
		if f.d.Config.IsSensitive(p.Name) {
			c.Redact(firstValue + i)
		}
	}
	if len(args)%2 != 0 {
		return resp.ErrSyntax
	}
	protected := f.d.Config.Allowed("enable-protected-configs", isLocal(s))
	opt := config.SetOptions{Protected: protected, Loading: f.d.Server.Loading(), Held: s.InExec(), NoWait: !s.InExec()}
	err := f.d.Config.Set(pairs, opt)
	if errors.Is(err, config.ErrWaits) {
		opt.NoWait = false
		return c.Aside(func(w *resp.Writer) { okOr(w, f.d.Config.Set(pairs, opt)) })
	}
	if err != nil {
		return err
	}
	c.Reply.OK()
	return nil
}

// isLocal reports whether a client is on this machine.
func isLocal(s command.Session) bool {
	addr := s.Info().Addr
	return strings.HasPrefix(addr, "127.") || strings.HasPrefix(addr, "[::1]:") || strings.HasPrefix(addr, "/")
}

// configRewrite writes a file. In EXEC, which has to say whether that worked, it does so at
// once.
func (f *family) configRewrite(c *command.Call, s command.Session) error {
	if s.InExec() {
		okOr(c.Reply, f.d.Config.RewriteHeld())
		return nil
	}
	return c.Aside(func(w *resp.Writer) { okOr(w, f.d.Config.Rewrite()) })
}

func (f *family) configResetStat(c *command.Call, s command.Session) error {
	f.d.Stats.Reset()
	f.d.Server.ResetStats(s.InExec())
	c.Reply.OK()
	return nil
}

func configHelp(c *command.Call, _ command.Session) error {
	return command.ReplyHelp(c,
		"GET <pattern> [<pattern> ...]",
		"    The directives that match, with their values.",
		"SET <directive> <value> [<directive> <value> ...]",
		"    Change directives, all of them or none.",
		"RESETSTAT",
		"    Let the counters that INFO shows begin anew.",
		"REWRITE",
		"    Write the values in force into the configuration file.",
	)
}
