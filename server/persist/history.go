package persist

// SetHistory applies aof-disable-auto-gc: when files that rewrites replaced are not to be
// kept any more, those that are there go at once.
func (k *Keeper) SetHistory() {
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
	if err := st.Clean(); err != nil {
		k.o.Log.Warningf("%v", err)
	}
}
