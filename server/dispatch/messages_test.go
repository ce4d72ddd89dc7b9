package dispatch_test

import (
	"fmt"
	"strings"
	"testing"

	"heddle/server/command/pubsub"
	"heddle/server/dispatch"
)

const subscribedNews = "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n"

func newsMessage(text string) string {
	return fmt.Sprintf("*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$%d\r\n%s\r\n", len(text), text)
}

func pending(c *workerConn, args ...string) dispatch.Pending {
	argv := make([][]byte, len(args))
	for i, a := range args {
		argv[i] = []byte(a)
	}
	return dispatch.Pending{Client: c.c, Argv: argv}
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %.300q, want %.300q", got, want)
	}
}

// What was published before a command was sent comes before its reply, also where the
// publisher is on another worker.
func TestMessagesComeFirst(t *testing.T) {
	e := testEngine(t, pubsub.Family())
	here, there := newWorker(e), newWorker(e)
	c, p := here.connect(), there.connect()
	expect(t, here.do(c, "subscribe", "news"), subscribedNews)
	expect(t, there.do(p, "publish", "news", "1"), ":1\r\n")
	expect(t, here.do(c, "ping"), newsMessage("1")+"*2\r\n$4\r\npong\r\n$0\r\n\r\n")
	expect(t, there.do(p, "publish", "news", "2"), ":1\r\n")
	expect(t, here.do(c, "reset"), newsMessage("2")+"+RESET\r\n")
	expect(t, here.do(c, "subscribe", "news"), subscribedNews)
	q := here.connect()
	here.x.RunBatch([]dispatch.Pending{pending(q, "publish", "news", "3"), pending(c, "reset")})
	expect(t, q.take(), ":1\r\n")
	expect(t, c.take(), newsMessage("3")+"+RESET\r\n")
}

// Who publishes faster than another worker delivers waits for it; its commands stay
// in order, and other clients go on.
func TestPublishersWait(t *testing.T) {
	const messages = 2000
	e := testEngine(t, pubsub.Family())
	here, there := newWorker(e), newWorker(e)
	c, p, other := here.connect(), there.connect(), there.connect()
	expect(t, here.do(c, "subscribe", "news"), subscribedNews)
	payload := func(i int) string { return fmt.Sprintf("%04d%s", i, strings.Repeat("x", 1000)) }
	var batch []dispatch.Pending
	for i := range messages {
		batch = append(batch, pending(p, "publish", "news", payload(i)))
		if i%100 == 0 {
			batch = append(batch, pending(p, "echo", "x"))
		}
	}
	got, most, rounds := "", 0, 0
	for left := batch; len(left) > 0; rounds++ {
		round := append(left[:len(left):len(left)], pending(other, "ping"))
		there.x.RunBatch(round)
		expect(t, other.take(), "+PONG\r\n")
		n := 0
		for n < len(left) && round[n].Done {
			n++
		}
		for _, x := range round[n:len(left)] {
			if x.Done {
				t.Fatal("a command ran before an earlier one of its client")
			}
		}
		left = left[n:]
		p.take()
		text := strings.TrimSuffix(here.do(c, "ping"), "*2\r\n$4\r\npong\r\n$0\r\n\r\n")
		got, most = got+text, max(most, len(text))
	}
	var want strings.Builder
	for i := range messages {
		want.WriteString(newsMessage(payload(i)))
	}
	expect(t, got, want.String())
	if most > 512<<10 || rounds < 4 {
		t.Errorf("up to %d bytes waited, in %d rounds", most, rounds)
	}
}

// What a pause held back runs when that is over, however much waits to be sent to
// its client.
func TestPauseWithFullOutput(t *testing.T) {
	w := newWorker(testEngine(t))
	c, d := w.connect(), w.connect()
	expect(t, w.do(d, "client", "pause", "100000", "write"), "+OK\r\n")
	expect(t, w.do(c, "set", "k", "v"), "")
	c.w.Raw(make([]byte, 2<<20)) // lines of MONITOR, say
	expect(t, w.do(d, "client", "unpause"), "+OK\r\n")
	w.drain()
	if got := c.take()[2<<20:]; got != "+OK\r\n" || c.c.Blocked() {
		t.Errorf("got %q", got)
	}
	c.w.Raw(make([]byte, 2<<20))
	if got := w.do(c, "get", "k")[2<<20:]; got != "$1\r\nv\r\n" {
		t.Errorf("got %q", got)
	}
}
