package persist

import "time"

// Facts are what INFO tells of persistence.
type Facts struct {
	Started  int64 // Unix seconds, when the load began
	Total    int64 // bytes to load
	Read     int64 // of them loaded
	Loaded   int64 // keys
	LoadMem  int64 // memory in use when the file was made
	Changes  int64
	LastSave int64
	Percent  float64
	Keys     int64 // written by what runs
	All      int64 // that it has to write
	Forks    int64
	Fork     time.Duration

	RDB, AOF         Work
	LastKeys         int64 // that the last load of an RDB file found
	LastExpired      int64
	AOFOn            bool
	AOFPending       bool
	AOFFault         bool
	AOFSize, AOFBase int64
	AOFBuffer        int64
	AOFSyncing       bool
	AOFDelayed       int64
}

// Work is what INFO tells of saves, or of rewrites.
type Work struct {
	Running, Scheduled, Failed bool
	Took, Current              int64 // seconds; -1: there is none
	Count, Failures, COW       int64
}

// Facts returns what there is to tell. held says that the caller has all shards locked.
func (k *Keeper) Facts(held bool) (f Facts) {
	f.Changes = k.changes(held)
	f.AOFFault = k.writeFault() != nil
	l := &k.loading
	f.Started, f.Total, f.Read = l.began.Load(), l.total.Load(), l.read.Load()
	f.Loaded, f.LoadMem = l.keys.Load(), l.memory.Load()
	k.mu.Lock()
	defer k.mu.Unlock()
	f.LastSave, f.Forks, f.Fork = k.rdb.lastSave.Unix(), k.forks, k.begun
	f.LastKeys, f.LastExpired = k.rdb.loaded, k.rdb.expired
	f.RDB = Work{Scheduled: k.rdb.scheduled, Failed: k.rdb.failed, Took: seconds(k.rdb.took), Current: -1, Count: k.rdb.saves, COW: k.rdb.cow}
	a := &k.aof
	f.AOF = Work{Scheduled: a.scheduled, Failed: a.failed, Took: seconds(a.took), Current: -1, Count: a.count, Failures: a.failures, COW: a.cow}
	if t := k.work; t != nil {
		f.Percent, f.Keys, f.All = t.percent(), t.keys.Load(), t.total.Load()
		w := &f.RDB
		if t.kind == rewritingAOF {
			w = &f.AOF
		}
		w.Running, w.Current = true, seconds(k.o.Now().Sub(t.began))
	}
	f.AOFOn, f.AOFPending = a.mode != aofOff, a.mode == aofEnabling
	f.AOFSize, f.AOFBase = k.aofSizesLocked()
	if a.app != nil {
		st := a.app.Stats()
		f.AOFBuffer, f.AOFSyncing, f.AOFDelayed = st.Behind, st.Syncing, st.Delayed
	}
	return f
}
