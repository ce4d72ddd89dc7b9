package sortedset

import (
	"math"

	"heddle/db"
	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
)

// readSpecs: ZCARD key, ZSCORE key member, ZMSCORE key member [member ...],
// ZRANK key member [WITHSCORE], ZREVRANK key member [WITHSCORE], ZCOUNT key min max,
// ZLEXCOUNT key min max, ZRANDMEMBER key [count [WITHSCORES]],
// ZSCAN key cursor [MATCH pattern] [COUNT count]
func readSpecs() []*command.Spec {
	zcard := reading("zcard", 2, command.Fast, zcard)
	zcard.Keys = command.Key(1, command.KeyRO)
	random, scan := reading("zrandmember", -2, 0, zrandmember), reading("zscan", -3, 0, zscan)
	random.Tips = []string{"nondeterministic_output"}
	scan.Tips = random.Tips
	return []*command.Spec{
		zcard, random, scan,
		reading("zscore", 3, command.Fast, zscore),
		reading("zmscore", -3, command.Fast, zmscore),
		reading("zrank", -3, command.Fast, func(c *command.Call, v db.View) error { return rank(c, v, false) }),
		reading("zrevrank", -3, command.Fast, func(c *command.Call, v db.View) error { return rank(c, v, true) }),
		reading("zcount", 4, command.Fast, zcount),
		reading("zlexcount", 4, command.Fast, zlexcount),
	}
}

func zcard(c *command.Call, v db.View) error {
	z, err := zset.ReadFew(v, c.Args.Key())
	if err != nil {
		return err
	}
	c.Reply.Int(int64(z.Len()))
	return nil
}

func zscore(c *command.Call, v db.View) error {
	z, err := zset.ReadFew(v, c.Args.Key())
	if err != nil {
		return err
	}
	score, found := z.Find(c.Args.Bytes())
	replyScore(c.Reply, score, found)
	return nil
}

func zmscore(c *command.Call, v db.View) error {
	z, err := zset.ReadFew(v, c.Args.Key())
	if err != nil {
		return err
	}
	members := c.Args.Rest()
	c.Reply.Array(len(members))
	for _, m := range members {
		score, found := z.Find(m)
		replyScore(c.Reply, score, found)
	}
	return nil
}

// rank is ZRANK, and ZREVRANK if rev is set.
func rank(c *command.Call, v db.View, rev bool) error {
	key, member := c.Args.Key(), c.Args.Bytes()
	if c.Args.Len() > 1 {
		return c.Spec.ErrArity()
	}
	withScore := c.Args.Word("withscore")
	if err := c.Args.Done(); err != nil {
		return err
	}
	z, err := zset.Read(v, key)
	if err != nil {
		return err
	}
	at, score, found := z.Rank(member)
	switch {
	case !found && withScore:
		c.Reply.NullArray()
		return nil
	case !found:
		c.Reply.Null()
		return nil
	case rev:
		at = z.Len() - 1 - at
	}
	if withScore {
		c.Reply.Array(2)
	}
	c.Reply.Int(int64(at))
	if withScore {
		c.Reply.Double(score)
	}
	return nil
}

func zcount(c *command.Call, v db.View) error {
	key := c.Args.Key()
	r, err := parseScores(c.Args.Bytes(), c.Args.Bytes())
	if err != nil {
		return err
	}
	z, err := zset.Read(v, key)
	if err != nil {
		return err
	}
	from, to := z.ByScore(r)
	c.Reply.Int(int64(to - from))
	return nil
}

func zlexcount(c *command.Call, v db.View) error {
	key := c.Args.Key()
	r, err := parseLex(c.Args.Bytes(), c.Args.Bytes())
	if err != nil {
		return err
	}
	z, err := zset.Read(v, key)
	if err != nil {
		return err
	}
	from, to := z.ByLex(r, false)
	c.Reply.Int(int64(to - from))
	return nil
}

