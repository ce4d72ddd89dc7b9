package pubsub

import (
	"strconv"
	"sync/atomic"

	"heddle/db"
)

// Where keyspace events are published to, beside the classes of db in the mask
// of a Notifier.
const (
	// Keyspace: __keyspace@<db>__:<key>, the message is the event.
	Keyspace uint32 = 1 << 30
	// Keyevent: __keyevent@<db>__:<event>, the message is the key.
	Keyevent uint32 = 1 << 31
)

// Notifier publishes keyspace events, of the classes and to the places that its
// mask names (notify-keyspace-events).
type Notifier struct {
	hub  *Hub
	mask atomic.Uint32
}

// NewNotifier returns a notifier that publishes nothing so far.
func (h *Hub) NewNotifier() *Notifier { return &Notifier{hub: h} }

// SetMask chooses the classes, bits of db.Class, and the places.
func (n *Notifier) SetMask(mask uint32) { n.mask.Store(mask) }

// Event publishes an event if it is wanted. It is made for db.Hooks: it is quick
// when nobody wants it, and may be called while shards are locked.
func (n *Notifier) Event(database int, class db.Class, event string, key []byte) {
	mask := n.mask.Load()
	if mask&uint32(class) == 0 || n.hub.total.Load() == 0 {
		return
	}
	n.publish(mask, database, event, key)
}

// channelRoom is the length of a channel's name up to which there is no need to
// allocate.
const channelRoom = 128

func (n *Notifier) publish(mask uint32, database int, event string, key []byte) {
	var room, word [channelRoom]byte
	message := append(word[:0], event...)
	if mask&Keyspace != 0 {
		n.hub.Publish(Channel, append(appendPlace(room[:0], "__keyspace@", database), key...), message)
	}
	if mask&Keyevent != 0 {
		n.hub.Publish(Channel, append(appendPlace(room[:0], "__keyevent@", database), message...), key)
	}
}

func appendPlace(dst []byte, kind string, database int) []byte {
	dst = append(dst, kind...)
	dst = strconv.AppendInt(dst, int64(database), 10)
	return append(dst, "__:"...)
}
