package admin

import (
	"fmt"
	"strconv"
	"strings"

	"heddle/db/glob"
	"heddle/resp"
	"heddle/server/command"
)

// debugSpec: DEBUG subcommand [argument ...]. For Redis the subcommands of
// DEBUG are no commands of their own, so they have a table here.
func (f *family) debugSpec() *command.Spec {
	table := f.debugTable()
	return &command.Spec{
		Name: "debug", Arity: -2, Flags: adminFlags, Group: group,
		Control: func(c *command.Call, s command.Session) error { return f.debug(c, s, table) },
	}
}

// debugCommand is a subcommand of DEBUG with the number of arguments it takes.
type debugCommand struct {
	min, max int
	help     string // usage and what it does, a line each
	run      func(*command.Call, command.Session) error
}

const errDebugForbidden resp.Error = `ERR DEBUG command not allowed. If the enable-debug-command option is set to "local", ` +
	`you can run it from a local connection, otherwise you need to set this option in the configuration file, ` +
	`and then restart the server.`

func (f *family) debug(c *command.Call, s command.Session, table map[string]debugCommand) error {
	if !f.d.Config.Allowed("enable-debug-command", isLocal(s)) {
		return errDebugForbidden
	}
	name := command.Lower(c.Args.Bytes())
	if name == "help" && !c.Args.More() {
		return debugHelp(c, table)
	}
	d, ok := table[name]
	if n := c.Args.Len(); !ok || n < d.min || n > d.max {
		return subcommandError(c)
	}
	return d.run(c, s)
}

// anything is more arguments than a command can have.
const anything = 1 << 30

func (f *family) debugTable() map[string]debugCommand {
	nothing := func(c *command.Call, _ command.Session) error {
		c.Reply.OK()
		return nil
	}
	return map[string]debugCommand{
		"aof-flush-sleep": {1, 1, "AOF-FLUSH-SLEEP <microseconds>\n    Hold up each write of the append-only file.", f.debugFlushSleep},
		"change-repl-id":  {0, 0, "CHANGE-REPL-ID\n    Give this server's history a new name.", f.debugChangeReplID},
		"client-eviction": {0, 0, "CLIENT-EVICTION\n    How maxmemory-clients stands.",
			f.debugClientEviction},
		"config-rewrite-force-all": {0, 0, "CONFIG-REWRITE-FORCE-ALL\n    CONFIG REWRITE that writes defaults, too.",
			f.debugRewriteAll},
		"digest":       {0, 0, "DIGEST\n    A number that stands for all keys and values.", debugDigest},
		"digest-value": {1, anything, "DIGEST-VALUE <key> [<key> ...]\n    A number for the value of each key.", debugDigestValue},
		"drop-cluster-packet-filter": {1, 1, "DROP-CLUSTER-PACKET-FILTER <type>\n    Accepted; there is no cluster bus.",
			nothing},
		"error":       {1, 1, "ERROR <text>\n    Answer with an error.", debugError},
		"htstats":     {1, 2, "HTSTATS <db> [full]\n    Describe the tables of a database.", f.debugHTStats},
		"htstats-key": {1, 2, "HTSTATS-KEY <key> [full]\n    Describe the table of a large collection.", f.debugHTStatsKey},
		"jmap":        {0, 0, "JMAP\n    Describe the memory of the process.", f.mallocStats},
		"log":         {1, 1, "LOG <text>\n    Write a line to the log.", f.debugLog},
		"object":      {1, 2, "OBJECT <key> [fast]\n    How a key is stored.", debugObject},
		"oom":         {0, 0, "OOM\n    End the process as when memory is out.", f.debugCrash("out of memory, as DEBUG OOM wants it")},
		"panic":       {0, 0, "PANIC\n    End the process as by a fault.", f.debugCrash("DEBUG PANIC")},
		"assert":      {0, 0, "ASSERT\n    End the process as by a failed assertion.", f.debugCrash("DEBUG ASSERT")},
		"segfault":    {0, 0, "SEGFAULT\n    End the process as by a bad address.", f.debugCrash("crashed by signal: 11, as DEBUG SEGFAULT wants it")},
		"pause-cron":  {1, 1, "PAUSE-CRON <0|1>\n    Stop periodic work, or go on.", f.debugPauseCron},
		"populate":    {1, 3, "POPULATE <count> [<prefix> [<size>]]\n    Make many string keys.", debugPopulate},
		"protocol":    {1, 1, "PROTOCOL <type>\n    Answer with a value of a type.", debugProtocol},
		"listpack":    {1, 1, "LISTPACK <key>\n    Log the elements of a small collection.", f.debugListpack},
		"quicklist":   {1, 2, "QUICKLIST <key> [<0|1>]\n    Log how Redis would cut a list into nodes.", f.debugQuicklist},
		"quicklist-packed-threshold": {1, 1, "QUICKLIST-PACKED-THRESHOLD <size>\n" +
			"    The size from which on an element of a list counts as a node of its own.", f.debugPackedThreshold},
		"reload": {0, anything, "RELOAD [NOSAVE] [NOFLUSH] [MERGE]\n    Save the RDB file, remove all keys and load it.",
			f.debugReload},
		"loadaof": {0, 0, "LOADAOF\n    Remove all keys and load the append-only file.", f.debugLoadAOF},
		"replybuffer": {2, 2, "REPLYBUFFER (PEAK-RESET-TIME <ms|NEVER|RESET> | RESIZING <0|1>)\n" +
			"    Accepted; idle connections have no reply buffer.", debugReplyBuffer},
		"sdslen":            {1, 1, "SDSLEN <key>\n    Lengths of a key and of its string.", debugSDSLen},
		"set-active-expire": {1, 1, "SET-ACTIVE-EXPIRE <0|1>\n    Let dead keys lie until they are met, or not.", f.debugActiveExpire},
		"set-skip-checksum-validation": {1, 1, "SET-SKIP-CHECKSUM-VALIDATION <0|1>\n    Load and restore whatever the checksum says, or not.",
			f.debugSkipChecksum},
		"sleep":            {1, 1, "SLEEP <seconds>\n    Keep this worker busy for so long.", f.debugSleep},
		"stringmatch-len":  {2, 2, "STRINGMATCH-LEN <pattern> <string>\n    Whether a string matches.", debugStringMatch},
		"stringmatch-test": {0, 0, "STRINGMATCH-TEST\n    Match odd patterns for a while.", debugStringMatchTest},
		"structsize":       {0, 0, "STRUCTSIZE\n    Sizes of a few structures.", debugStructSize},
	}
}

