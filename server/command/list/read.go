package lists

import (
	"math"

	"heddle/db"
	"heddle/db/list"
	"heddle/db/listpack"
	"heddle/resp"
	"heddle/server/command"
)

// LLEN key
func llenSpec() *command.Spec {
	return readSpec("llen", 2, command.Fast, 0, func(c *command.Call, v db.View) error {
		l, err := list.Read(v, c.Args.Key())
		if err == nil {
			c.Reply.Int(int64(l.Len()))
		}
		return err
	})
}

// LINDEX key index
func lindexSpec() *command.Spec {
	return readSpec("lindex", 3, 0, command.KeyAccess, func(c *command.Call, v db.View) error {
		l, err := list.Read(v, c.Args.Key())
		if err != nil {
			return err
		}
		if l.Len() == 0 {
			c.Reply.Null() // whatever the index is
			return nil
		}
		i, in := position(c.Args.Int(), l.Len())
		if err := c.Args.Done(); err != nil {
			return err
		}
		if !in {
			c.Reply.Null()
			return nil
		}
		var buf listpack.Scratch
		reply(c.Reply, l.At(i), &buf)
		return nil
	})
}

// position turns an index, which counts from the end if it is negative, into
// one from the front and reports whether it is within n elements.
func position(i int64, n int) (int, bool) {
	if i < 0 {
		i += int64(n)
	}
	return int(i), i >= 0 && i < int64(n)
}

// span turns the first and last index of a range, as LRANGE takes them, into
// from and to (exclusive) within n elements.
func span(first, last int64, n int) (from, to int) {
	if first < 0 {
		first = max(first+int64(n), 0)
	}
	if last < 0 {
		last += int64(n)
	}
	last = min(last, int64(n)-1)
	if first > last {
		return 0, 0
	}
	return int(first), int(last) + 1
}

// LRANGE key start stop
func lrangeSpec() *command.Spec {
	return readSpec("lrange", 4, 0, command.KeyAccess, func(c *command.Call, v db.View) error {
		key, first, last := c.Args.Key(), c.Args.Int(), c.Args.Int()
		if err := c.Args.Done(); err != nil {
			return err
		}
		l, err := list.Read(v, key)
		if err != nil {
			return err
		}
		from, to := span(first, last, l.Len())
		c.Reply.Array(to - from)
		replyRange(c.Reply, &l, from, to)
		return nil
	})
}

const (
	errRank      resp.Error = "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list"
	errRankRange resp.Error = "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807"
	errLPosCount resp.Error = "ERR COUNT can't be negative"
	errMaxLen    resp.Error = "ERR MAXLEN can't be negative"
)

// LPOS key element [RANK rank] [COUNT num-matches] [MAXLEN len]
func lposSpec() *command.Spec { return readSpec("lpos", -3, 0, command.KeyAccess, lpos) }

func lpos(c *command.Call, v db.View) error {
	key, value := c.Args.Key(), c.Args.Bytes()
	o := readLPos(&c.Args)
	if err := c.Args.Done(); err != nil {
		return err
	}
	l, err := list.Read(v, key)
	if err != nil {
		return err
	}
	var room [32]int
	found := o.search(&l, value, room[:0])
	switch {
	case o.many:
		c.Reply.Array(len(found))
		for _, i := range found {
			c.Reply.Int(int64(i))
		}
	case len(found) > 0:
		c.Reply.Int(int64(found[0]))
	default:
		c.Reply.Null()
	}
	return nil
}

// lposOptions are what LPOS is told beside what to look for.
type lposOptions struct {
	skip   int64 // matches to pass over
	last   bool  // from the end
	many   bool  // COUNT was given
	count  int64 // matches wanted, 0: all
	maxLen int64 // elements to look at, 0: all
}

func readLPos(a *command.Args) lposOptions {
	o := lposOptions{count: 1}
	for a.More() {
		switch {
		case a.Word("rank"):
			rank := a.Int()
			switch {
			case a.Err() != nil:
			case rank == 0:
				a.Reject(errRank)
			case rank == math.MinInt64:
				a.Reject(errRankRange)
			}
			o.last = rank < 0
			o.skip = max(rank, -rank) - 1
		case a.Word("count"):
			o.many = true
			o.count = a.IntRange(0, math.MaxInt64, errLPosCount)
		case a.Word("maxlen"):
			o.maxLen = a.IntRange(0, math.MaxInt64, errMaxLen)
		default:
			a.Reject(resp.ErrSyntax)
		}
	}
	return o
}

// search appends the indexes of the matches to found.
func (o *lposOptions) search(l *list.List, value []byte, found []int) []int {
	if !o.last && o.skip == 0 && o.count == 1 && o.maxLen == 0 {
		if i := l.Find(value); i >= 0 {
			found = append(found, i)
		}
		return found
	}
	var v listpack.Value
	v.Set(value)
	n := l.Len()
	look := n
	if o.maxLen > 0 && o.maxLen < int64(n) {
		look = int(o.maxLen)
	}
	skip := o.skip
	var back list.Reverse
	var it list.Iter
	if o.last {
		back.From(l, n-1)
	} else {
		it = l.Iter(0)
	}
	for i := 0; i < look; i++ {
		var e listpack.Entry
		if o.last {
			back.Next()
			e = back.Entry()
		} else {
			it.Next()
			e = it.Entry()
		}
		switch {
		case !v.Equal(e):
			continue
		case skip > 0:
			skip--
			continue
		case o.last:
			found = append(found, n-1-i)
		default:
			found = append(found, i)
		}
		if o.count > 0 && int64(len(found)) >= o.count {
			break
		}
	}
	return found
}
