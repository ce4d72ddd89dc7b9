package command

import (
	"heddle/db"
)

// Session is what a Control command may do to the connection it came from and,
// where Redis lets it, to others. Dispatch implements it.
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
	// InExec reports whether EXEC is running the command.
	InExec() bool
	// Keyspace is the whole keyspace, self-locking, or already locked when
	// the command runs inside EXEC or carries AllShards.
	Keyspace() db.Whole
	// Locked runs fn with a transaction on the selected database while the
	// shard of key is held: for Control commands that look at one key.
	Locked(key []byte, fn func(db.Txn) error) error
	// CloseAfterReply closes the connection once the replies so far are sent.
	CloseAfterReply()

	Identity
	Transaction
	Messages

	// SetReplyMode is CLIENT REPLY.
	SetReplyMode(ReplyMode)
	// SetNoEvict is CLIENT NO-EVICT, SetNoTouch CLIENT NO-TOUCH.
	SetNoEvict(bool)
	SetNoTouch(bool)
	// Monitor makes the connection a monitor: it is sent every command.
	Monitor()
	// Reset brings the connection back to where a new one starts (RESET).
	Reset()
	// Info describes the connection as of now.
	Info() ClientInfo
	// Clients are all connections.
	Clients() Clients
}

// Identity is who uses a connection.
type Identity interface {
	Name() string
	SetName(string)
	// SetLibName and SetLibVer are CLIENT SETINFO.
	SetLibName(string)
	SetLibVer(string)
	// User is the name of the authenticated user.
	User() string
	// Authenticated reports whether commands may run that need a user.
	Authenticated() bool
	// Authenticate checks a password and makes the connection the user's; the
	// error is its reply.
	Authenticate(user, password []byte) error
	// HasPassword reports whether the default user needs a password.
	HasPassword() bool
}

// Transaction is MULTI, EXEC, DISCARD, WATCH, UNWATCH. The errors are replies.
type Transaction interface {
	Multi() error
	Exec(*Call) error
	Discard() error
	Watch(keys [][]byte) error
	Unwatch()
}

// ChannelKind tells what is subscribed to.
type ChannelKind uint8

// The kinds: channels, patterns of them, and the channels of SSUBSCRIBE.
const (
	Channels ChannelKind = iota
	Patterns
	ShardChannels
)

// Messages is pub/sub. Replies to what changes subscriptions are pushed: their
// Specs have the flag Pushes.
type Messages interface {
	// Subscribe adds a subscription, unless it is there, and Unsubscribe ends
	// it. They return how many the connection has then, of shard channels or of
	// channels and patterns together.
	Subscribe(k ChannelKind, name []byte) int
	Unsubscribe(k ChannelKind, name []byte) int
	// UnsubscribeAll ends all of a kind, calling fn behind each, and returns
	// what Unsubscribe does.
	UnsubscribeAll(k ChannelKind, fn func(name string, left int)) int
	// Subscribed reports whether the connection has any subscription.
	Subscribed() bool
	// Publish sends a message, to Channels or ShardChannels, and returns how
	// many subscriptions get it.
	Publish(k ChannelKind, channel, message []byte) int64
	// ChannelNames are the channels with subscribers that keep says yes to;
	// SubscriberCount is how many subscribe to just this channel, PatternCount
	// how many patterns are subscribed to.
	ChannelNames(k ChannelKind, keep func(name string) bool) []string
	SubscriberCount(k ChannelKind, name []byte) int64
	PatternCount() int64
}

// ReplyMode is what CLIENT REPLY chooses.
type ReplyMode uint8

// The reply modes. ReplySkip drops the reply of the next command.
const (
	ReplyOn ReplyMode = iota
	ReplyOff
	ReplySkip
)

// Clients are all connections of the server.
type Clients interface {
	// Each visits every client in the order of their numbers.
	Each(fn func(*ClientInfo))
	// Kill closes the connection with that number; false if there is none.
	Kill(id int64) bool
	// Unblock ends the wait of a parked client, as by its timeout or with an
	// error; false if it is not parked.
	Unblock(id int64, withError bool) bool
	// Pause holds back all commands, or only those that may write, for so many
	// milliseconds. Unpause ends that.
	Pause(d db.Millis, writesOnly bool)
	Unpause()
}

// ClientInfo describes a connection as CLIENT LIST shows it.
type ClientInfo struct {
	ID                     int64
	Addr, LAddr            string
	FD                     int
	Name                   string
	Age, Idle              int64 // seconds
	Flags                  string
	DB                     int
	Sub, PSub, SSub        int // subscriptions by ChannelKind
	Multi                  int // queued commands, -1 outside MULTI
	QueryBuf, QueryBufFree int64
	ArgvMem, MultiMem      int64
	ReplyBuf, ReplyBufPeak int64
	OutBuf                 int64 // bytes of replies in the connection's own buffer
	OutList                int64 // pieces of replies waiting behind it
	OutMem                 int64 // their bytes
	TotalMem               int64
	Events                 string
	Cmd                    string
	User                   string
	Proto                  int
	LibName, LibVer        string
	Worker                 int
	NoEvict                bool
	Monitor                bool
}

// Subscribed reports whether the connection is of the type pubsub.
func (i *ClientInfo) Subscribed() bool { return i.Sub+i.PSub+i.SSub > 0 }