func (f *family) debugChangeReplID(c *command.Call, _ command.Session) error {
	f.d.Server.ChangeReplicationID()
	c.Reply.OK()
	return nil
}

func (f *family) debugClientEviction(c *command.Call, s command.Session) error {
	limit := f.d.Config.String("maxmemory-clients")
	if limit == "0" {
		return resp.Error("ERR maxmemory-clients is disabled.")
	}
	facts := f.facts(s)
	c.Reply.Verbatim("txt", fmt.Appendf(nil, "limit:%s\nused:%d\nclients:%d\n",
		limit, facts.Memory.ClientsNormal, facts.Clients.Connected))
	return nil
}

func (f *family) debugRewriteAll(c *command.Call, s command.Session) error {
	held := s.InExec()
	return c.Aside(func(w *resp.Writer) {
		if err := f.d.Config.RewriteAll(held); err != nil {
			w.Error(resp.Error("ERR CONFIG-REWRITE-FORCE-ALL failed: " + strings.TrimPrefix(err.Error(), "ERR ")))
			return
		}
		w.OK()
	})
}

func debugError(c *command.Call, _ command.Session) error {
	return resp.Error(c.Args.Bytes())
}

func (f *family) debugHTStats(c *command.Call, s command.Session) error {
	n := c.Args.Int()
	if err := c.Args.Err(); err != nil {
		return err
	}
	if n < 0 || n >= int64(s.Keyspace().Databases()) {
		return resp.Error("ERR Out of range database")
	}
	c.Reply.Verbatim("txt", []byte(f.d.Server.TableReport(int(n), s.InExec())))
	return nil
}

func (f *family) debugLog(c *command.Call, _ command.Session) error {
	f.d.Server.Log("DEBUG LOG: " + string(c.Args.Bytes()))
	c.Reply.OK()
	return nil
}

func (f *family) debugCrash(reason string) func(*command.Call, command.Session) error {
	return func(c *command.Call, _ command.Session) error {
		f.d.Server.Crash(reason)
		c.Reply.OK()
		return nil
	}
}

// isOne reads a switch as C's atoi does: anything but a number is 0.
func isOne(b []byte) bool {
	n, ok := command.ParseInt(b)
	return ok && n != 0
}

func (f *family) debugPauseCron(c *command.Call, _ command.Session) error {
	f.d.Server.PauseCron(isOne(c.Args.Bytes()))
	c.Reply.OK()
	return nil
}

func (f *family) debugActiveExpire(c *command.Call, _ command.Session) error {
	f.d.Server.SetActiveExpire(isOne(c.Args.Bytes()))
	c.Reply.OK()
	return nil
}

func debugReplyBuffer(c *command.Call, _ command.Session) error {
	switch {
	case c.Args.Word("peak-reset-time"):
		if !c.Args.Word("never") && !c.Args.Word("reset") {
			c.Args.Int()
		}
	case c.Args.Word("resizing"):
		c.Args.Int()
	default:
		return subcommandError(c)
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	c.Reply.OK()
	return nil
}

// sleepSecondsMax bounds DEBUG SLEEP.
const sleepSecondsMax = 24 * 3600

func (f *family) debugSleep(c *command.Call, _ command.Session) error {
	// As with C's strtod, what is no number is 0.
	seconds, _ := strconv.ParseFloat(string(c.Args.Bytes()), 64)
	if seconds > 0 {
		f.d.Server.Sleep(int64(min(seconds, sleepSecondsMax) * 1e6))
	}
	c.Reply.OK()
	return nil
}

func debugStringMatch(c *command.Call, _ command.Session) error {
	pattern, s := c.Args.Bytes(), c.Args.Bytes()
	c.Reply.Int(number(glob.Match(pattern, s)))
	return nil
}

// debugStringMatchTest matches every short pattern over a few bytes that have a
// meaning in patterns.
func debugStringMatchTest(c *command.Call, _ command.Session) error {
	const bytes = `*?[]^-\ab`
	const length = 5
	pattern, s := make([]byte, length), []byte(`ab[]*`)
	for n := range 9 * 9 * 9 * 9 * 9 {
		for i := range pattern {
			pattern[i] = bytes[n%len(bytes)]
			n /= len(bytes)
		}
		glob.Match(pattern, s)
	}
	c.Reply.Simple("Apparently Redis did not crash: test passed")
	return nil
}

func debugStructSize(c *command.Call, _ command.Session) error {
	c.Reply.BulkString("bits:64 slot:8 bucket:64 record-header:4 ")
	return nil
}

func debugHelp(c *command.Call, table map[string]debugCommand) error {
	var lines []string
	for _, name := range sortedNames(table) {
		lines = append(lines, strings.Split(table[name].help, "\n")...)
	}
	return command.ReplyHelp(c, lines...)
}
