package sortedset

import (
	"heddle/db"
	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
)

// rangeSpecs: ZRANGE key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES],
// ZREVRANGE key start stop [WITHSCORES],
// ZRANGEBYSCORE key min max [WITHSCORES] [LIMIT offset count],
// ZREVRANGEBYSCORE key max min [WITHSCORES] [LIMIT offset count],
// ZRANGEBYLEX key min max [LIMIT offset count], ZREVRANGEBYLEX key max min [LIMIT offset count],
// ZRANGESTORE dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]
func rangeSpecs() []*command.Spec {
	by := func(name string, q query) *command.Spec {
		return reading(name, -4, 0, func(c *command.Call, v db.View) error { return zrange(c, v, q) })
	}
	return []*command.Spec{
		by("zrange", query{open: true}),
		by("zrevrange", query{rev: true}),
		by("zrangebyscore", query{by: byScore}),
		by("zrevrangebyscore", query{by: byScore, rev: true}),
		by("zrangebylex", query{by: byLex}),
		by("zrevrangebylex", query{by: byLex, rev: true}),
		{
			Name: "zrangestore", Arity: -5, Flags: command.DenyOOM, ACL: command.CatSortedSet, Group: group,
			Keys:  append(command.Key(1, command.KeyOW|command.KeyUpdate), command.Key(2, command.KeyRO|command.KeyAccess)...),
			Write: zrangestore,
		},
	}
}

// query is a range of members, as the many commands ask for it.
type query struct {
	by     order
	rev    bool // from the highest on; then the first end given is the upper one
	open   bool // by and rev may still be chosen by words
	stores bool // the result is stored: with scores always, so the word is none
	scores bool // answer with scores

	offset, limit int64 // behind so many members, at most so many; negative: all

	start, stop int64
	score       zset.ScoreRange
	lex         zset.LexRange
}

type order uint8

const (
	byRank order = iota
	byScore
	byLex
)

const (
	errLimitByRank resp.Error = "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX"
	errLexScores   resp.Error = "ERR syntax error, WITHSCORES not supported in combination with BYLEX"
)

// read reads the ends of the range and the options behind them.
func (q *query) read(a *command.Args) error {
	first, second := a.Bytes(), a.Bytes()
	q.limit = -1
	ordered, turned := !q.open, !q.open
	for a.More() {
		switch {
		case !q.stores && a.Word("withscores"):
			q.scores = true
		case a.Len() >= 3 && a.Word("limit"):
			q.offset, q.limit = a.Int(), a.Int()
		case !turned && a.Word("rev"):
			q.rev, turned = true, true
		case !ordered && a.Word("bylex"):
			q.by, ordered = byLex, true
		case !ordered && a.Word("byscore"):
			q.by, ordered = byScore, true
		default:
			a.Reject(resp.ErrSyntax)
		}
	}
	if err := a.Done(); err != nil {
		return err
	}
	if q.limit != -1 && q.by == byRank {
		return errLimitByRank
	}
	if q.scores && q.by == byLex {
		return errLexScores
	}
	return q.readEnds(first, second)
}

func (q *query) readEnds(first, second []byte) (err error) {
	if q.rev && q.by != byRank {
		first, second = second, first
	}
	switch q.by {
	case byScore:
		q.score, err = parseScores(first, second)
	case byLex:
		q.lex, err = parseLex(first, second)
	default:
		var ok, ok2 bool
		q.start, ok = command.ParseInt(first)
		q.stop, ok2 = command.ParseInt(second)
		if !ok || !ok2 {
			err = resp.ErrNotInteger
		}
	}
	return err
}

// find returns the ranks of the members asked for: from the first to before to.
func (q *query) find(z *zset.ZSet) (from, to int) {
	switch q.by {
	case byScore:
		from, to = z.ByScore(q.score)
	case byLex:
		from, to = z.ByLex(q.lex, q.rev)
	default:
		from, to = ranks(q.start, q.stop, z.Len())
		if q.rev {
			from, to = z.Len()-to, z.Len()-from
		}
		return from, to
	}
	n := int64(to - from)
	if q.offset < 0 || q.offset >= n {
		return 0, 0
	}
	n -= q.offset
	if q.limit >= 0 {
		n = min(n, q.limit)
	}
	if q.rev {
		to -= int(q.offset)
		return to - int(n), to
	}
	from += int(q.offset)
	return from, from + int(n)
}

func zrange(c *command.Call, v db.View, q query) error {
	key := c.Args.Key()
	if err := q.read(&c.Args); err != nil {
		return err
	}
	z, err := zset.Read(v, key)
	if err != nil {
		return err
	}
	from, to := q.find(&z)
	if from >= to { // not Pairs, which in RESP2 is the same
		c.Reply.Array(0)
		return nil
	}
	replyRange(c.Reply, &z, from, to, q.rev, q.scores)
	return nil
}

func zrangestore(c *command.Call, tx db.Txn) error {
	dst, src := c.Args.Key(), c.Args.Key()
	q := query{open: true, stores: true}
	if err := q.read(&c.Args); err != nil {
		return err
	}
	z, err := zset.Read(tx, src)
	if err != nil {
		return err
	}
	result := zset.NewObject()
	from, to := q.find(&z)
	// Redis puts the result into a listpack first, as long as it may be one, and that does
	// not know -0.
	l := tx.Limits()
	listpack := q.by != byRank || int64(to-from) <= l.ZSetEntries
	var it zset.Iter
	for it.Start(&z, from, to, q.rev); it.Next(); {
		m, s := it.Member(), it.Score()
		listpack = listpack && int64(result.Len()) < l.ZSetEntries && int64(len(m)) <= l.ZSetValue
		if listpack {
			s += 0
		}
		result.Set(m, s)
	}
	return Store(c, tx, dst, result, "zrangestore")
}
