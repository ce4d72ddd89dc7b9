// Package server is the network side of Heddle: workers, their connections,
// listeners.
//
// # Workers
//
// A worker is a goroutine locked to a thread, with its own epoll instance, its
// own listening socket per address (SO_REUSEPORT), its own mailbox and its own
// connections. Nobody else touches them: other goroutines post functions to the
// mailbox. Its turn goes like this:
//
//  1. the mailbox: sockets handed over, wake-ups, kills
//  2. every ready socket is read once, into a buffer that the worker's
//     connections share, and the whole commands in it join the batch
//  3. dispatch runs the batch: it touches the memory of all keys, so that the
//     cache misses overlap, and then executes in order
//  4. every connection with replies is written to once
//
// A connection owns memory only for what is unfinished: the begin of a command
// whose end did not come yet, replies that the peer does not take.
//
// # Limits
//
// What one connection may do in a turn is bounded: the bytes read, the commands
// run, the bytes sent. A connection whose peer does not read its replies stops
// executing when they exceed a bound, then stops being read when its input does;
// so it costs bounded memory, and nobody else's time. TCP tells the peer.
package server

import (
	"heddle/server/dispatch"
	"heddle/server/pace"
)

// OutputLimit is one class of client-output-buffer-limit. Zero: no limit.
type OutputLimit struct {
	Hard        int64 // bytes at which the connection is closed
	Soft        int64 // bytes at which it is closed when
	SoftSeconds int   // it has had more for so long
}

// Settings are what may change while the server runs. A worker reads them once
// a turn.
type Settings struct {
	MaxClients       int    // maxclients
	Reserved         int    // maxclients-reserved: of these, for clients of this host
	Timeout          int    // timeout: seconds of silence after which a client is closed; 0: never
	KeepAlive        int    // tcp-keepalive in seconds; 0: off. For new connections
	ProtectedMode    bool   // protected-mode
	MaxBulk          int    // proto-max-bulk-len
	QueryLimit       int64  // client-query-buffer-limit
	MaxMemoryClients int64  // maxmemory-clients in bytes; 0: no limit
	UnixPerm         uint32 // unixsocketperm; 0: as umask has it

	// Output are the limits by dispatch.Class.
	Output [3]OutputLimit

	Balance             bool // active-client-balancing
	MinClientsPerThread int  // min-clients-per-thread
}

// DefaultSettings are those of a server without configuration.
func DefaultSettings() Settings {
	return Settings{
		MaxClients: 10000, KeepAlive: 300, ProtectedMode: true,
		MaxBulk: 512 << 20, QueryLimit: 1 << 30,
		Output: [3]OutputLimit{
			dispatch.ClassReplica: {Hard: 256 << 20, Soft: 64 << 20, SoftSeconds: 60},
			dispatch.ClassPubSub:  {Hard: 32 << 20, Soft: 8 << 20, SoftSeconds: 60},
		},
		Balance: true, MinClientsPerThread: 50,
	}
}

// Level is how much a log line matters.
type Level int

// The levels, as loglevel names them.
const (
	Debug Level = iota
	Verbose
	Notice
	Warning
)

// Options are what a server is made of.
type Options struct {
	Engine   *dispatch.Engine
	Settings Settings
	Pacer    *pace.Pacer // watches the workers; may be nil

	Workers  int      // server-threads; 1 if 0
	Affinity int      // the CPU of the first worker counted from 1; 0: not pinned
	Bind     []string // bind, with "*", "::*" and the "-" of optional ones
	Port     int      // port; 0: no TCP
	Backlog  int      // tcp-backlog; 511 if 0
	Mark     uint32   // socket-mark-id; 0: none
	Unix     string   // unixsocket; "": none

	// Restless has connections move between workers all the time, for tests.
	Restless bool

	// Log takes the server's log lines; may be nil. From any goroutine.
	Log func(Level, string)
	// Logs reports whether lines of a level are wanted; nil: all are.
	Logs func(Level) bool
}
