// Package admin has the commands of the server group: what the server is, what
// it does, how it is set up. (The folder is named after the group; "server" is
// the package that these commands are about.)
//
// The family knows the server only through Deps, so that tests can stand in for
// it.
package admin

import (
	"heddle/config"
	"heddle/server/command"
	"heddle/server/command/docs"
	"heddle/server/stats"
)

// Deps are what the commands work with.
type Deps struct {
	// Table returns the table that the family is part of.
	Table  func() *command.Table
	Docs   *docs.Library
	Config Config
	Stats  *stats.Stats
	Server Server
}

// Config is the configuration; config.Store is one.
type Config interface {
	Get(patterns ...string) []config.Pair
	Set(pairs []config.Pair, opt config.SetOptions) error
	Rewrite() error
	RewriteHeld() error
	RewriteAll(held bool) error
	IsSensitive(name string) bool
	Allowed(name string, local bool) bool
	String(name string) string
}

// Server is the process around the commands. Its methods may be called from
// any goroutine.
type Server interface {
	// Facts fills in what INFO, MEMORY and ROLE tell. held says that the caller
	// has all shards locked.
	Facts(facts *Facts, held bool)
	// Loading reports whether a data set is being loaded.
	Loading() bool
	// Micros is the Unix time in microseconds.
	Micros() int64
	// Sleep stops the calling goroutine.
	Sleep(micros int64)
	// Log writes a line to the server's log, at level warning.
	Log(line string)
	// Shutdown ends the process. It waits until the data is saved, so far as it is
	// to be, and returns nil when the server is on its way down and runs no command
	// any more, an error when it goes on. With Soft it returns at once.
	Shutdown(ShutdownOptions) error
	// AbortShutdown takes back a Shutdown that is still waiting.
	AbortShutdown() bool
	// Purge gives memory that is free back to the operating system; later, if the
	// caller has all shards locked.
	Purge(held bool)
	// MemoryReport describes the memory of the process for people.
	MemoryReport(held bool) string
	// TableReport describes the tables of a database for people.
	TableReport(db int, held bool) string

	Persistence

	// ResetStats lets counters that are not in stats.Stats begin anew.
	ResetStats(held bool)

	// What only DEBUG does.
	SetActiveExpire(on bool)
	PauseCron(paused bool)
	ChangeReplicationID()
	// SetPackedThreshold sets db.Limits.QuicklistPackedThreshold.
	SetPackedThreshold(bytes int64)
	// SetSkipChecksum sets db.Limits.SkipChecksum.
	SetSkipChecksum(skip bool)
	// Crash ends the process as a fault in the program would.
	Crash(reason string)
}

// ShutdownOptions are the words of SHUTDOWN.
type ShutdownOptions struct {
	Save   bool // save even if no save point is set
	NoSave bool // do not save even if one is
	Now    bool // do not wait for replicas that lag
	Force  bool // stop even if saving fails
	Soft   bool // wait until the clients have left
}

const group = "server"

// The tips that several commands have.
const (
	tipNoOrder        = "nondeterministic_output_order"
	tipNondetermined  = "nondeterministic_output"
	tipAllNodes       = "request_policy:all_nodes"
	tipAllShards      = "request_policy:all_shards"
	tipAllSucceeded   = "response_policy:all_succeeded"
	tipSum            = "response_policy:agg_sum"
	tipSpecialRequest = "response_policy:special"
)

const adminFlags = command.Admin | command.NoScript | command.Loading | command.Stale

type family struct{ d Deps }

// Family returns the commands of the group, made anew by each call.
func Family(d Deps) command.Family {
	f := &family{d}
	specs := []*command.Spec{
		f.commandSpec(), f.configSpec(), f.infoSpec(), f.memorySpec(), f.slowlogSpec(), f.latencySpec(),
		f.debugSpec(), f.lolwutSpec(), f.shutdownSpec(),
	}
	specs = append(specs, f.keyspaceSpecs()...)
	specs = append(specs, f.stateSpecs()...)
	specs = append(specs, f.persistenceSpecs()...)
	return command.Family{Name: group, Specs: specs}
}

// simpleSub is a subcommand that is only its name, flags and handler.
func simpleSub(name string, arity int, flags command.Flags, fn func(*command.Call, command.Session) error, tips ...string) *command.Spec {
	return &command.Spec{Name: name, Arity: arity, Flags: flags, Group: group, Tips: tips, Control: fn}
}
