package persist

// SetHistory applies aof-disable-auto-gc: when files that rewrites replaced are not to be
// kept any more, those that are there go at once. held says that the caller has all shards
// locked, in EXEC: then they go soon.
func (k *Keeper) SetHistory(held bool) {
	k.mu.Lock()
	st := k.aof.store
	k.mu.Unlock()
	if st == nil {
		return
	}
	keep := k.o.Config.Bool("aof-disable-auto-gc")
	st.SetKeepHistory(keep)
	if keep {
		return
	}
	clean := func() {
		if err := st.Clean(); err != nil {
			k.o.Log.Warningf("%v", err)
		}
	}
	if !held {
		clean()
		return
	}
	k.running.Go(clean)
}
