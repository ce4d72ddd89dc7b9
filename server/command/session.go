package command

import (
	"heddle/db"
)

// Session is what a Control command may do to the connection it came from.
// Dispatch implements it; cmdtest fakes what has no connection.
type Session interface {
	// ID is the connection's number, unique since the start, from 1.
	ID() int64
	// DB and SetDB are the selected database.
	DB() int
	SetDB(int)
	// Proto and SetProto are the RESP version, 2 or 3.
	Proto() int
	SetProto(int)
	// Now is the instant of the command.
	Now() db.Millis
	// InMulti reports whether MULTI was said, or EXEC is running the command.
	InMulti() bool
	// Keyspace is the whole keyspace, self-locking, or already locked when
	// the command runs inside EXEC or carries AllShards.
	Keyspace() db.Whole
	// CloseAfterReply closes the connection once the replies so far are sent.
	CloseAfterReply()
}
