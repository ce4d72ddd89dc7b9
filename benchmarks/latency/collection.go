package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// collection measures changes of one large sorted set, alone and while a snapshot
// of it is read, and what others notice when it is unlinked.
func (o options) collection(s *server) error {
	if err := s.fillSet(o.members); err != nil {
		return err
	}
	fmt.Printf("a sorted set of %d members: RSS %d MB, %d bytes a member\n", o.members, s.RSS()>>20, (s.RSS()-s.empty)/int64(o.members))
	alone, err := s.change(o.members, context.Background(), o.span)
	if err != nil {
		return err
	}
	fmt.Println("ZADD alone:                    ", alone)
	ctx, cancel := context.WithTimeout(context.Background(), o.span)
	defer cancel()
	before, walks := s.RSS(), make(chan walked)
	go func() { walks <- s.repeat(ctx, "DEBUG DIGEST") }()
	beside, err := s.change(o.members, ctx, o.span)
	if err != nil {
		return err
	}
	w := <-walks
	if w.err != nil {
		return w.err
	}
	fmt.Printf("ZADD while a snapshot is read:  %v; %d times read, RSS %+d MB; p99.9 %.2f x\n",
		beside, w.times, (s.RSS()-before)>>20, float64(beside.p999)/float64(alone.p999))
	return s.unlink()
}

// fillSet fills the sorted set "z".
func (s *server) fillSet(members int) error {
	c, err := s.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	for i := 0; i < members; {
		n := min(64, members-i)
		for range n {
			c.send("ZADD", "z", strconv.Itoa(rand.IntN(1<<30)), key(i))
			i++
		}
		if err := c.flush(n); err != nil {
			return err
		}
	}
	return nil
}

// change gives members new scores, one after the other, until the context or the span ends.
func (s *server) change(members int, ctx context.Context, span time.Duration) (summary, error) {
	c, err := s.dial()
	if err != nil {
		return summary{}, err
	}
	defer c.Close()
	var all []time.Duration
	for begin := time.Now(); ctx.Err() == nil && time.Since(begin) < span; {
		t := time.Now()
		if _, err := c.ask("ZADD", "z", strconv.Itoa(rand.IntN(1<<30)), key(rand.IntN(members))); err != nil {
			return summary{}, err
		}
		all = append(all, time.Since(t))
	}
	return summarize(all), nil
}

// unlink removes the set while another client asks without pause, and for a while
// after.
func (s *server) unlink() error {
	c, err := s.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	others := make(chan summary, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	go func() { others <- s.ping(ctx) }()
	time.Sleep(time.Second)
	t := time.Now()
	if _, err := c.ask("UNLINK", "z"); err != nil {
		return err
	}
	took := time.Since(t)
	sum := <-others
	fmt.Printf("UNLINK took %v; others, 1 s before to 4 s after: %v; RSS then %d MB\n", took.Round(time.Microsecond), sum, s.RSS()>>20)
	return nil
}

// ping asks without pause.
func (s *server) ping(ctx context.Context) summary {
	c, err := s.dial()
	if err != nil {
		return summary{}
	}
	defer c.Close()
	var all []time.Duration
	for ctx.Err() == nil {
		t := time.Now()
		if _, err := c.ask("PING"); err != nil {
			break
		}
		all = append(all, time.Since(t))
	}
	return summarize(all)
}
