package host

import (
	"testing"
	"time"

	"heddle/config"
	"heddle/db"
	"heddle/server"
	"heddle/server/dispatch"
)

func set(t *testing.T, c *config.Store, words ...string) {
	t.Helper()
	var pairs []config.Pair
	for i := 0; i < len(words); i += 2 {
		pairs = append(pairs, config.Pair{Name: words[i], Value: words[i+1]})
	}
	if err := c.Set(pairs, config.SetOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestDefaultsAgree holds what the parts do by themselves against what the
// configuration says by default.
func TestDefaultsAgree(t *testing.T) {
	c := config.New(config.Dirs{})
	if got, want := NetworkSettings(c), server.DefaultSettings(); got != want {
		t.Errorf("network: %+v, want %+v", got, want)
	}
	if got, want := KeyspaceSettings(c), *db.DefaultSettings(); got != want {
		t.Errorf("keyspace: %+v, want %+v", got, want)
	}
}

func TestSettings(t *testing.T) {
	c := config.New(config.Dirs{})
	set(t, c, "maxmemory", "200mb", "maxmemory-clients", "5%", "maxmemory-policy", "volatile-ttl",
		"client-output-buffer-limit", "replica 3 2 1", "requirepass", "x")
	n := NetworkSettings(c)
	if n.MaxMemoryClients != 10<<20 {
		t.Errorf("maxmemory-clients is %d", n.MaxMemoryClients)
	}
	if want := (server.OutputLimit{Hard: 3, Soft: 2, SoftSeconds: 1}); n.Output[dispatch.ClassReplica] != want {
		t.Errorf("limits %+v", n.Output)
	}
	if k := KeyspaceSettings(c); k.MaxMemory != 200<<20 || k.Policy != db.VolatileTTL {
		t.Errorf("keyspace %+v", k)
	}
	set(t, c, "hash-max-ziplist-entries", "7", "list-max-listpack-size", "-5", "zset-max-listpack-value", "1kb")
	if l := KeyspaceSettings(c).Limits; l.HashEntries != 7 || l.ListSize != -5 || l.ZSetValue != 1024 {
		t.Errorf("limits %+v", l)
	}
	if EngineSettings(c).RequirePass != "x" {
		t.Error("no password")
	}
	set(t, c, "maxmemory-clients", "7mb")
	if n := NetworkSettings(c); n.MaxMemoryClients != 7<<20 {
		t.Errorf("maxmemory-clients is %d", n.MaxMemoryClients)
	}
}

// TestEveryPolicyIsKnown: a policy of the configuration must be one of the keyspace.
func TestEveryPolicyIsKnown(t *testing.T) {
	for _, d := range config.Table() {
		if d.Name != "maxmemory-policy" {
			continue
		}
		for _, w := range d.Words {
			if _, ok := db.ParsePolicy(w.Name); !ok {
				t.Errorf("the keyspace does not know %s", w.Name)
			}
		}
	}
}

func TestOverTime(t *testing.T) {
	var o overTime
	at := time.Unix(1000, 0)
	f := func(over bool, after time.Duration, total, current int64) {
		t.Helper()
		at = at.Add(after)
		o.note(over, at)
		gotTotal, gotCurrent := o.times(at)
		if gotTotal != total || gotCurrent != current {
			t.Errorf("%d ms, %d ms now; want %d and %d", gotTotal, gotCurrent, total, current)
		}
	}
	f(false, 0, 0, 0)
	f(true, time.Second, 0, 0)
	f(true, time.Second, 1000, 1000)
	f(false, time.Second, 2000, 0)
	f(false, time.Second, 2000, 0)
	f(true, time.Second, 2000, 0)
	f(true, 5*time.Millisecond, 2005, 5)
}

func TestWithinIsBounded(t *testing.T) {
	start, n := time.Now(), 0
	within(100*time.Millisecond, 10, func() bool { n++; return true })
	if took := time.Since(start); took < 10*time.Millisecond || took > time.Second || n < 2 {
		t.Errorf("%d steps in %v", n, took)
	}
	n = 0
	within(time.Hour, 100, func() bool { n++; return n < 3 })
	if n != 3 {
		t.Errorf("%d steps", n)
	}
}
