// Package pubsub has the commands about published messages: SUBSCRIBE and its
// kin, PUBLISH, SPUBLISH, PUBSUB.
package pubsub

import (
	"heddle/db/glob"
	"heddle/server/command"
)

const (
	group = "pubsub"

	changes = command.PubSub | command.NoScript | command.Loading | command.Stale | command.WhileSubscribed | command.Pushes
	sends   = command.PubSub | command.Fast | command.Loading | command.Stale | command.MayReplicate
	looks   = command.PubSub | command.Loading | command.Stale
)

// Family returns the commands of the group, made anew by each call.
func Family() command.Family {
	return command.Family{Name: group, Specs: []*command.Spec{
		subscribeSpec("subscribe", command.Channels),
		subscribeSpec("psubscribe", command.Patterns),
		subscribeSpec("ssubscribe", command.ShardChannels),
		unsubscribeSpec("unsubscribe", command.Channels),
		unsubscribeSpec("punsubscribe", command.Patterns),
		unsubscribeSpec("sunsubscribe", command.ShardChannels),
		publishSpec("publish", command.Channels),
		publishSpec("spublish", command.ShardChannels),
		pubsubSpec(),
	}}
}

// shards are the key specs of commands of a kind: in a cluster the names of shard
// channels tell the node, as keys do.
func shards(k command.ChannelKind, last int) []command.KeySpec {
	if k != command.ShardChannels {
		return nil
	}
	return []command.KeySpec{{Begin: 1, Last: last, Step: 1, Flags: command.KeyNotKey}}
}

// SUBSCRIBE channel [channel ...]
// PSUBSCRIBE pattern [pattern ...]
// SSUBSCRIBE shardchannel [shardchannel ...]
func subscribeSpec(name string, k command.ChannelKind) *command.Spec {
	return &command.Spec{
		Name: name, Arity: -2, Keys: shards(k, -1), Flags: changes, Group: group,
		Control: func(c *command.Call, s command.Session) error {
			for _, channel := range c.Args.Rest() {
				n := s.Subscribe(k, channel)
				c.Reply.Push(3)
				c.Reply.BulkString(name)
				c.Reply.Bulk(channel)
				c.Reply.Int(int64(n))
			}
			return nil
		},
	}
}

// UNSUBSCRIBE [channel [channel ...]]
// PUNSUBSCRIBE [pattern [pattern ...]]
// SUNSUBSCRIBE [shardchannel [shardchannel ...]]
func unsubscribeSpec(name string, k command.ChannelKind) *command.Spec {
	return &command.Spec{
		Name: name, Arity: -1, Keys: shards(k, -1), Flags: changes, Group: group,
		Control: func(c *command.Call, s command.Session) error {
			if c.Args.More() {
				for _, channel := range c.Args.Rest() {
					n := s.Unsubscribe(k, channel)
					c.Reply.Push(3)
					c.Reply.BulkString(name)
					c.Reply.Bulk(channel)
					c.Reply.Int(int64(n))
				}
				return nil
			}
			unsubscribeAll(c, s, name, k)
			return nil
		},
	}
}

func unsubscribeAll(c *command.Call, s command.Session, name string, k command.ChannelKind) {
	none := true
	n := s.UnsubscribeAll(k, func(channel string, left int) {
		none = false
		c.Reply.Push(3)
		c.Reply.BulkString(name)
		c.Reply.BulkString(channel)
		c.Reply.Int(int64(left))
	})
	if none {
		c.Reply.Push(3)
		c.Reply.BulkString(name)
		c.Reply.Null()
		c.Reply.Int(int64(n))
	}
}

// PUBLISH channel message
// SPUBLISH shardchannel message
func publishSpec(name string, k command.ChannelKind) *command.Spec {
	return &command.Spec{
		Name: name, Arity: 3, Keys: shards(k, 0), Flags: sends, Group: group,
		Control: func(c *command.Call, s command.Session) error {
			channel, message := c.Args.Bytes(), c.Args.Bytes()
			c.Reply.Int(s.Publish(k, channel, message))
			return nil
		},
	}
}

// pubsubSpec is PUBSUB.
func pubsubSpec() *command.Spec {
	look := func(name string, arity int, control func(*command.Call, command.Session) error) *command.Spec {
		return &command.Spec{Name: name, Arity: arity, Flags: looks, Group: group, Control: control}
	}
	help := look("help", 2, pubsubHelp)
	help.Flags = command.Loading | command.Stale
	return &command.Spec{
		Name: "pubsub", Arity: -2, Group: group,
		Sub: []*command.Spec{
			look("channels", -2, channels(command.Channels)),
			help,
			look("numpat", 2, pubsubNumPat),
			look("numsub", -2, counts(command.Channels)),
			look("shardchannels", -2, channels(command.ShardChannels)),
			look("shardnumsub", -2, counts(command.ShardChannels)),
		},
	}
}

// PUBSUB CHANNELS [pattern]
// PUBSUB SHARDCHANNELS [pattern]
func channels(k command.ChannelKind) func(*command.Call, command.Session) error {
	return func(c *command.Call, s command.Session) error {
		a := &c.Args
		if a.Len() > 1 {
			return command.Errorf("ERR unknown subcommand or wrong number of arguments for '%.128s'. Try PUBSUB HELP.", a.Argv()[1])
		}
		keep := func(string) bool { return true }
		if a.More() {
			pattern := a.Bytes()
			keep = func(name string) bool { return glob.Match(pattern, []byte(name)) }
		}
		names := s.ChannelNames(k, keep)
		c.Reply.Array(len(names))
		for _, name := range names {
			c.Reply.BulkString(name)
		}
		return nil
	}
}

// PUBSUB NUMSUB [channel [channel ...]]
// PUBSUB SHARDNUMSUB [shardchannel [shardchannel ...]]
func counts(k command.ChannelKind) func(*command.Call, command.Session) error {
	return func(c *command.Call, s command.Session) error {
		c.Reply.Array(2 * c.Args.Len())
		for _, channel := range c.Args.Rest() {
			c.Reply.Bulk(channel)
			c.Reply.Int(s.SubscriberCount(k, channel))
		}
		return nil
	}
}

// PUBSUB NUMPAT
func pubsubNumPat(c *command.Call, s command.Session) error {
	c.Reply.Int(s.PatternCount())
	return nil
}
