package streams

import (
	"heddle/db"
	"heddle/db/stream"
	"heddle/resp"
	"heddle/server/command"
)

const (
	errUnbalanced resp.Error = "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified."
	errGroupWord  resp.Error = "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead."
	errNoAckWord  resp.Error = "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead."
	errNewOnly    resp.Error = "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option."
	errDollar     resp.Error = "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set."
	errNeedsGroup resp.Error = "ERR Missing GROUP option for XREADGROUP"
	errKeyGone    resp.Error = "UNBLOCKED the stream key no longer exists"
	errGroupGone  resp.Error = "NOGROUP the consumer group this client was blocked on no longer exists"
)

// XREAD [COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]
func xreadSpec() *command.Spec {
	s := readingSpec("xread", -4, 1)
	s.Read = xread
	return s
}

// readingSpec describes XREAD and XREADGROUP, whose keys stand behind STREAMS.
func readingSpec(name string, arity, from int) *command.Spec {
	s := command.Spec{
		Name: name, Arity: arity, Flags: command.Blocking, ACL: command.CatStream, Group: group,
		Keys: []command.KeySpec{{
			Keyword: "STREAMS", StartFrom: from, Last: -1, Step: 1, Limit: 2, Flags: command.KeyRO | command.KeyAccess,
		}},
		OnTimeout: (*resp.Writer).NullArray,
		Awaits:    db.TypeStream,
	}
	bySpec := s
	s.FindKeys = func(dst []command.KeyRef, argv [][]byte) ([]command.KeyRef, error) {
		if refs, ok := findStreams(dst, argv); ok {
			return refs, nil
		}
		return command.FindKeys(dst, &bySpec, argv) // a mistake: only COMMAND GETKEYS wants to know
	}
	return &s
}

// findStreams finds the keys: the first half of what stands behind STREAMS, but not
// behind a word of this spelling that is the value of another option.
func findStreams(dst []command.KeyRef, argv [][]byte) ([]command.KeyRef, bool) {
	for i := 1; i < len(argv); i++ {
		switch {
		case command.EqualFold(argv[i], "block"), command.EqualFold(argv[i], "count"):
			i++
		case command.EqualFold(argv[i], "group"):
			i += 2
		case command.EqualFold(argv[i], "noack"):
		case command.EqualFold(argv[i], "streams"):
			n := len(argv) - i - 1
			for k := i + 1; k <= i+n/2; k++ {
				dst = append(dst, command.KeyRef{Index: k, Flags: command.KeyRO | command.KeyAccess})
			}
			return dst, n > 0 && n%2 == 0
		default:
			return dst, false
		}
	}
	return dst, false
}

// readOptions are what stands in front of the keys, and the keys and IDs.
type readOptions struct {
	count    int64
	block    bool
	timeout  db.Millis
	group    []byte // nil if there is none
	consumer []byte
	noack    bool
	keys     [][]byte
	ids      [][]byte
	idsAt    int // of argv
}

// parse reads the arguments of XREAD, or of XREADGROUP if grouped.
func (o *readOptions) parse(a *command.Args, grouped bool, now db.Millis) error {
	for a.More() && o.keys == nil {
		left := a.Len() - 1 // behind the word
		switch {
		case left > 0 && a.Word("block"):
			o.block, o.timeout = true, a.TimeoutMillis(now)
		case left > 0 && a.Word("count"):
			o.count = max(a.Int(), 0)
		case left > 0 && a.Word("streams"):
			o.idsAt = len(a.Argv()) - left/2
			rest := a.Rest()
			if len(rest)%2 != 0 {
				return errUnbalanced
			}
			o.keys, o.ids = rest[:left/2], rest[left/2:]
		case left > 1 && a.Word("group"):
			if !grouped {
				return errGroupWord
			}
			o.group, o.consumer = a.Bytes(), a.Bytes()
		case a.Word("noack"):
			if !grouped {
				return errNoAckWord
			}
			o.noack = true
		default:
			a.Reject(resp.ErrSyntax)
		}
	}
	switch {
	case a.Err() != nil:
		return a.Err()
	case o.keys == nil:
		return resp.ErrSyntax
	case grouped && o.group == nil:
		return errNeedsGroup
	}
	return nil
}

// source is a stream that is read. Which entries are given out is decided before the
// reply begins.
type source struct {
	s       *stream.Stream // nil if there is none
	g       *stream.Group
	from    stream.ID // the first entry that is of interest
	to      stream.ID
	n       int64 // how many entries are given out
	served  bool  // it is part of the reply
	history bool  // what the consumer holds is given out again
}

// few is how many streams are read without memory of their own.
const few = 8

func xread(c *command.Call, v db.View) error {
	var o readOptions
	if err := o.parse(&c.Args, false, v.Now()); err != nil {
		return err
	}
	var room [few]source
	sources, served := room[:0], 0
	for i, key := range o.keys {
		s, err := stream.Read(v, key)
		if err != nil && !c.Resumed() {
			return err
		}
		from, err := o.after(c, i, s)
		if err != nil {
			return err
		}
		src := source{s: s, to: stream.MaxID}
		if s != nil {
			if top, ok := s.Top(); ok && from.Before(top) {
				src.served = true
				src.from, _ = from.Next()
				served++
			}
		}
		sources = append(sources, src)
	}
	o.lookAgain(v)
	if served == 0 {
		return o.nothing(c)
	}

	c.Reply.Rows(served)
	for i := range sources {
		if src := &sources[i]; src.served {
			c.Reply.Row()
			c.Reply.Bulk(o.keys[i])
			replyRange(c.Reply, src.s, src.from, src.to, o.count, false)
		}
	}
	return nil
}

// lookAgain counts the hits and misses of the keys once more: Redis looks them up when it
// reads the IDs, and again when it reads the streams.
func (o *readOptions) lookAgain(v db.View) {
	for _, key := range o.keys {
		v.Probe(key)
	}
}

// after returns the ID behind which stream i is to be read. $ is the last ID of now, also
// when the command has waited.
func (o *readOptions) after(c *command.Call, i int, s *stream.Stream) (stream.ID, error) {
	switch string(cText(o.ids[i])) {
	case "$":
		var last stream.ID
		if s != nil {
			last = s.LastID()
		}
		if o.block {
			var buf [stream.IDSize]byte
			c.Rewrite(o.idsAt+i, last.Append(buf[:0]))
		}
		return last, nil
	case ">":
		return stream.ID{}, errNewOnly
	}
	id, ok := strictID(o.ids[i], 0)
	if !ok {
		return id, errID
	}
	return id, nil
}

// nothing answers, or waits, when there is nothing to read.
func (o *readOptions) nothing(c *command.Call) error {
	if o.block {
		return c.Wait(o.timeout)
	}
	c.Reply.NullArray()
	return nil
}
