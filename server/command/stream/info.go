package streams

import (
	"heddle/db"
	"heddle/db/stream"
	"heddle/resp"
	"heddle/server/command"
)

// XINFO STREAM | GROUPS | CONSUMERS key ..., XINFO HELP
func xinfoSpec() *command.Spec {
	sub := func(name string, arity int, tips []string, fn func(*command.Call, db.View) error) *command.Spec {
		return &command.Spec{
			Name: name, Arity: arity, Keys: command.Key(2, command.KeyRO|command.KeyAccess),
			ACL: command.CatStream, Group: group, Tips: tips, Read: fn,
		}
	}
	return &command.Spec{Name: "xinfo", Arity: -2, Group: group, Sub: []*command.Spec{
		sub("consumers", 4, []string{tipNondetermine}, xinfoConsumers),
		sub("groups", 3, nil, xinfoGroups),
		{
			Name: "help", Arity: 2, Flags: command.Loading | command.Stale,
			ACL: command.CatStream, Group: group, Control: xinfoHelp,
		},
		sub("stream", -3, nil, xinfoStream),
	}}
}

// mustRead reads the stream at key, which has to be there.
func mustRead(v db.View, key []byte) (*stream.Stream, error) {
	s, err := stream.Read(v, key)
	if err == nil && s == nil {
		err = resp.ErrNoKey
	}
	return s, err
}

// XINFO CONSUMERS key group
func xinfoConsumers(c *command.Call, v db.View) error {
	key, name := c.Args.Key(), c.Args.Bytes()
	s, err := mustRead(v, key)
	if err != nil {
		return err
	}
	g := s.Group(name)
	if g == nil {
		return command.Errorf("NOGROUP No such consumer group '%s' for key name '%s'", name, key)
	}
	w, now := c.Reply, int64(v.Now())
	w.Array(g.Consumers())
	g.EachConsumer(func(m *stream.Consumer) bool {
		w.Map(4)
		w.BulkString("name")
		w.BulkString(m.Name)
		w.BulkString("pending")
		w.Int(int64(m.Len()))
		w.BulkString("idle")
		w.Int(max(now-m.Seen, 0))
		w.BulkString("inactive")
		if m.Active == stream.Never {
			w.Int(stream.Never)
		} else {
			w.Int(max(now-m.Active, 0))
		}
		return true
	})
	return nil
}

// XINFO GROUPS key
func xinfoGroups(c *command.Call, v db.View) error {
	s, err := mustRead(v, c.Args.Key())
	if err != nil {
		return err
	}
	w := c.Reply
	w.Array(s.Groups())
	s.EachGroup(func(name string, g *stream.Group) bool {
		w.Map(6)
		w.BulkString("name")
		w.BulkString(name)
		w.BulkString("consumers")
		w.Int(int64(g.Consumers()))
		w.BulkString("pending")
		w.Int(int64(g.Len()))
		w.BulkString("last-delivered-id")
		replyID(w, g.Last)
		progress(w, s, g)
		return true
	})
	return nil
}

// progress writes how many entries a group has read and has still to read, as far as
// that is known.
func progress(w *resp.Writer, s *stream.Stream, g *stream.Group) {
	w.BulkString("entries-read")
	if g.Read == stream.Unread {
		w.Null()
	} else {
		w.Int(g.Read)
	}
	w.BulkString("lag")
	if lag, known := s.Lag(g); known {
		w.Int(lag)
	} else {
		w.Null()
	}
}

// XINFO STREAM key [FULL [COUNT count]]
func xinfoStream(c *command.Call, v db.View) error {
	a := &c.Args
	s, err := mustRead(v, a.Key())
	if err != nil {
		return err
	}
	if a.Len() == 0 {
		stream1(c.Reply, s)
		return nil
	}
	if !a.Word("full") || a.Len() != 0 && a.Len() != 2 {
		return errSubcommand(c)
	}
	count := int64(10)
	if a.More() {
		if !a.Word("count") {
			return errSubcommand(c)
		}
		if count = a.Int(); count < 0 {
			count = 10
		}
	}
	if err := a.Done(); err != nil {
		return err
	}
	full(c.Reply, s, count)
	return nil
}

