package admin

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"heddle/server/stats"
)

func (r *report) stats() {
	st, c, k := r.f.d.Stats, r.f.d.Stats.Counters(), &r.facts.Keys
	kbps := func(rate stats.Rate) float64 { return float64(st.PerSecond(rate)) / 1024 }
	r.num("total_connections_received", c.ConnectionsReceived)
	r.num("total_commands_processed", c.Commands)
	r.num("instantaneous_ops_per_sec", st.PerSecond(stats.RateCommands))
	r.num("total_net_input_bytes", c.NetIn)
	r.num("total_net_output_bytes", c.NetOut)
	r.num("total_net_repl_input_bytes", c.ReplIn)
	r.num("total_net_repl_output_bytes", c.ReplOut)
	r.decimal("instantaneous_input_kbps", kbps(stats.RateNetIn), 2)
	r.decimal("instantaneous_output_kbps", kbps(stats.RateNetOut), 2)
	r.decimal("instantaneous_input_repl_kbps", kbps(stats.RateReplIn), 2)
	r.decimal("instantaneous_output_repl_kbps", kbps(stats.RateReplOut), 2)
	r.num("rejected_connections", c.ConnectionsRejected)
	r.zeros("sync_full", "sync_partial_ok", "sync_partial_err")
	r.num("expired_subkeys", k.ExpiredMembers)
	r.num("expired_keys", k.Expired)
	r.decimal("expired_stale_perc", k.StalePercent, 2)
	r.num("expired_time_cap_reached_count", k.ExpireTimeCapped)
	r.num("expire_cycle_cpu_milliseconds", k.ExpireMillis)
	r.num("evicted_keys", k.Evicted)
	r.num("evicted_clients", c.ClientsEvicted)
	r.num("total_eviction_exceeded_time", k.EvictionExceeded)
	r.num("current_eviction_exceeded_time", k.EvictionExceededNow)
	r.num("keyspace_hits", k.Hits)
	r.num("keyspace_misses", k.Misses)
	r.num("pubsub_channels", r.facts.PubSub.Channels)
	r.num("pubsub_patterns", r.facts.PubSub.Patterns)
	r.num("pubsubshard_channels", r.facts.PubSub.ShardChannels)
	r.num("latest_fork_usec", r.facts.Persistence.ForkMicros)
	r.num("total_forks", r.facts.Persistence.Forks)
	r.num("migrate_cached_sockets", r.facts.Clients.Migrating)
	r.zeros("slave_expires_tracked_keys")
	r.num("active_defrag_hits", r.facts.Memory.Compacted)
	r.num("active_defrag_misses", 0)
	r.num("active_defrag_key_hits", r.facts.Memory.Compacted)
	r.zeros("active_defrag_key_misses", "total_active_defrag_time", "current_active_defrag_time",
		"tracking_total_keys", "tracking_total_items", "tracking_total_prefixes")
	r.num("unexpected_error_replies", c.UnexpectedErrors)
	r.num("total_error_replies", c.ErrorReplies)
	r.num("dump_payload_sanitizations", r.facts.Persistence.Sanitized)
	r.num("total_reads_processed", c.Reads)
	r.num("total_writes_processed", c.Writes)
	r.zeros("io_threaded_reads_processed", "io_threaded_writes_processed")
	r.num("reply_buffer_shrinks", c.BufferShrinks)
	r.num("reply_buffer_expands", c.BufferExpands)
	r.num("eventloop_cycles", c.Cycles)
	r.num("eventloop_duration_sum", c.CycleNanos/1000)
	r.num("eventloop_duration_cmd_sum", c.CommandNanos/1000)
	r.num("instantaneous_eventloop_cycles_per_sec", st.PerSecond(stats.RateCycles))
	r.num("instantaneous_eventloop_duration_usec", st.CycleMicros())
	r.num("acl_access_denied_auth", c.DeniedAuth)
	r.num("acl_access_denied_cmd", c.DeniedCommand)
	r.num("acl_access_denied_key", c.DeniedKey)
	r.num("acl_access_denied_channel", c.DeniedChannel)
	r.decimal("instantaneous_lock_contention", k.LockWaiting, 2)
	r.decimal("avg_lock_contention", k.LockWaitingSinceBoot, 6)
	r.zeros("storage_provider_read_hits", "storage_provider_read_misses")
}

// zeros writes counters of things that this server does not do.
func (r *report) zeros(names ...string) {
	for _, n := range names {
		r.num(n, 0)
	}
}

func (r *report) commandStats() {
	all := r.f.d.Stats.Commands()
	for _, s := range r.f.d.Table().All() {
		c := &all[s.ID()]
		if c.Calls == 0 && c.Rejected == 0 {
			continue
		}
		r.str("cmdstat_"+s.FullName(), fmt.Sprintf(
			"calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
			c.Calls, c.Nanos/1000, ratio(c.Nanos, c.Calls)/1000, c.Rejected, c.Failed))
	}
}

func (r *report) errorStats() {
	all := r.f.d.Stats.Errors()
	for _, code := range slices.Sorted(maps.Keys(all)) {
		r.str("errorstat_"+code, "count="+strconv.FormatInt(all[code], 10))
	}
}

func (r *report) latencyStats() {
	percentiles := strings.Fields(r.f.d.Config.String("latency-tracking-info-percentiles"))
	for _, s := range r.f.d.Table().All() {
		h := r.f.d.Stats.Histogram(s.ID())
		if h == nil {
			continue
		}
		var line []string
		for _, p := range percentiles {
			f, err := strconv.ParseFloat(p, 64)
			if err != nil {
				continue
			}
			micros := float64(h.Percentile(f)) / 1000
			line = append(line, "p"+p+"="+strconv.FormatFloat(micros, 'f', 3, 64))
		}
		r.str("latency_percentiles_usec_"+s.FullName(), strings.Join(line, ","))
	}
}
