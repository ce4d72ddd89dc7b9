package pubsub

import "heddle/server/command"

// helpLines are what PUBSUB HELP says of each subcommand.
var helpLines = [...]string{
	"CHANNELS [<pattern>]",
	"    List the channels with subscribers whose names match <pattern> (all).",
	"NUMPAT",
	"    Return how many different patterns are subscribed to.",
	"NUMSUB [<channel> ...]",
	"    Return for each channel how many subscribe to it by its name.",
	"SHARDCHANNELS [<pattern>]",
	"    List the shard channels with subscribers whose names match <pattern> (all).",
	"SHARDNUMSUB [<shardchannel> ...]",
	"    Return for each shard channel how many subscribe to it.",
}

// PUBSUB HELP
func pubsubHelp(c *command.Call, _ command.Session) error {
	return command.ReplyHelp(c, helpLines[:]...)
}
