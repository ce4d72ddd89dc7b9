package server_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/server"
	"heddle/server/dispatch"
)

func confirmation(channel string, n int) string {
	return fmt.Sprintf("*3\r\n$9\r\nsubscribe\r\n%s:%d\r\n", bulk(channel), n)
}

func message(channel, payload string) string {
	return "*3\r\n$7\r\nmessage\r\n" + bulk(channel) + bulk(payload)
}

func fourWorkers(o *server.Options) { o.Workers, o.Settings.MinClientsPerThread = 4, 0 }

// Many subscribers on several workers get all that several clients publish, short
// and long messages, those of each publisher in order.
func TestMessagesToMany(t *testing.T) {
	t.Parallel()
	f := start(t, fourWorkers)
	const subscribers, publishers, messages = 150, 4, 60
	payload := func(p, n int) string {
		text := fmt.Sprintf("%d/%d:", p, n)
		if n%10 == 0 {
			return text + string(pattern(30_000))
		}
		return text
	}
	list := make([]*client, subscribers)
	for i := range list {
		list[i] = f.dial()
		list[i].do(confirmation("news", 1), "subscribe", "news")
	}
	var all sync.WaitGroup
	for p := range publishers {
		all.Go(func() {
			c := f.dial()
			for n := range messages {
				c.do(fmt.Sprintf(":%d\r\n", subscribers), "publish", "news", payload(p, n))
			}
		})
	}
	for i, c := range list {
		all.Go(func() {
			next := make([]int, publishers)
			for range publishers * messages {
				_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
				got, err := c.reply()
				if err != nil {
					t.Errorf("subscriber %d: %v", i, err)
					return
				}
				var p, n int
				if _, err := fmt.Sscanf(strings.Split(got, "\r\n")[6], "%d/%d:", &p, &n); err != nil || n != next[p] {
					t.Errorf("subscriber %d got %.80q, want number %d: %v", i, got, next[p], err)
					return
				}
				if got != message("news", payload(p, n)) {
					t.Errorf("subscriber %d got %.80q", i, got)
					return
				}
				next[p]++
			}
		})
	}
	all.Wait()
	f.dial().do("*2\r\n"+bulk("news")+fmt.Sprintf(":%d\r\n", subscribers), "pubsub", "numsub", "news")
	for _, c := range list {
		c.Close()
	}
	eventually(t, "subscribers that left are forgotten", func() bool { return f.engine.Hub().Distinct(0) == 0 })
	eventually(t, "all is given back", func() bool { return f.ClientMemory() < 100<<10 })
}

// Who does not read what is pushed is closed, at once above the hard limit.
func TestSlowSubscribers(t *testing.T) {
	t.Parallel()
	f := start(t, fourWorkers, func(o *server.Options) {
		o.Settings.Output[dispatch.ClassPubSub] = server.OutputLimit{Hard: 1 << 20}
	})
	closes := func() int64 { return f.engine.Stats().Counters().OutputLimitCloses }
	publisher := f.dial()
	flood := func(size int, until func() bool) {
		t.Helper()
		body := string(pattern(size))
		for end := time.Now().Add(20 * time.Second); !until(); {
			publisher.send(bytes.Repeat(cmd("publish", "news", body), 50))
			for range 50 {
				if _, err := publisher.reply(); err != nil || time.Now().After(end) {
					t.Fatalf("the slow subscriber of messages of %d bytes is still there: %v", size, err)
				}
			}
			f.Housekeep(1)
		}
	}
	for i, size := range []int{100, 3000, 50_000} {
		slow, quick := f.dial(), f.dial()
		slow.do(confirmation("news", 1), "subscribe", "news")
		quick.do(confirmation("other", 1), "subscribe", "other")
		flood(size, func() bool { return closes() == int64(i+1) })
		eventually(t, "it is forgotten", func() bool { return f.engine.Hub().Distinct(0) == 1 })
		publisher.do(":1\r\n", "publish", "other", "x")
		quick.want(message("other", "x"))
		quick.Close()
		eventually(t, "both are gone", func() bool { return f.engine.Hub().Distinct(0) == 0 })
	}
	f.Configure(func(s *server.Settings) {
		s.Output[dispatch.ClassPubSub] = server.OutputLimit{Soft: 100 << 10, SoftSeconds: 1}
	})
	slow := f.dial()
	slow.do(confirmation("news", 1), "subscribe", "news")
	flood(3000, func() bool { return closes() == 4 })
	if f.log.count("scheduled to be closed ASAP for overcoming of output buffer limits.") != 4 {
		t.Errorf("the log says %q", f.log.lines)
	}
	eventually(t, "all is given back", func() bool { return f.ClientMemory() < 100<<10 })
}

