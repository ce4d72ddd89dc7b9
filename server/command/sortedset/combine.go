package sortedset

import (
	"math"
	"slices"

	"heddle/db"
	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
)

// combineSpecs: ZUNION numkeys key [key ...] [WEIGHTS weight [weight ...]]
// [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES], ZINTER the same,
// ZDIFF numkeys key [key ...] [WITHSCORES],
// ZUNIONSTORE destination numkeys key [key ...] [WEIGHTS weight [weight ...]]
// [AGGREGATE <SUM | MIN | MAX>], ZINTERSTORE the same,
// ZDIFFSTORE destination numkeys key [key ...],
// ZINTERCARD numkeys key [key ...] [LIMIT limit]
func combineSpecs() []*command.Spec {
	read := func(name string, op operation) *command.Spec {
		return &command.Spec{
			Name: name, Arity: -3, Keys: command.NumKeys(1, command.KeyRO|command.KeyAccess),
			ACL: command.CatSortedSet, Group: group,
			Read: func(c *command.Call, v db.View) error { return combine(c, v, op) },
		}
	}
	keep := func(name string, op operation) *command.Spec {
		return &command.Spec{
			Name: name, Arity: -4, Flags: command.DenyOOM, ACL: command.CatSortedSet, Group: group,
			Keys:  append(command.Key(1, command.KeyOW|command.KeyUpdate), command.NumKeys(2, command.KeyRO|command.KeyAccess)...),
			Write: func(c *command.Call, tx db.Txn) error { return combineStore(c, tx, op, name) },
		}
	}
	card := read("zintercard", intersect)
	card.Read = zintercard
	return []*command.Spec{
		read("zunion", unite), read("zinter", intersect), read("zdiff", subtract), card,
		keep("zunionstore", unite), keep("zinterstore", intersect), keep("zdiffstore", subtract),
	}
}

type operation uint8

const (
	unite operation = iota
	intersect
	subtract
)

const (
	errWeight resp.Error = "ERR weight value is not a float"
	errLimit  resp.Error = "ERR LIMIT can't be negative"
)

// combination is what such a command is asked for.
type combination struct {
	op        operation
	sources   []source
	aggregate func(a, b float64) float64
	scores    bool
	limit     int64 // of ZINTERCARD, 0: none
}

func combine(c *command.Call, v db.View, op operation) error {
	m := combination{op: op}
	if err := m.read(c, v, "withscores"); err != nil {
		return err
	}
	z := zset.Computed(m.compute())
	if z.Len() == 0 {
		c.Reply.Array(0)
		return nil
	}
	replyRange(c.Reply, &z, 0, z.Len(), false, m.scores)
	return nil
}

func combineStore(c *command.Call, tx db.Txn, op operation, event string) error {
	dst := c.Args.Key()
	m := combination{op: op}
	if err := m.read(c, tx, ""); err != nil {
		return err
	}
	return Store(c, tx, dst, m.compute(), event)
}

func zintercard(c *command.Call, v db.View) error {
	m := combination{op: intersect}
	if err := m.read(c, v, "limit"); err != nil {
		return err
	}
	n := int64(0)
	m.eachCommon(func([]byte, float64) bool {
		n++
		return n != m.limit
	})
	c.Reply.Int(n)
	return nil
}

// read reads the keys and what is there, then the options: option is the one that the
// command has beside weights and aggregation.
func (m *combination) read(c *command.Call, v db.View, option string) error {
	a := &c.Args
	n := a.Int()
	if a.Err() == nil && n < 1 {
		return command.Errorf("ERR at least 1 input key is needed for '%s' command", c.Spec.Name)
	}
	if n > int64(a.Len()) {
		a.Reject(resp.ErrSyntax)
	}
	if a.Err() != nil {
		return a.Err()
	}
	m.sources = make([]source, n)
	for i := range m.sources {
		if err := m.sources[i].open(v, a.Key()); err != nil {
			return err
		}
	}
	m.aggregate = sum
	for a.More() {
		m.readOption(a, option)
	}
	return a.Done()
}

func (m *combination) readOption(a *command.Args, option string) {
	weighs := m.op != subtract && option != "limit"
	switch {
	case weighs && a.Len() > len(m.sources) && a.Word("weights"):
		for i := range m.sources {
			m.sources[i].weight = a.FloatOr(errWeight)
		}
	case weighs && a.Len() >= 2 && a.Word("aggregate"):
		switch {
		case a.Word("sum"):
			m.aggregate = sum
		case a.Word("min"):
			m.aggregate = lower
		case a.Word("max"):
			m.aggregate = higher
		default:
			a.Reject(resp.ErrSyntax)
		}
	case option == "withscores" && a.Word(option):
		m.scores = true
	case option == "limit" && a.Len() >= 2 && a.Word(option):
		m.limit = a.IntRange(0, math.MaxInt64, errLimit)
	default:
		a.Reject(resp.ErrSyntax)
	}
}

// The aggregates. What is no number, as infinity less infinity, is 0 in a sum; in the others
// it is passed over.
func sum(a, b float64) float64 { return orZero(a + b) }

func lower(a, b float64) float64 {
	if b < a {
		return b
	}
	return a
}

func higher(a, b float64) float64 {
	if b > a {
		return b
	}
	return a
}

func orZero(f float64) float64 {
	if f != f {
		return 0
	}
	return f
}

// compute returns the result.
func (m *combination) compute() *zset.Object {
	result := zset.NewObject()
	switch m.op {
	case unite:
		m.sort()
		for i := range m.sources {
			s := &m.sources[i]
			s.each(func(member []byte, score float64) bool {
				score = orZero(score * s.weight)
				if old, found := result.Score(member); found {
					score = m.aggregate(old, score)
				}
				result.Set(member, score)
				return true
			})
		}
	case intersect:
		m.eachCommon(func(member []byte, score float64) bool {
			result.Set(member, score)
			return true
		})
	case subtract:
		m.sources[0].each(func(member []byte, score float64) bool {
			for i := 1; i < len(m.sources); i++ {
				if _, found := m.sources[i].find(member); found {
					return true
				}
			}
			result.Set(member, score)
			return true
		})
	}
	return result
}

// sort puts the smallest source first: there is less to do then. It is also the order in
// which scores are added, which shows in the last digits.
func (m *combination) sort() {
	slices.SortStableFunc(m.sources, func(a, b source) int { return a.n - b.n })
}

// eachCommon calls fn with the members that all sources have, until it returns false.
func (m *combination) eachCommon(fn func(member []byte, score float64) bool) {
	m.sort()
	first := &m.sources[0]
	first.each(func(member []byte, score float64) bool {
		score = orZero(score * first.weight)
		for i := 1; i < len(m.sources); i++ {
			s := &m.sources[i]
			other, found := s.find(member)
			if !found {
				return true
			}
			score = m.aggregate(score, other*s.weight)
		}
		return fn(member, score)
	})
}
