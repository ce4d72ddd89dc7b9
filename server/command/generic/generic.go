// Package generic has the commands that work on keys whatever their type:
// deletion, time to live, renaming, iteration, introspection.
package generic

import (
	"slices"

	"heddle/server/command"
)

// Family returns the commands of the group, made anew by each call, with none of what
// they may need from outside.
func Family() command.Family { return FamilyWith(Deps{}) }

// FamilyWith is Family with all of it.
func FamilyWith(d Deps) command.Family {
	return command.Family{Name: "generic", Specs: slices.Concat(
		deleteSpecs(), existsSpecs(), expireSpecs(), expireMemberSpecs(), ttlSpecs(), moveSpecs(), scanSpecs(), objectSpecs(), sortSpecs(),
		dumpSpecs(d), migrateSpecs(d),
	)}
}

const group = "generic"

// Request and response policies that clients of a cluster read from the tips.
const (
	tipMultiShard    = "request_policy:multi_shard"
	tipAllShards     = "request_policy:all_shards"
	tipSum           = "response_policy:agg_sum"
	tipNoOrder       = "nondeterministic_output_order"
	tipNondetermined = "nondeterministic_output"
)

// Names that effects are written with.
var (
	wordDel       = []byte("DEL")
	wordPExpireAt = []byte("PEXPIREAT")
	wordAbsTTL    = []byte("ABSTTL")

	wordPExpireMemberAt = []byte("PEXPIREMEMBERAT")
)
