package list

import (
	"fmt"

	"heddle/db/listpack"
)

// check verifies everything that an Object counts and promises.
func (o *Object) check() error {
	n, bytes, redis, mem := 0, 0, 0, int64(0)
	block := func(b *block) error {
		count, mark := 0, b.mark == 0
		for at := int(b.start); at < int(b.end); at = listpack.Next(b.buf, at) {
			mark = mark || at == int(b.mark) && count == int(b.markN) && count > 0
			redis += listpack.At(b.buf[:b.end], at).RedisSize()
			count++
		}
		if count != int(b.n) || count > blockCount || int(b.end) > len(b.buf) || cap(b.buf) != len(b.buf) {
			return fmt.Errorf("block of %d entries says %d, buffer %d", count, b.n, len(b.buf))
		}
		if !mark {
			return fmt.Errorf("the mark at %d is not entry %d", b.mark, b.markN)
		}
		if count > 1 && len(b.buf) > blockBytes {
			return fmt.Errorf("%d entries in a buffer of %d", count, len(b.buf))
		}
		if count == 0 && b != o.head && b != o.tail {
			return fmt.Errorf("an empty block")
		}
		n += count
		bytes += b.size()
		mem += b.mem()
		return nil
	}
	if err := block(o.head); err != nil {
		return err
	}
	inHead := n
	if o.tree.root != nil {
		nodes, _, err := o.tree.root.check(block)
		if err != nil {
			return err
		}
		if nodes != o.tree.nodes || n-inHead != o.tree.n || o.tail == nil {
			return fmt.Errorf("tree of %d nodes says %d, %d elements says %d", nodes, o.tree.nodes, n-inHead, o.tree.n)
		}
	} else if o.tree.n != 0 || o.tree.nodes != 0 {
		return fmt.Errorf("no tree of %d elements and %d nodes", o.tree.n, o.tree.nodes)
	}
	if o.tail != nil {
		if err := block(o.tail); err != nil {
			return err
		}
	}
	if n != o.n || bytes != o.bytes || mem != o.mem || !o.quick && redis != o.redis {
		return fmt.Errorf("%d elements says %d, bytes %d says %d, memory %d says %d, redis %d says %d (%v)", n, o.n, bytes, o.bytes, mem, o.mem, redis, o.redis, o.quick)
	}
	return o.ends.check(o.last())
}

func (n *node) check(block func(*block) error) (nodes, depth int, err error) {
	if len(n.counts) == 0 || len(n.counts) != len(n.kids)+len(n.blocks) || len(n.counts) > fan {
		return 0, 0, fmt.Errorf("node of %d counts, %d kids, %d blocks", len(n.counts), len(n.kids), len(n.blocks))
	}
	nodes = 1
	for i, b := range n.blocks {
		if n.counts[i] != int(b.n) {
			return 0, 0, fmt.Errorf("node counts %d of a block of %d", n.counts[i], b.n)
		}
		if err := block(b); err != nil {
			return 0, 0, err
		}
	}
	for i, k := range n.kids {
		more, d, err := k.check(block)
		if err != nil {
			return 0, 0, err
		}
		if n.counts[i] != k.total() || i > 0 && d != depth {
			return 0, 0, fmt.Errorf("node counts %d of %d, depth %d and %d", n.counts[i], k.total(), d, depth)
		}
		depth = d
		nodes += more
	}
	return nodes, depth + 1, nil
}

func (r *ends) check(b *block) error {
	if r.n == 0 {
		return nil
	}
	all := listpack.Offsets(nil, b.buf[:b.end], int(b.start))
	for i := range int(r.n) {
		if i >= len(all) || all[len(all)-1-i] != r.at[(int(r.first)+int(r.n)-1-i)%64] {
			return fmt.Errorf("offset %d from the end is wrong", i)
		}
	}
	return nil
}
