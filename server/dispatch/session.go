package dispatch

import (
	"crypto/sha256"
	"crypto/subtle"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// A Client is the Session of its Control commands.
var _ command.Session = (*Client)(nil)

// Texts of AUTH.
const (
	errWrongPass  resp.Error = "WRONGPASS invalid username-password pair or user is disabled."
	errNoPassword resp.Error = "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
)

// DB is the selected database.
func (c *Client) DB() int { return c.db }

// SetDB selects a database.
func (c *Client) SetDB(n int) {
	c.db = n
	c.shown.db.Store(int32(n))
}

// Proto is the RESP version.
func (c *Client) Proto() int { return c.w.Proto() }

// SetProto chooses the RESP version.
func (c *Client) SetProto(v int) {
	c.w.SetProto(v)
	c.shown.proto.Store(int32(v))
}

// Now is the instant of the command.
func (c *Client) Now() db.Millis { return c.x.now }

// InMulti reports whether MULTI was said, or EXEC runs the command.
func (c *Client) InMulti() bool { return c.mode&(modeMulti|modeExec) != 0 }

// InExec reports whether EXEC runs the command.
func (c *Client) InExec() bool { return c.mode&modeExec != 0 }

// Keyspace is the whole keyspace.
func (c *Client) Keyspace() db.Whole {
	if c.x.begun {
		return c.x.tx.Whole()
	}
	return c.e.ks.Whole(c.x.now)
}

// Locked runs fn with the shard of key held.
func (c *Client) Locked(key []byte, fn func(db.Txn) error) error {
	x := c.x
	if x.begun {
		return fn(x.tx)
	}
	hash := x.ks.Hash(key)
	x.lock(c, db.LockSet(1)<<uint(x.ks.ShardOf(hash)), true)
	defer x.unlock()
	return fn(x.tx)
}

// CloseAfterReply closes the connection once the replies are sent.
func (c *Client) CloseAfterReply() { c.mode |= modeClosing }

// Name is the name given by CLIENT SETNAME. From any goroutine.
func (c *Client) Name() string {
	c.shown.mu.Lock()
	defer c.shown.mu.Unlock()
	return c.shown.name
}

// SetName is CLIENT SETNAME.
func (c *Client) SetName(name string) { c.show(&c.shown.name, name) }

// SetLibName is CLIENT SETINFO LIB-NAME.
func (c *Client) SetLibName(name string) { c.show(&c.shown.libName, name) }

// SetLibVer is CLIENT SETINFO LIB-VER.
func (c *Client) SetLibVer(ver string) { c.show(&c.shown.libVer, ver) }

func (c *Client) show(field *string, s string) {
	c.shown.mu.Lock()
	defer c.shown.mu.Unlock()
	c.names += longName(s) - longName(*field)
	*field = s
}

// longName is how many bytes of a name are counted: none of what most are.
func longName(s string) int64 {
	if len(s) < 1024 {
		return 0
	}
	return int64(len(s))
}

// User is the authenticated user.
func (c *Client) User() string { return c.user }

// HasPassword reports whether the default user needs a password.
func (c *Client) HasPassword() bool { return c.e.Settings().RequirePass != "" }

// Authenticate checks a password. The only user is the default one.
func (c *Client) Authenticate(user, password []byte) error {
	want := c.e.Settings().RequirePass
	if string(user) != "default" || want != "" && !samePassword(password, want) {
		c.x.rec.DeniedAuth++
		return errWrongPass
	}
	c.mode &^= modeUnauth
	c.setUser("default")
	return nil
}

// samePassword compares in a time that does not depend on what is wrong.
func samePassword(got []byte, want string) bool {
	a, b := sha256.Sum256(got), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// SetReplyMode is CLIENT REPLY.
func (c *Client) SetReplyMode(m command.ReplyMode) {
	c.x.muted = true
	switch m {
	case command.ReplyOn:
		c.mode &^= modeReplyOff | modeReplySkip | modeSkipNext
	case command.ReplyOff:
		c.mode |= modeReplyOff
	case command.ReplySkip:
		if c.mode&modeReplyOff == 0 {
			c.mode |= modeSkipNext
		}
	}
}

// SetNoEvict is CLIENT NO-EVICT.
func (c *Client) SetNoEvict(on bool) { c.setMode(modeNoEvict, on) }

// SetNoTouch is CLIENT NO-TOUCH.
func (c *Client) SetNoTouch(on bool) { c.setMode(modeNoTouch, on) }

func (c *Client) setMode(m mode, on bool) {
	if c.mode &^= m; on {
		c.mode |= m
	}
}

// Monitor makes the client a monitor.
func (c *Client) Monitor() {
	if c.mode&modeMonitor == 0 {
		c.mode |= modeMonitor
		if c.watch == nil {
			c.watch = new(monitorQueue)
		}
		c.e.monitors.add(c)
	}
}

// Reset brings the client back to where a new one starts.
func (c *Client) Reset() {
	c.discard()
	if c.mode&modeMonitor != 0 {
		c.e.monitors.remove(c)
	}
	if c.sub != nil {
		c.x.deliverAll() // what was published before is still for it
	}
	c.unsubscribe()
	c.mode &^= modeMonitor | modeReplyOff | modeReplySkip | modeSkipNext | modeNoEvict | modeNoTouch
	c.SetDB(0)
	c.SetProto(2)
	c.SetName("")
	c.greet()
}

// Info describes the client as of now. The command that asks is still in the
// query buffer.
func (c *Client) Info() command.ClientInfo {
	c.showMode()
	i := c.describe()
	argv := c.x.call.Args.Argv()
	wire := headerLen(len(argv))
	for _, a := range argv {
		i.ArgvMem += int64(len(a))
		wire += headerLen(len(a)) + len(a) + 2
	}
	i.QueryBuf = max(i.QueryBuf, int64(wire))
	return i
}

// headerLen is the length of "*n\r\n" or "$n\r\n".
func headerLen(n int) int {
	digits := 1
	for ; n >= 10; n /= 10 {
		digits++
	}
	return digits + 3
}

// Clients are all connections.
func (c *Client) Clients() command.Clients { return &c.e.clients }
