package dispatch

import (
	"time"

	"heddle/resp"
	"heddle/server/command"
	"heddle/server/pubsub"
)

// Pub/sub: each executor is a branch of the hub. It delivers at the end of each
// batch, and whenever its worker has nothing else to do (SetPost). A client that
// subscribes gets its messages between its replies: those that a command of its
// own publishes come right behind that command's reply, and what EXEC publishes
// behind the reply of EXEC, as in Redis 7.2; so no message ever stands within
// a reply. A batch begins with what was published before: who gets the reply of PUBLISH
// and then has a subscriber ask something knows that the message comes first.

// errSubscribed refuses a command to a RESP2 client that subscribes.
const errSubscribed = ": only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"

// SetPost tells the executor how to have a function run on its goroutine, outside
// of batches. Without it, messages that others publish wait for its next batch.
func (x *Executor) SetPost(post func(fn func())) { x.post = post }

// wakeUp is called by publishers on other goroutines.
func (x *Executor) wakeUp() {
	if x.post != nil {
		x.post(x.deliver)
	}
}

// stallTime is for how long a worker rests behind a batch in which a command had to
// wait for subscribers elsewhere.
const stallTime = 100 * time.Microsecond

// stalls reports whether a command has to wait, since it would publish while a worker
// has too many messages to deliver already. Its client's further commands wait with it.
func (x *Executor) stalls(p *Pending) bool {
	if p.spec == nil || !x.publishes(p.spec) {
		return false
	}
	x.deliverAll() // perhaps it is this one
	if !x.e.hub.Congested() {
		return false
	}
	x.turn.stalled, x.stalled = true, true
	return true
}

// publishes reports whether a command may send messages.
func (x *Executor) publishes(s *command.Spec) bool {
	const sends = command.PubSub | command.MayReplicate
	return s.Flags&sends == sends || s == x.e.exec || s.IsWrite() && x.e.Settings().Notify != 0
}

// Hub is where messages are published.
func (e *Engine) Hub() *pubsub.Hub { return e.hub }

// kindOf translates the contract's kinds.
func kindOf(k command.ChannelKind) pubsub.Kind {
	switch k {
	case command.Patterns:
		return pubsub.Pattern
	case command.ShardChannels:
		return pubsub.Shard
	}
	return pubsub.Channel
}

// Subscribe adds a subscription.
func (c *Client) Subscribe(k command.ChannelKind, name []byte) int {
	if c.sub == nil {
		c.sub = c.x.branch.NewSubscriber(c)
	}
	c.sub.Subscribe(kindOf(k), name)
	return c.resubscribed(k)
}

// Unsubscribe ends a subscription.
func (c *Client) Unsubscribe(k command.ChannelKind, name []byte) int {
	if c.sub == nil {
		return 0
	}
	c.sub.Unsubscribe(kindOf(k), name)
	return c.resubscribed(k)
}

// UnsubscribeAll ends all subscriptions of a kind.
func (c *Client) UnsubscribeAll(k command.ChannelKind, fn func(name string, left int)) int {
	if c.sub == nil {
		return 0
	}
	c.sub.Each(kindOf(k), func(name string) { fn(name, c.Unsubscribe(k, []byte(name))) })
	return c.counted(k)
}

// counted is the number of subscriptions that replies tell.
func (c *Client) counted(k command.ChannelKind) int {
	if k == command.ShardChannels {
		return c.sub.Count(pubsub.Shard)
	}
	return c.sub.Count(pubsub.Channel) + c.sub.Count(pubsub.Pattern)
}

// resubscribed notes that subscriptions came or went.
func (c *Client) resubscribed(k command.ChannelKind) int {
	c.setMode(modeSubscribed, c.sub.Total() > 0)
	for i := range c.shown.subs {
		c.shown.subs[i].Store(int32(c.sub.Count(pubsub.Kind(i))))
	}
	c.shown.subMem.Store(c.sub.MemSize())
	return c.counted(k)
}

// unsubscribe ends all subscriptions without a word.
func (c *Client) unsubscribe() {
	if c.sub != nil {
		c.sub.Close()
		c.resubscribed(command.Channels)
		c.sub = nil
	}
}

// Subscribed reports whether the client has subscriptions.
func (c *Client) Subscribed() bool { return c.mode&modeSubscribed != 0 }

// Publish sends a message.
func (c *Client) Publish(k command.ChannelKind, channel, message []byte) int64 {
	return c.e.hub.Publish(kindOf(k), channel, message)
}

// ChannelNames are the channels with subscribers.
func (c *Client) ChannelNames(k command.ChannelKind, keep func(string) bool) []string {
	return c.e.hub.Channels(kindOf(k), keep)
}

// SubscriberCount is how many subscribe to just this channel.
func (c *Client) SubscriberCount(k command.ChannelKind, name []byte) int64 {
	return c.e.hub.Subscribers(kindOf(k), name)
}

// PatternCount is how many patterns are subscribed to.
func (c *Client) PatternCount() int64 { return c.e.hub.Distinct(pubsub.Pattern) }

// Receive sends a message to the client; see pubsub.Receiver. While EXEC writes its
// reply, messages are kept for behind it.
func (c *Client) Receive(frame []byte, shared *pubsub.Frame) {
	c.oweHeard()
	head := frame[0]
	if c.Proto() == 3 {
		head = '>'
	}
	switch {
	case c.mode&(modeClosing|modeGone) != 0:
	case c.mode&modeExec != 0:
		if len(c.late)+len(frame) > monitorBound { // no limit of its output counts that
			c.conn.Kill()
			return
		}
		c.late = append(append(c.late, head), frame[1:]...)
	case shared != nil:
		shared.Retain()
		c.conn.Push(head, frame[1:], shared)
	default:
		c.conn.Push(head, frame[1:], nil)
	}
}

// deliverOwn gives a client that subscribes what its own command published,
// behind the reply of that.
func (x *Executor) deliverOwn(c *Client) {
	if len(c.late) > 0 {
		c.w.Raw(c.late)
		c.late = nil
		x.muted = true // more than a reply
	}
	x.deliverAll()
}

// gateSubscriber lets a RESP2 client that subscribes run only what is about that:
// its replies could not be told from messages.
func gateSubscriber(_ *Executor, c *Client, p *Pending) resp.Error {
	if c.mode&modeSubscribed == 0 || p.spec.Flags&command.WhileSubscribed != 0 || c.Proto() == 3 {
		return ""
	}
	return resp.Error("ERR Can't execute '" + p.spec.FullName() + "'" + errSubscribed)
}
