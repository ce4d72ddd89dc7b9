package admin

import (
	"fmt"
	"math"
	"strconv"

	"heddle/db"
	"heddle/db/hash"
	"heddle/db/intset"
	"heddle/db/list"
	"heddle/db/listpack"
	"heddle/db/set"
	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
)

// sharedCount is the number of references that Redis tells of an object which all
// keys share.
const sharedCount = math.MaxInt32

// debugObject tells how a key is stored. What it says of lengths in a file and of nodes
// is what Redis would have; no file is written here, and nodes are others.
func debugObject(c *command.Call, s command.Session) error {
	key := c.Args.Key()
	return s.Locked(key, func(tx db.Txn) error {
		m, found := tx.Meta(key)
		if !found {
			return resp.ErrNoKey
		}
		it, _, err := item(tx, key)
		if err != nil {
			return err
		}
		refs, nodes := 1, ""
		if m.SmallInt {
			refs = sharedCount
		}
		if m.Encoding == "quicklist" {
			nodes = quicklist(&it, tx.Limits()).String()
		}
		c.Reply.Simple(fmt.Sprintf("Value at:0x%x refcount:%d encoding:%s serializedlength:%d lru:%d lru_seconds_idle:%d%s",
			m.Ref, refs, m.Encoding, savedLength(&it, &m, tx), m.Clock, m.Idle/1000, nodes))
		return nil
	})
}

// nodes describes a list as Redis would keep it: a chain of listpacks.
type nodes struct {
	limits  *db.Limits
	sizes   []int // bytes of each
	items   []int // elements of each
	bytes   int
	total   int
	pending bool // elements go on into the last node
}

func (n *nodes) String() string {
	compressed := 0
	if n.limits.ListDepth != 0 {
		compressed = 1
	}
	return fmt.Sprintf(" ql_nodes:%d ql_avg_node:%.2f ql_listpack_max:%d ql_compressed:%d ql_uncompressed_size:%d",
		len(n.sizes), float64(n.total)/float64(max(len(n.sizes), 1)), n.limits.ListSize, compressed, n.bytes)
}

// quicklist finds the nodes that Redis would make of a list pushed element by element.
func quicklist(it *db.Item, limits *db.Limits) *nodes {
	n := &nodes{limits: limits}
	l := list.Of(&it.Coll)
	for i := l.Iter(0); i.Next(); {
		e := i.Entry()
		n.push(e.Len(), e.RedisSize())
	}
	return n
}

const (
	// defaultPacked is the size of an element from which on it is a node of its own.
	defaultPacked = 1 << 30
	// entryOverhead is what Redis reckons for an element beside its bytes.
	entryOverhead = 8
	// nodeSafety is the size of a node whose limit is a number of elements.
	nodeSafety = 8 << 10
)

// push adds an element of so many bytes, and so many with what surrounds it.
func (n *nodes) push(length, size int) {
	threshold := n.limits.QuicklistPackedThreshold
	if threshold == 0 {
		threshold = defaultPacked
	}
	n.total++
	if int64(length) >= threshold {
		n.add(length)
		n.pending = false
		return
	}
	if !n.pending || !n.fits(length) {
		n.add(listpack.RedisHeader)
		n.items[len(n.items)-1] = 0
		n.pending = true
	}
	last := len(n.sizes) - 1
	n.sizes[last] += size
	n.items[last]++
	n.bytes += size
}

func (n *nodes) add(size int) {
	n.sizes, n.items = append(n.sizes, size), append(n.items, 1)
	n.bytes += size
}

// fits reports whether the last node may take an element of so many bytes.
func (n *nodes) fits(length int) bool {
	last := len(n.sizes) - 1
	size := n.sizes[last] + length + entryOverhead
	if fill := n.limits.ListSize; fill < 0 {
		return size <= 4096<<min(-fill-1, 4)
	}
	return int64(n.items[last]) < n.limits.ListSize && size <= nodeSafety
}

// savedLength is how many bytes a value takes in an RDB file that compresses nothing.
func savedLength(it *db.Item, m *db.Meta, tx db.Txn) int {
	switch it.Type {
	case db.TypeString:
		return savedStr(it.Str)
	case db.TypeList:
		return savedList(it, m, tx.Limits())
	case db.TypeStream:
		return int(it.Coll.Object.MemSize())
	}
	switch m.Encoding {
	case "intset":
		b := it.Coll.Packed
		return savedBytes(8 + intset.Len(b)*intset.Width(b))
	case "listpack", "listpackex":
		n := listpack.RedisHeader
		eachPart(it, tx.Now(), func(part []byte) { n += listpack.RedisSize(part) }, func(f float64) {
			n += listpack.RedisSize(strconv.AppendFloat(nil, f, 'g', 17, 64))
		})
		return savedBytes(n)
	}
	n := savedNumber(m.Len)
	eachPart(it, tx.Now(), func(part []byte) { n += savedString(part) }, func(float64) { n += 8 })
	return n
}

// eachPart calls fn with the members, or fields and values, of a collection, and score
// with the scores of members.
func eachPart(it *db.Item, now db.Millis, fn func([]byte), score func(float64)) {
	switch it.Type {
	case db.TypeSet:
		s := set.Of(it.Coll, now)
		s.Each(func(member []byte) bool {
			fn(member)
			return true
		})
	case db.TypeHash:
		h := hash.Of(it.Coll, now)
		h.Each(func(field, value []byte) bool {
			fn(field)
			fn(value)
			return true
		})
	case db.TypeZSet:
		z := zset.Of(&it.Coll, now)
		z.Each(0, math.MaxInt, false, func(member []byte, f float64) bool {
			fn(member)
			score(f)
			return true
		})
	}
}

// savedList is savedLength of a list: its nodes, each with what kind it is. One that is
// called a listpack is saved as one node.
func savedList(it *db.Item, m *db.Meta, limits *db.Limits) int {
	if m.Encoding == "listpack" {
		size := listpack.RedisHeader
		l := list.Of(&it.Coll)
		for i := l.Iter(0); i.Next(); {
			e := i.Entry()
			size += e.RedisSize()
		}
		return savedNumber(1) + 1 + savedBytes(size)
	}
	n := quicklist(it, limits)
	sum := savedNumber(len(n.sizes))
	for _, size := range n.sizes {
		sum += 1 + savedBytes(size)
	}
	return sum
}

// savedNumber is how many bytes a length takes, savedBytes as many bytes with that.
func savedNumber(n int) int {
	switch {
	case n < 1<<6:
		return 1
	case n < 1<<14:
		return 2
	}
	return 5
}

func savedBytes(n int) int { return savedNumber(n) + n }

func savedString(b []byte) int {
	if n, ok := command.ParseInt(b); ok && len(b) <= len("-2147483648") {
		return savedInt(n)
	}
	return savedBytes(len(b))
}

func savedStr(s db.Str) int {
	if s.IsInt {
		return savedInt(s.N)
	}
	return savedBytes(len(s.B))
}

func savedInt(n int64) int {
	switch {
	case n >= -1<<7 && n < 1<<7:
		return 2
	case n >= -1<<15 && n < 1<<15:
		return 3
	case n >= -1<<31 && n < 1<<31:
		return 5
	}
	return savedBytes(len(strconv.AppendInt(nil, n, 10)))
}