// A message never stands within a reply, not even within one that is made while it
// is sent.
func TestMessagesBetweenReplies(t *testing.T) {
	t.Parallel()
	f := start(t, fourWorkers)
	c, publisher := f.dial(), f.dial()
	c.send(cmd("hello", "3"))
	c.send(cmd("subscribe", "news"))
	for line := ""; line != "news\r\n"; {
		var err error
		if line, err = c.r.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	c.want(":1\r\n")
	const rounds, elements = 20, 100_000
	stop := make(chan struct{})
	var publishing sync.WaitGroup
	publishing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				publisher.send(cmd("publish", "news", "hi"))
				if got, err := publisher.reply(); err != nil || got != ":1\r\n" {
					t.Errorf("publishing: %q, %v", got, err)
					return
				}
			}
		}
	})
	want := counted(3, elements)
	push := ">" + message("news", "hi")[1:]
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Second))
	pushed := 0
	for range rounds {
		c.send(cmd("count", "k", fmt.Sprint(elements)))
		for {
			head, err := c.r.Peek(1)
			if err != nil {
				t.Fatal(err)
			}
			if head[0] != '>' {
				break
			}
			got := make([]byte, len(push))
			if _, err := io.ReadFull(c.r, got); err != nil || string(got) != push {
				t.Fatalf("pushed %q, %v", got, err)
			}
			pushed++
		}
		got := make([]byte, len(want))
		if _, err := io.ReadFull(c.r, got); err != nil || string(got) != want {
			at := 0
			for at < len(want) && got[at] == want[at] {
				at++
			}
			t.Fatalf("byte %d of the reply is wrong: %.100q, %v", at, got[at:], err)
		}
	}
	close(stop)
	publishing.Wait()
	if pushed == 0 {
		t.Error("nothing was pushed meanwhile")
	}
}

// Who publishes without waiting for replies does not overrun a worker that has to
// deliver each message to many: its subscribers get all, and none is closed.
func TestQuickPublisher(t *testing.T) {
	t.Parallel()
	const subscribers, messages = 40, 20_000
	f := start(t, func(o *server.Options) {
		o.Workers, o.Settings.MinClientsPerThread, o.Restless = 2, subscribers, false
		o.Settings.Output[dispatch.ClassPubSub] = server.OutputLimit{Hard: 8 << 20}
	})
	list := make([]*client, subscribers)
	for i := range list {
		list[i] = f.dial()
		list[i].do(confirmation("news", 1), "subscribe", "news")
	}
	publisher := f.dial()
	body := string(pattern(1000))
	var all sync.WaitGroup
	for i, c := range list {
		all.Go(func() {
			_ = c.SetReadDeadline(time.Now().Add(60 * time.Second))
			if n, err := io.CopyN(io.Discard, c.r, int64(messages*len(message("news", body)))); err != nil {
				t.Errorf("subscriber %d got %d bytes: %v", i, n, err)
			}
		})
	}
	all.Go(func() { publisher.send(bytes.Repeat(cmd("publish", "news", body), messages)) })
	all.Go(func() {
		for range messages {
			if got, err := publisher.reply(); err != nil || got != fmt.Sprintf(":%d\r\n", subscribers) {
				t.Errorf("got %q: %v", got, err)
				return
			}
		}
	})
	all.Wait()
	if f.WorkerClients()[1] == 0 {
		t.Error("the publisher is on the subscribers' worker")
	}
}
