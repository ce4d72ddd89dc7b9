package list

import (
	"heddle/db"
	"heddle/db/listpack"
)

// Builder makes a list without a key out of elements that come one after the other, for
// those who load files: in no transaction and under no lock. Reset comes first; a Builder
// may be used again, once what Coll returned is stored.
type Builder struct {
	p []byte
	o *Object
}

// Reset begins a list.
func (b *Builder) Reset() {
	b.p = append(b.p[:0], 0, 0)
	b.o = nil
}

// Push puts an element, which is copied, behind the last.
func (b *Builder) Push(v *listpack.Value) {
	if b.o == nil {
		n := listpack.Count(b.p)
		if n < packedCount && len(b.p)+v.Size() <= packedBytes {
			b.p = v.Append(b.p)
			listpack.SetCount(b.p, n+1)
			return
		}
		b.unpack()
	}
	b.o.push(false, v)
}

func (b *Builder) unpack() { b.o = newObject(b.p, false) }

// Len returns the number of elements.
func (b *Builder) Len() int {
	if b.o != nil {
		return b.o.n
	}
	return listpack.Count(b.p)
}

// Coll returns the list as it is to be stored. parted says that the file has it in several
// nodes, so that Redis would call it a quicklist whatever its size. What is packed is the
// Builder's.
func (b *Builder) Coll(l *db.Limits, parted bool) db.Coll {
	redis := 0
	if b.o != nil {
		redis = b.o.redis
	} else if !parted {
		redis = redisBytes(b.p)
	}
	quick := parted || exceeds(l, b.Len(), redis+listpack.RedisHeader)
	if b.o == nil && quick {
		b.unpack()
	}
	if b.o != nil {
		b.o.quick = quick
		return db.Coll{Type: db.TypeList, Object: b.o}
	}
	return db.Coll{Type: db.TypeList, Packing: db.Listpack, Packed: b.p}
}
