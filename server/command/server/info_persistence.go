package admin

func (r *report) persistence() {
	p := &r.facts.Persistence
	r.flag("loading", p.Loading)
	r.num("async_loading", 0)
	r.num("current_cow_peak", p.PeakCOW)
	r.num("current_cow_size", p.CurrentCOW)
	r.num("current_cow_size_age", 0)
	r.decimal("current_fork_perc", p.Percent, 2)
	r.num("current_save_keys_processed", p.SavedKeys)
	r.num("current_save_keys_total", p.TotalKeys)
	r.num("rdb_changes_since_last_save", p.Changes)
	r.flag("rdb_bgsave_in_progress", p.RDB.InProgress)
	r.num("rdb_last_save_time", p.LastSave)
	r.status("rdb_last_bgsave_status", p.RDB.Failed)
	r.num("rdb_last_bgsave_time_sec", p.RDB.Seconds)
	r.num("rdb_current_bgsave_time_sec", p.RDB.Current)
	r.num("rdb_saves", p.RDB.Count)
	r.num("rdb_last_cow_size", p.RDB.COW)
	r.num("rdb_last_load_keys_expired", p.KeysGone)
	r.num("rdb_last_load_keys_loaded", p.KeysLoaded)
	r.aof()
	if p.Loading {
		r.load()
	}
}

// status writes how something ended.
func (r *report) status(name string, failed bool) {
	if failed {
		r.str(name, "err")
		return
	}
	r.str(name, "ok")
}

func (r *report) aof() {
	p := &r.facts.Persistence
	a := &p.AOFFile
	r.flag("aof_enabled", a.Enabled)
	r.flag("aof_rewrite_in_progress", p.AOF.InProgress)
	r.flag("aof_rewrite_scheduled", p.AOF.Scheduled)
	r.num("aof_last_rewrite_time_sec", p.AOF.Seconds)
	r.num("aof_current_rewrite_time_sec", p.AOF.Current)
	r.status("aof_last_bgrewrite_status", p.AOF.Failed)
	r.num("aof_rewrites", p.AOF.Count)
	r.num("aof_rewrites_consecutive_failures", p.AOF.Failures)
	r.status("aof_last_write_status", a.WriteFailed)
	r.num("aof_last_cow_size", p.AOF.COW)
	r.num("module_fork_in_progress", 0)
	r.num("module_fork_last_cow_size", 0)
	if !a.Enabled {
		return
	}
	r.num("aof_current_size", a.Size)
	r.num("aof_base_size", a.Base)
	r.flag("aof_pending_rewrite", a.Pending)
	r.num("aof_buffer_length", a.Buffer)
	r.flag("aof_pending_bio_fsync", a.Syncing)
	r.num("aof_delayed_fsync", a.Delayed)
}

// load tells how far the load is, and when it may be done.
func (r *report) load() {
	l := &r.facts.Persistence.Load
	r.num("loading_start_time", l.Start)
	r.num("loading_total_bytes", l.Total)
	r.num("loading_rdb_used_mem", l.Memory)
	r.num("loading_loaded_bytes", l.Read)
	r.decimal("loading_loaded_perc", 100*ratio(l.Read, l.Total), 2)
	elapsed, left := r.facts.Server.NowMicros/1e6-l.Start, int64(1)
	if l.Read > 0 {
		left = int64(float64(elapsed) * ratio(max(l.Total-l.Read, 0), l.Read))
	}
	r.num("loading_eta_seconds", left)
	r.num("loading_loaded_keys", l.Keys)
}
