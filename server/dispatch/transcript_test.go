package dispatch_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"heddle/server/command/cmdtest"
	"heddle/server/dispatch"
)

// step is a command of one of the clients.
type step struct {
	client int
	args   []string
}

const transcriptClients = 3

var stepForms = []string{
	"get K", "get K", "set K V", "set K V", "set K V nx get", "incr K", "append K V", "mget K L", "mset K V L V", "msetnx K V L V",
	"del K L", "getdel K", "exists K L K", "rename K L", "copy K L replace", "strlen K", "setrange K 3 V", "type K", "touch K L",
	"multi", "multi", "exec", "exec", "exec", "discard", "watch K L", "unwatch", "select 1", "select 0",
	"client reply skip", "client getname", "client setname n", "client no-touch on", "reset", "echo V", "ping",
	"get", "nosuch K", "incrby K V", "expire K 100", "ttl K", "persist K", "hello 3", "hello 2 setname N",
}

// drawSteps draws a stream of commands in which transactions, watches and
// mistakes meet on few keys.
func drawSteps(t *rapid.T) []step {
	key := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	value := rapid.SampledFrom([]string{"1", "7", "text", ""})
	one := rapid.Custom(func(t *rapid.T) step {
		words := strings.Split(rapid.SampledFrom(stepForms).Draw(t, "form"), " ")
		for i, w := range words {
			switch w {
			case "K", "L":
				words[i] = key.Draw(t, "key")
			case "V":
				words[i] = value.Draw(t, "value")
			}
		}
		return step{rapid.IntRange(0, transcriptClients-1).Draw(t, "client"), words}
	})
	return rapid.SliceOfN(one, 1, 80).Draw(t, "steps")
}

// transcript runs the steps in batches of the given sizes in turn and returns
// what each client received.
func transcript(t *testing.T, shards int, sizes []int, list []step) (out [transcriptClients]string) {
	e := newEnv(t, cmdtest.WithShards(shards))
	defer e.Close()
	clients := [transcriptClients]*cmdtest.Client{e.Client, e.NewClient(), e.NewClient()}
	for at, turn := 0, 0; at < len(list); turn++ {
		n := min(sizes[turn%len(sizes)], len(list)-at)
		batch := make([]dispatch.Pending, n)
		for i, s := range list[at : at+n] {
			argv := make([][]byte, len(s.args))
			for j, a := range s.args {
				argv[j] = []byte(a)
			}
			batch[i] = dispatch.Pending{Client: clients[s.client].Client, Argv: argv}
		}
		e.Run(batch)
		at += n
	}
	for i, c := range clients {
		out[i] = c.Received().Raw()
	}
	e.Log()
	return out
}

// TestSameTranscript runs random streams in different batches over different
// numbers of shards: clients cannot tell.
func TestSameTranscript(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		list := drawSteps(rt)
		sizes := rapid.SliceOfN(rapid.IntRange(1, 40), 1, 4).Draw(rt, "batches")
		shards := rapid.SampledFrom([]int{1, 2, 16, 64}).Draw(rt, "shards")
		want := transcript(t, 1, []int{1}, list)
		got := transcript(t, shards, sizes, list)
		if got != want {
			rt.Fatalf("in batches of %v over %d shards:\n%q\none by one:\n%q", sizes, shards, got, want)
		}
	})
}