func zscan(c *command.Call, v db.View) error {
	key, cursor := c.Args.Key(), c.Args.Cursor()
	if err := c.Args.Err(); err != nil {
		return err
	}
	z, err := zset.Read(v, key)
	if err != nil {
		return err
	}
	var found resp.Writer
	if z.Len() == 0 {
		command.ReplyScan(c.Reply, 0, 0, &found)
		return nil
	}
	o := c.Args.ScanOptions(false)
	if err := c.Args.Done(); err != nil {
		return err
	}
	n := 0
	listpack := z.IsListpack()
	next := z.Scan(cursor, o.Count, func(member []byte, score float64) {
		if o.Matches(member) {
			found.Bulk(member)
			scanScore(&found, score, listpack)
			n += 2
		}
	})
	command.ReplyScan(c.Reply, next, n, &found)
	return nil
}

// scanScore writes a score as ZSCAN does: always a string, and integers that Redis
// keeps as such in a listpack with all their digits.
func scanScore(w *resp.Writer, s float64, listpack bool) {
	const most = 1 << 62
	if listpack && math.Abs(s) <= most && s == math.Trunc(s) {
		w.BulkInt(int64(s))
		return
	}
	var buf [32]byte
	w.Bulk(resp.AppendDouble(buf[:0], s))
}

const (
	errRandomRange resp.Error = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
	errRandomPairs resp.Error = "ERR value is out of range"
)

func zrandmember(c *command.Call, v db.View) error {
	key := c.Args.Key()
	if !c.Args.More() {
		return randomOne(c, v, key)
	}
	count := c.Args.Int()
	if count == math.MinInt64 {
		c.Args.Reject(errRandomRange)
	}
	if err := c.Args.Err(); err != nil {
		return err
	}
	scores := c.Args.Word("withscores")
	if err := c.Args.Done(); err != nil {
		return err
	}
	if scores && (count < -math.MaxInt64/2 || count > math.MaxInt64/2) {
		return errRandomPairs
	}
	z, err := zset.Read(v, key)
	if err != nil {
		return err
	}
	switch n := z.Len(); {
	case n == 0 || count == 0:
		c.Reply.Array(0)
	case count < 0:
		replyAny(c.Reply, v, &z, -count, scores)
	case count >= int64(n):
		replyRange(c.Reply, &z, 0, n, false, scores)
	default:
		replySome(c.Reply, v, &z, int(count), scores)
	}
	return nil
}

func randomOne(c *command.Call, v db.View, key []byte) error {
	z, err := zset.Read(v, key)
	if err != nil {
		return err
	}
	if z.Len() == 0 {
		c.Reply.Null()
		return nil
	}
	at := z.Random(v)
	replyMembers(c.Reply, &z, at, at+1, false, false)
	return nil
}

// replySome writes count different members, fewer than there are: going through the
// ranks, each is taken with the chance that is left for it, so all choices are as likely.
func replySome(w *resp.Writer, v db.View, z *zset.ZSet, count int, scores bool) {
	openRange(w, int64(count), scores)
	n := z.Len()
	if count < n/8 {
		for _, at := range chooseFew(v, n, count) {
			replyMembers(w, z, at, at+1, false, scores)
		}
		return
	}
	if z.Large() != nil && count > streamFrom {
		kept, pin := z.Keep()
		w.Stream(&sampleStream{Pin: pin, z: kept, left: count, scores: scores, random: splitmix(v.Rand())})
		return
	}
	var it zset.Iter
	for it.Start(z, 0, n, false); count > 0 && it.Next(); n-- {
		if v.Rand()%uint64(n) < uint64(count) {
			replyElement(w, z, &it, scores)
			count--
		}
	}
}

// chooseFew draws count different ranks below n, in random order: one that was drawn
// before gives way to the highest of its turn, as Floyd's algorithm has it.
func chooseFew(v db.View, n, count int) []int {
	chosen := make(map[int]struct{}, count)
	list := make([]int, 0, count)
	for top := n - count; top < n; top++ {
		at := int(v.Rand() % uint64(top+1))
		if _, was := chosen[at]; was {
			at = top
		}
		chosen[at] = struct{}{}
		list = append(list, at)
	}
	for i := len(list) - 1; i > 0; i-- {
		j := int(v.Rand() % uint64(i+1))
		list[i], list[j] = list[j], list[i]
	}
	return list
}
