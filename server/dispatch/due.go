package dispatch

// Members of a collection that are due are passed over or removed a few at a time by
// commands, see package db. Where so many are due that a command which cannot pass over
// them would keep its shard for long (db.ErrDue), its client is parked as if it had gone
// away; a goroutine removes them, some under each lock, and the command runs again. In
// EXEC, and for a blocked client that is served, all are removed at once.

// clearDue parks a command that failed with db.ErrDue, and removes what is due where that
// came from. The shards of the command are locked still.
func (x *Executor) clearDue(p *Pending, c *Client) {
	c.w.Rewind(x.mark)
	database, hash := x.tx.Cleared()
	k := x.hold(p, c, forItself)
	k.again = true
	e, now := x.e, x.now
	e.asides.Add(1)
	go func() {
		defer e.asides.Done()
		v := k.runAway(func() any {
			e.ks.ClearDue(database, hash, now)
			return nil
		})
		e.WakeReaders()
		if !k.gone.Load() {
			k.result = v
			k.post()
		}
	}()
}

// clearDueOne is clearDue on the short way, to its end.
func (x *Executor) clearDueOne(p *Pending, c *Client) {
	x.clearDue(p, c)
	x.unlockOne()
	if x.lent != nil {
		x.dropBig(p)
	}
}
