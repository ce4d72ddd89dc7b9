package clients

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// day is a day's work of go-redis over one protocol.
type day struct {
	*testing.T
	ctx context.Context
	*redis.Client
}

func TestGoRedis(t *testing.T) {
	port := start(t)
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprintf("RESP%d", protocol), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, Protocol: protocol, ReadTimeout: 20 * time.Second})
			defer c.Close()
			if err := c.FlushAll(ctx).Err(); err != nil {
				t.Fatal(err)
			}
			d := &day{t, ctx, c}
			d.pipelines()
			d.transactions()
			d.blocking()
			d.publishing()
			d.streams()
			d.collections()
		})
	}
}

// must stops the test at an error.
func (d *day) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// want compares the result of a command.
func want[T any](d *day, cmd interface{ Result() (T, error) }, want T) {
	d.Helper()
	got, err := cmd.Result()
	d.must(err)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		d.Fatalf("got %v, want %v", got, want)
	}
}

func (d *day) pipelines() {
	cmds, err := d.Pipelined(d.ctx, func(p redis.Pipeliner) error {
		for i := range 1000 {
			p.RPush(d.ctx, "list", i)
		}
		p.LLen(d.ctx, "list")
		return nil
	})
	d.must(err)
	want(d, cmds[1000].(*redis.IntCmd), 1000)
	_, err = d.TxPipelined(d.ctx, func(p redis.Pipeliner) error {
		p.HSet(d.ctx, "h", "a", 1, "b", 2)
		p.Incr(d.ctx, "n")
		return nil
	})
	d.must(err)
	want(d, d.HGetAll(d.ctx, "h"), map[string]string{"a": "1", "b": "2"})
}

// transactions lets four clients count together by WATCH.
func (d *day) transactions() {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for n := 0; n < 25; {
				err := d.Watch(d.ctx, func(tx *redis.Tx) error {
					v, err := tx.Get(d.ctx, "counter").Int()
					if err != nil && !errors.Is(err, redis.Nil) {
						return err
					}
					_, err = tx.TxPipelined(d.ctx, func(p redis.Pipeliner) error { return p.Set(d.ctx, "counter", v+1, 0).Err() })
					return err
				}, "counter")
				switch {
				case err == nil:
					n++
				case !errors.Is(err, redis.TxFailedErr):
					d.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	want(d, d.Get(d.ctx, "counter"), "100")
}

// blocking hands a hundred jobs to four consumers: each job once.
func (d *day) blocking() {
	var mu sync.Mutex
	var got []string
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				job, err := d.BLPop(d.ctx, 10*time.Second, "jobs").Result()
				if err != nil || job[1] == "stop" {
					if err != nil {
						d.Error(err)
					}
					return
				}
				mu.Lock()
				got = append(got, job[1])
				mu.Unlock()
			}
		})
	}
	var jobs []string
	for i := range 100 {
		jobs = append(jobs, fmt.Sprintf("job%03d", i))
		d.must(d.RPush(d.ctx, "jobs", jobs[i]).Err())
	}
	for range 4 {
		d.must(d.RPush(d.ctx, "jobs", "stop").Err())
	}
	all.Wait()
	slices.Sort(got)
	if !slices.Equal(got, jobs) {
		d.Fatalf("got %v", got)
	}
	if err := d.BRPop(d.ctx, time.Second, "nothing").Err(); !errors.Is(err, redis.Nil) {
		d.Fatalf("BRPOP of nothing: %v", err)
	}
}

func (d *day) publishing() {
	s := d.PSubscribe(d.ctx, "news.*")
	defer s.Close()
	_, err := s.Receive(d.ctx)
	d.must(err)
	for i := range 100 {
		want(d, d.Publish(d.ctx, "news.world", i), 1)
	}
	for i := range 100 {
		m, err := s.ReceiveMessage(d.ctx)
		d.must(err)
		if m.Channel != "news.world" || m.Payload != fmt.Sprint(i) {
			d.Fatalf("message %d: %v", i, m)
		}
	}
}

func (d *day) streams() {
	d.must(d.XGroupCreateMkStream(d.ctx, "s", "g", "$").Err())
	var ids []string
	for i := range 10 {
		id, err := d.XAdd(d.ctx, &redis.XAddArgs{Stream: "s", Values: []any{"i", i}}).Result()
		d.must(err)
		ids = append(ids, id)
	}
	read, err := d.XReadGroup(d.ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "c", Streams: []string{"s", ">"}, Count: 6}).Result()
	d.must(err)
	for i, m := range read[0].Messages {
		if m.ID != ids[i] || m.Values["i"] != fmt.Sprint(i) {
			d.Fatalf("message %d: %v", i, m)
		}
	}
	want(d, d.XAck(d.ctx, "s", "g", ids[:2]...), 2)
	p, err := d.XPending(d.ctx, "s", "g").Result()
	d.must(err)
	if p.Count != 4 || p.Lower != ids[2] || p.Consumers["c"] != 4 {
		d.Fatalf("XPENDING: %+v", p)
	}
	claimed, _, err := d.XAutoClaim(d.ctx, &redis.XAutoClaimArgs{Stream: "s", Group: "g", Consumer: "other", Start: "0", Count: 10}).Result()
	d.must(err)
	if len(claimed) != 4 {
		d.Fatalf("XAUTOCLAIM: %v", claimed)
	}
	groups, err := d.XInfoGroups(d.ctx, "s").Result()
	d.must(err)
	if len(groups) != 1 || groups[0].Lag != 4 {
		d.Fatalf("XINFO GROUPS: %+v", groups)
	}
}

func (d *day) collections() {
	want(d, d.ZAdd(d.ctx, "z", redis.Z{Score: 1.5, Member: "a"}, redis.Z{Score: 3, Member: "b"}), 2)
	want(d, d.ZRangeWithScores(d.ctx, "z", 0, -1), []redis.Z{{Score: 1.5, Member: "a"}, {Score: 3, Member: "b"}})
	want(d, d.ZScore(d.ctx, "z", "a"), 1.5)
	members := map[string]bool{}
	for i := range 1000 {
		members[fmt.Sprintf("member%d", i)] = true
	}
	d.must(d.SAdd(d.ctx, "set", slices.Collect(maps.Keys(members))).Err())
	for scan := d.SScan(d.ctx, "set", 0, "", 0).Iterator(); scan.Next(d.ctx); {
		delete(members, scan.Val())
	}
	if len(members) != 0 {
		d.Fatalf("SSCAN left out %v", members)
	}
	want(d, d.HSet(d.ctx, "session", "user", "ann", "token", "t"), 2)
	want(d, d.HExpire(d.ctx, "session", time.Hour, "token"), []int64{1})
	want(d, d.HTTL(d.ctx, "session", "user", "token"), []int64{-1, 3600})
	want(d, d.PFAdd(d.ctx, "hll", "a", "b", "c"), 1)
	want(d, d.PFCount(d.ctx, "hll"), 3)
	want(d, d.GeoAdd(d.ctx, "geo", &redis.GeoLocation{Name: "Palermo", Longitude: 13.361389, Latitude: 38.115556}), 1)
	want(d, d.Sort(d.ctx, "list", &redis.Sort{Order: "DESC", Count: 2}), []string{"999", "998"})
}
