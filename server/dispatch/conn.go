package dispatch

import "heddle/resp"

// Conn is the connection of a Client, as dispatch needs it.
type Conn interface {
	// Writer is where the client's replies go. It stays the same for the life
	// of the connection; only the worker's goroutine uses it.
	Writer() *resp.Writer
	// Kill closes the connection at once; replies not sent yet are dropped.
	// From any goroutine.
	Kill()
	// Post has fn run on the connection's worker, outside any batch. It never
	// blocks, and does nothing once the connection is gone. Afterwards the
	// worker sends what was written, and goes on reading commands if the
	// client is not Blocked. From any goroutine.
	Post(fn func())
	// Push sends a message that the client did not ask for just now: head and
	// behind it rest, which is copied, or, where free is not nil, borrowed until
	// that is released. On the connection's worker, while no reply is being
	// written.
	Push(head byte, rest []byte, free resp.Releaser)
	// RemoteAddr and LocalAddr are as CLIENT LIST shows them: "ip:port",
	// "[ip6]:port", "/path:0".
	RemoteAddr() string
	LocalAddr() string
	FD() int
	// Worker is the number of the worker, from 0.
	Worker() int
	// Buffers tells what memory the connection uses: unread input, free room
	// in the input buffer, arguments, bytes in the reply buffer, pieces and
	// bytes of replies behind it, everything together. From any goroutine.
	Buffers() (qbuf, qbufFree, argvMem, obl, oll, omem, totMem int64)
}
