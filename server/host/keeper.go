package host

import (
	"time"

	"heddle/config"
	admin "heddle/server/command/server"
	"heddle/server/persist"
)

// What the commands of persistence do is the Keeper's; it is there before any command
// is.

// Save is SAVE.
func (h *Host) Save() error { return h.Keeper.Save() }

// BGSave is BGSAVE.
func (h *Host) BGSave(schedule, held bool) (string, error) { return h.Keeper.BGSave(schedule, held) }

// BGRewriteAOF is BGREWRITEAOF.
func (h *Host) BGRewriteAOF(held bool) (string, error) { return h.Keeper.BGRewriteAOF(held) }

// LastSave is the Unix time of the last good save.
func (h *Host) LastSave() int64 { return h.Keeper.LastSave() }

// Flushed is told of FLUSHALL.
func (h *Host) Flushed(held bool) func() { return h.Keeper.Flushed(held) }

// Backup is HEDDLE.BACKUP.
func (h *Host) Backup(dir string, local bool) (admin.BackupFacts, error) {
	b, err := h.Keeper.Backup(dir, h.Config.Allowed("enable-protected-configs", local))
	return admin.BackupFacts{Dir: b.Dir, Files: b.Files, Keys: b.Keys, Bytes: b.Bytes, Millis: b.Took.Milliseconds()}, err
}

// Reload is DEBUG RELOAD.
func (h *Host) Reload(o admin.ReloadOptions) error {
	return h.Keeper.Reload(persist.ReloadOptions{NoSave: o.NoSave, NoFlush: o.NoFlush, Merge: o.Merge})
}

// LoadAOF is DEBUG LOADAOF.
func (h *Host) LoadAOF() error { return h.Keeper.ReloadAOF() }

// SetFlushSleep is DEBUG AOF-FLUSH-SLEEP.
func (h *Host) SetFlushSleep(micros int64) {
	h.Keeper.SetFlushSleep(time.Duration(micros) * time.Microsecond)
}

// Hold has all commands of all clients wait, once those that run are done: for the Keeper,
// which is made before the network is.
func (h *Host) Hold() (release func()) {
	h.Engine.HoldAll()
	h.Network.Settle()
	return h.Engine.LetGo
}

// patience is how long the server waits for its data to be loaded before it lets clients
// in. What is loaded by then answers nobody -LOADING.
const patience = 100 * time.Millisecond

// load loads the data in a goroutine; its end is told by the channel.
func (h *Host) load() <-chan error {
	done := make(chan error, 1)
	go func() { done <- h.Keeper.Start() }()
	return done
}

// waitLoad waits for the load for some time. over says that it has come to its end.
func waitLoad(done <-chan error) (over bool, err error) {
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case err := <-done:
		return true, err
	case <-t.C:
		return false, nil
	}
}

// stopOptions are what a signal wants, by its directive.
func stopOptions(bits int64) persist.StopOptions {
	return persist.StopOptions{Save: bits&config.ShutdownSave != 0, NoSave: bits&config.ShutdownNoSave != 0, Force: bits&config.ShutdownForce != 0}
}

// persistenceFacts are INFO's.
func (h *Host) persistenceFacts(p *admin.PersistenceFacts, held bool, kept int64) {
	f := h.Keeper.Facts(held)
	work := func(w persist.Work) admin.WorkFacts {
		return admin.WorkFacts{
			InProgress: w.Running, Scheduled: w.Scheduled, Failed: w.Failed, Seconds: w.Took, Current: w.Current, Count: w.Count,
			Failures: w.Failures, COW: w.COW,
		}
	}
	*p = admin.PersistenceFacts{
		Loading: h.Engine.Loading(), Load: admin.LoadFacts{Start: f.Started, Total: f.Total, Read: f.Read, Keys: f.Loaded, Memory: f.LoadMem},
		Changes: f.Changes, LastSave: f.LastSave, CurrentCOW: kept, PeakCOW: h.mostKept(kept),
		Percent: f.Percent, SavedKeys: f.Keys, TotalKeys: f.All, Forks: f.Forks, ForkMicros: f.Fork.Microseconds(),
		RDB: work(f.RDB), AOF: work(f.AOF), KeysLoaded: f.LastKeys, KeysGone: f.LastExpired,
		AOFFile: admin.AOFFacts{
			Enabled: f.AOFOn, WriteFailed: f.AOFFault, Size: f.AOFSize, Base: f.AOFBase, Pending: f.AOFPending,
			Buffer: f.AOFBuffer, Syncing: f.AOFSyncing, Delayed: f.AOFDelayed,
		},
	}
}
