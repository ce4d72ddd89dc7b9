package admin

import (
	"math"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// keyspaceSpecs: DBSIZE, FLUSHDB [ASYNC | SYNC], FLUSHALL [ASYNC | SYNC],
// SWAPDB index1 index2
func (f *family) keyspaceSpecs() []*command.Spec {
	succeeded := []string{tipAllShards, tipAllSucceeded}
	const cats = command.CatKeyspace | command.CatDangerous
	return []*command.Spec{{
		Name: "dbsize", Arity: 1, Flags: command.Fast | command.Reads, ACL: command.CatKeyspace, Group: group,
		Tips: []string{tipAllShards, tipSum}, Control: dbsize,
	}, {
		Name: "flushdb", Arity: -1, Flags: command.Writes | command.AllShards, ACL: cats, Group: group,
		Tips: succeeded, Control: f.flushDB,
	}, {
		Name: "flushall", Arity: -1, Flags: command.Writes | command.AllShards, ACL: cats, Group: group,
		Tips: succeeded, Control: f.flushAll,
	}, {
		Name: "swapdb", Arity: 3, Flags: command.Fast | command.Writes | command.AllShards, ACL: cats, Group: group,
		Control: swapDB,
	}}
}

func dbsize(c *command.Call, s command.Session) error {
	c.Reply.Int(s.Keyspace().Len(s.DB()))
	return nil
}

func (f *family) flushDB(c *command.Call, s command.Session) error { return f.flush(c, s, s.DB()) }

func (f *family) flushAll(c *command.Call, s command.Session) error { return f.flush(c, s, -1) }

// flush empties database n, all if -1. KeyDB's word CACHE, which drops only
// what memory holds of a database on flash, is known; nothing lies on flash.
func (f *family) flush(c *command.Call, s command.Session, n int) error {
	async, cache := f.d.Config.String("lazyfree-lazy-user-flush") == "yes", false
	switch {
	case c.Args.Word("async"):
		async = true
	case c.Args.Word("cache"):
		cache = true
	case c.Args.Word("sync"):
		async = false
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	if cache {
		return errNoFlash
	}
	var freed <-chan struct{}
	if w := s.Keyspace(); async || s.InExec() || little(w, n) {
		w.Flush(n, async)
	} else {
		_, freed = w.FlushLater(n)
	}
	var save func()
	if n < 0 {
		save = f.d.Server.Flushed(s.InExec())
	}
	if freed == nil && save == nil {
		c.Reply.OK()
		return nil
	}
	return c.Aside(func(w *resp.Writer) {
		if freed != nil {
			<-freed
		}
		if save != nil {
			save()
		}
		w.OK()
	})
}

// flushAtOnce is up to how many keys are freed with all shards locked, which takes some
// hundred microseconds, and flushBytes how much memory there may be then: the system takes 40 us
// and more to take a megabyte back, so that 200 values of 6 MB took 120 ms. The client of
// FLUSHALL SYNC waits until more is freed, all others do not.
const (
	flushAtOnce = 4096
	flushBytes  = 16 << 20
)

// little reports whether database db, all if -1, has no more than that.
func little(w db.Whole, n int) bool {
	if w.Used() > flushBytes {
		return false
	}
	if n >= 0 {
		return w.Len(n) <= flushAtOnce
	}
	keys := int64(0)
	for i := range w.Databases() {
		keys += w.Len(i)
	}
	return keys <= flushAtOnce
}

const (
	errNoFlash  resp.Error = "ERR Cannot flush cache without storage provider set"
	errFirstDB  resp.Error = "ERR invalid first DB index"
	errSecondDB resp.Error = "ERR invalid second DB index"
)

func swapDB(c *command.Call, s command.Session) error {
	a := c.Args.IntRange(math.MinInt32, math.MaxInt32, errFirstDB)
	b := c.Args.IntRange(math.MinInt32, math.MaxInt32, errSecondDB)
	if err := c.Args.Done(); err != nil {
		return err
	}
	w := s.Keyspace()
	if n := int64(w.Databases()); a < 0 || a >= n || b < 0 || b >= n {
		return resp.ErrDBIndex
	}
	w.Swap(int(a), int(b))
	c.Reply.OK()
	return nil
}