// about writes the facts that both forms of XINFO STREAM begin with.
func about(w *resp.Writer, s *stream.Stream) {
	w.BulkString("length")
	w.Int(int64(s.Len()))
	w.BulkString("radix-tree-keys")
	w.Int(int64(s.Nodes()))
	w.BulkString("radix-tree-nodes")
	w.Int(int64(s.RadixNodes()))
	w.BulkString("last-generated-id")
	replyID(w, s.LastID())
	w.BulkString("max-deleted-entry-id")
	replyID(w, s.MaxDeleted())
	w.BulkString("entries-added")
	w.Int(int64(s.Added()))
	w.BulkString("recorded-first-entry-id")
	replyID(w, s.First())
}

// stream1 writes the short form.
func stream1(w *resp.Writer, s *stream.Stream) {
	w.Map(10)
	about(w, s)
	w.BulkString("groups")
	w.Int(int64(s.Groups()))
	w.BulkString("first-entry")
	it := s.Range(stream.ID{}, stream.MaxID)
	e, ok := it.Next()
	entryOrNull(w, &e, ok)
	w.BulkString("last-entry")
	back := s.RangeReverse(stream.ID{}, stream.MaxID)
	e, ok = back.Next()
	entryOrNull(w, &e, ok)
}

func entryOrNull(w *resp.Writer, e *stream.Entry, ok bool) {
	if ok {
		entry(w, e)
	} else {
		w.Null()
	}
}

// full writes the long form, with at most count (0: all) of everything there is many of.
func full(w *resp.Writer, s *stream.Stream, count int64) {
	w.Map(9)
	about(w, s)
	w.BulkString("entries")
	replyRange(w, s, stream.ID{}, stream.MaxID, count, false)
	w.BulkString("groups")
	w.Array(s.Groups())
	s.EachGroup(func(name string, g *stream.Group) bool {
		w.Map(7)
		w.BulkString("name")
		w.BulkString(name)
		w.BulkString("last-delivered-id")
		replyID(w, g.Last)
		progress(w, s, g)
		w.BulkString("pel-count")
		w.Int(int64(g.Len()))
		w.BulkString("pending")
		n := limited(g.Len(), count)
		w.Array(n)
		it := g.PendingRange(stream.ID{}, stream.MaxID)
		for range n {
			p := it.Next()
			w.Array(4)
			replyID(w, p.ID)
			w.BulkString(g.NameOf(p))
			w.Int(p.Time)
			w.Int(p.Count)
		}
		w.BulkString("consumers")
		w.Array(g.Consumers())
		g.EachConsumer(func(c *stream.Consumer) bool {
			fullConsumer(w, g, c, count)
			return true
		})
		return true
	})
}

func fullConsumer(w *resp.Writer, g *stream.Group, c *stream.Consumer, count int64) {
	w.Map(5)
	w.BulkString("name")
	w.BulkString(c.Name)
	w.BulkString("seen-time")
	w.Int(c.Seen)
	w.BulkString("active-time")
	w.Int(c.Active)
	w.BulkString("pel-count")
	w.Int(int64(c.Len()))
	w.BulkString("pending")
	n := limited(c.Len(), count)
	w.Array(n)
	it := c.HeldRange(stream.ID{}, stream.MaxID)
	for range n {
		id, _ := it.Next()
		p := g.Pending(id)
		w.Array(3)
		replyID(w, id)
		w.Int(p.Time)
		w.Int(p.Count)
	}
}

// limited is n, or count if that is less and not 0.
func limited(n int, count int64) int {
	if count > 0 {
		return int(min(int64(n), count))
	}
	return n
}

func xinfoHelp(c *command.Call, _ command.Session) error {
	return command.ReplyHelp(c,
		"CONSUMERS <key> <groupname>",
		"    Show consumers of <groupname>.",
		"GROUPS <key>",
		"    Show the stream consumer groups.",
		"STREAM <key> [FULL [COUNT <count>]",
		"    Show information about the stream.")
}
