package generic

import (
	"math"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

const (
	errNeedsLFU resp.Error = "ERR An LFU maxmemory policy is not selected, access frequency not tracked. " +
		"Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."
	errNeedsLRU resp.Error = "ERR An LFU maxmemory policy is selected, idle time not tracked. " +
		"Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."
	// errNoStamps is what KeyDB says of keys that carry no stamp of their last change.
	errNoStamps resp.Error = "ERR No metadata about key, you need to enable active-replica"
)

// objectSpecs: OBJECT ENCODING | FREQ | IDLETIME | REFCOUNT | LASTMODIFIED key, OBJECT HELP
func objectSpecs() []*command.Spec {
	sub := func(name string, fn func(*command.Call, *db.Meta) error) *command.Spec {
		return &command.Spec{
			Name: name, Arity: 3, Keys: command.Key(2, command.KeyRO),
			ACL: command.CatKeyspace, Group: group, Tips: []string{tipNondetermined},
			Read: func(c *command.Call, v db.View) error {
				m, found := v.Inspect(c.Args.Key())
				if !found {
					c.Reply.Null()
					return nil
				}
				return fn(c, &m)
			},
		}
	}
	return []*command.Spec{{Name: "object", Arity: -2, Group: group, Sub: []*command.Spec{
		sub("encoding", objectEncoding),
		sub("freq", objectFreq),
		{
			Name: "help", Arity: 2, Flags: command.Loading | command.Stale,
			ACL: command.CatKeyspace, Group: group, Control: objectHelp,
		},
		sub("idletime", objectIdleTime),
		sub("lastmodified", func(*command.Call, *db.Meta) error { return errNoStamps }),
		sub("refcount", objectRefcount),
	}}}
}

func objectEncoding(c *command.Call, m *db.Meta) error {
	c.Reply.BulkString(m.Encoding)
	return nil
}

func objectFreq(c *command.Call, m *db.Meta) error {
	if !m.LFU {
		return errNeedsLFU
	}
	c.Reply.Int(int64(m.Freq))
	return nil
}

func objectIdleTime(c *command.Call, m *db.Meta) error {
	if m.LFU {
		return errNeedsLRU
	}
	c.Reply.Int(int64(m.Idle) / 1000)
	return nil
}

// objectRefcount: no value is shared between keys, so each has one reference.
// Small integers take no memory of their own here and share objects in Redis,
// which answers for them with this number.
func objectRefcount(c *command.Call, m *db.Meta) error {
	if m.SmallInt {
		c.Reply.Int(math.MaxInt32)
		return nil
	}
	c.Reply.Int(1)
	return nil
}

func objectHelp(c *command.Call, _ command.Session) error {
	return command.ReplyHelp(c,
		"ENCODING <key>",
		"    How the value of <key> is stored.",
		"FREQ <key>",
		"    How often <key> is used: a logarithmic counter, kept under the LFU policies.",
		"IDLETIME <key>",
		"    Seconds since <key> was last used, kept under all other policies.",
		"LASTMODIFIED <key>",
		"    Seconds since <key> was last changed, kept in active replication.",
		"REFCOUNT <key>",
		"    How many references to the value of <key> there are.",
	)
}
