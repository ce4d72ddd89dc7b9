// Package all lists the families of commands that the server knows.
package all

import (
	"heddle/server/command"
	"heddle/server/command/bitmap"
	"heddle/server/command/connection"
	"heddle/server/command/generic"
	"heddle/server/command/geo"
	hashes "heddle/server/command/hash"
	"heddle/server/command/hyperloglog"
	lists "heddle/server/command/list"
	"heddle/server/command/pubsub"
	admin "heddle/server/command/server"
	sets "heddle/server/command/set"
	"heddle/server/command/sortedset"
	streams "heddle/server/command/stream"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
)

// Deps is what the families need.
type Deps struct {
	// MaxBulk tells how long a string may become (proto-max-bulk-len).
	MaxBulk    func() int64
	Connection connection.Deps
	Generic    generic.Deps
	Server     admin.Deps
}

// Families returns all families, made anew by each call.
func Families(d Deps) []command.Family {
	return []command.Family{
		connection.Family(d.Connection),
		transactions.Family(),
		generic.FamilyWith(d.Generic),
		geo.Family(),
		str.Family(d.MaxBulk),
		bitmap.Family(d.MaxBulk),
		hashes.Family(),
		hyperloglog.Family(),
		sets.Family(),
		lists.Family(),
		pubsub.Family(),
		sortedset.Family(),
		streams.Family(),
		admin.Family(d.Server),
	}
}
