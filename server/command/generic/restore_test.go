package generic_test

import (
	"fmt"
	"strings"
	"testing"

	"heddle/db"
	"heddle/db/digest"
	"heddle/server/command/cmdtest"
	hashes "heddle/server/command/hash"
	lists "heddle/server/command/list"
	sets "heddle/server/command/set"
	"heddle/server/command/sortedset"
	"heddle/server/dispatch"
)

// payloadOf is what DUMP answers.
func payloadOf(e *cmdtest.Env, key string) string {
	raw := e.Argv("dump", key).Raw()
	return raw[strings.Index(raw, "\r\n")+2 : len(raw)-2]
}

// valueOf is a number for the value of a key.
func valueOf(e *cmdtest.Env, key string) digest.Sum {
	tx := e.Keyspace.NewTx()
	e.Keyspace.Lock(e.Keyspace.AllShards())
	defer e.Keyspace.Unlock(e.Keyspace.AllShards())
	tx.Begin(0, e.Now(), e.Keyspace.AllShards(), false)
	defer tx.End()
	it, _ := tx.Item([]byte(key))
	return digest.Value(&it, e.Now())
}

// TestRestoreLarge restores payloads that are parsed before the key is locked: what they
// become, and the order of errors, is the same.
func TestRestoreLarge(t *testing.T) {
	e := cmdtest.New(t, append(families(), lists.Family(), sets.Family(), hashes.Family(), sortedset.Family())...)
	noise := func(n int) string { // that does not compress
		b, x := make([]byte, n), uint32(1)
		for i := range b {
			x = x*1664525 + 1013904223
			b[i] = byte(x >> 24)
		}
		return string(b)
	}
	e.Argv("set", "packed", noise(2000)).OK()
	e.Argv("set", "big", noise(300<<10)).OK()
	for i := range 400 {
		n := fmt.Sprintf("%d-%s", i, noise(20))
		e.Argv("rpush", "list", n)
		e.Argv("sadd", "set", n)
		e.Argv("hset", "hash", n, n)
		e.Argv("zadd", "zset", fmt.Sprint(i), n)
	}
	for _, key := range []string{"packed", "big", "list", "set", "hash", "zset"} {
		payload := payloadOf(e, key)
		if len(payload) < 1<<10 {
			t.Fatalf("%s: only %d bytes", key, len(payload))
		}
		same := func(copied string) {
			t.Helper()
			if valueOf(e, copied) != valueOf(e, key) || e.Do("object encoding "+copied).Raw() != e.Do("object encoding "+key).Raw() {
				t.Errorf("%s: differs", copied)
			}
		}
		e.Argv("restore", key+"1", "0", payload).OK()
		same(key + "1")
		e.Argv("keydb.mvccrestore", key+"2", "1", "-1", payload).OK()
		same(key + "2")
		e.Pipeline([]string{"multi"}, []string{"restore", key + "3", "0", payload}, []string{"restore", key + "1", "0", payload},
			[]string{"keydb.mvccrestore", key + "4", "1", "-1", payload}, []string{"exec"}).
			Want("+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n+OK\r\n-BUSYKEY Target key name already exists.\r\n+OK\r\n")
		same(key + "3")
		same(key + "4")
	}
	// A value that nobody takes is given back, and nothing changes.
	payload := payloadOf(e, "big")
	e.Argv("set", "k", "v").OK()
	used := e.Keyspace.Used()
	torn := payload[:len(payload)-1]
	for _, c := range []struct{ args, want string }{
		{"k 0 P", "BUSYKEY Target key name already exists."},
		{"k x T", "BUSYKEY Target key name already exists."},
		{"k x P replace", "ERR value is not an integer or out of range"},
		{"k -1 P replace", "ERR Invalid TTL value, must be >= 0"},
		{"k -1 T replace", "ERR Invalid TTL value, must be >= 0"},
		{"k 0 T replace", "ERR DUMP payload version or checksum are wrong"},
		{"k 0 P bad", "ERR syntax error"},
		{"k 0 T freq 300", "ERR Invalid FREQ value, must be >= 0 and <= 255"},
		{"n 0 T", "ERR DUMP payload version or checksum are wrong"},
	} {
		args := append([]string{"restore"}, strings.Fields(c.args)...)
		args[3] = map[string]string{"P": payload, "T": torn}[args[3]]
		e.Argv(args...).WantError(c.want)
		e.Do("get k").WantText(`"v"`)
		e.Do("exists n").Want(":0\r\n")
		if now := e.Keyspace.Used(); now != used {
			t.Fatalf("%s: %d bytes of memory, before %d", c.args, now, used)
		}
	}
	e.Argv("keydb.mvccrestore", "n", "x", "0", payload).WantError("ERR Invalid MVCC timestamp")
	e.Argv("keydb.mvccrestore", "n", "1", "x", payload).WantError("ERR Invalid expire time")
	e.Argv("restore", "n", "5", payload, "absttl").OK() // that is long ago
	e.Do("exists n").Want(":0\r\n")
	if now := e.Keyspace.Used(); now != used {
		t.Errorf("%d bytes of memory, before %d", now, used)
	}
}

// BenchmarkRestore measures payloads of either way, each in a shard that others want.
func BenchmarkRestore(b *testing.B) {
	for _, size := range []int{16, 900, 2000, 100 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			e := cmdtest.NewWith(b, []cmdtest.Option{func(o *dispatch.Options, _ *db.Options) { o.Oplog, o.Event = nil, nil }}, families()...)
			e.Keyspace.ChangeSettings(func(s *db.Settings) { s.Limits.DumpCompress = false })
			e.Argv("set", "src", strings.Repeat("x", size)).OK()
			payload := payloadOf(e, "src")
			batch := []dispatch.Pending{{Client: e.Client.Client, Argv: [][]byte{[]byte("restore"), []byte("src"), []byte("0"), []byte(payload), []byte("replace")}}}
			b.ReportAllocs()
			for b.Loop() {
				e.Run(batch)
				e.Received()
			}
		})
	}
}
