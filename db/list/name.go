package list

import (
	"heddle/db"
	"heddle/db/listpack"
)

// Names. OBJECT ENCODING calls a list listpack as long as Redis would keep all
// of it in one: by its size there, which is not ours, and list-max-listpack-size.
// The name is a matter of its own here: a list of 3 KB is an Object and called a
// listpack, and with a limit of 2 elements one of 3 is an Object so that it can
// be called a quicklist.
//
// As in Redis 7.2 a name is left when what is added exceeds the limit (the bytes
// of the values are counted as they come), and is taken back when something was
// removed or replaced and half the limit is enough. Redis asks there whether one
// node is left, which depends on where the borders of nodes came to be; here only
// the whole size counts.
//
// An Object counts its bytes as Redis has them while it is called a listpack,
// which is when somebody asks at every push; as a quicklist it counts them anew
// when it may have become small enough.

// safetyBytes is the size of a listpack that a limit in elements allows.
const safetyBytes = 8 << 10

// nodeLimit returns what list-max-listpack-size stands for: elements, and bytes;
// 0 says that there is no such limit.
func nodeLimit(lim *db.Limits) (count, bytes int) {
	switch fill := lim.ListSize; {
	case fill >= 0:
		return int(max(fill, 1)), 0
	default:
		return 0, 4096 << min(-fill-1, 4)
	}
}

// exceeds reports whether a list of so many elements and bytes, as Redis has
// them, is a quicklist.
func exceeds(lim *db.Limits, count, bytes int) bool {
	most, mostBytes := nodeLimit(lim)
	if mostBytes > 0 {
		return bytes > mostBytes
	}
	return count > most || bytes > safetyBytes
}

// grow prepares for count values more, of size bytes here and raw bytes as they
// came, and reports whether the list is, or has to become, an Object.
func (l *List) grow(size, raw, count int) bool {
	lim := l.tx.Limits()
	if o := l.o; o != nil {
		if !o.quick && exceeds(lim, o.n+count, o.redis+listpack.RedisHeader+raw) {
			o.quick = true
		}
		return true
	}
	// An entry is at most twice as long in Redis as here. That is nearly always
	// enough to know.
	have := l.Len()
	if exceeds(lim, have+count, 2*len(l.p)+listpack.RedisHeader+raw) {
		l.quick = exceeds(lim, have+count, redisBytes(l.p)+listpack.RedisHeader+raw)
	}
	return l.quick || max(len(l.p), listpack.Header)+size > packedBytes || have+count > packedCount
}

// redisBytes is what the entries of a small list take in Redis.
func redisBytes(p []byte) (n int) {
	for at := listpack.Header; at < len(p); {
		e := listpack.At(p, at)
		n += e.RedisSize()
		at += len(e)
	}
	return n
}

// shrunk gives the list the name of a listpack back if it is small enough.
func (o *Object) shrunk(lim *db.Limits) {
	if !o.quick {
		return
	}
	count, bytes := nodeLimit(lim)
	if bytes == 0 && o.n > count/2 || bytes > 0 && o.bytes+listpack.RedisHeader > bytes/2 ||
		o.bytes > safetyBytes { // whatever the limit is: all of it is looked at below
		return
	}
	o.redis = 0
	for it := o.iter(0); it.Next(); {
		o.redis += it.Entry().RedisSize()
	}
	if bytes == 0 {
		bytes = 2 * safetyBytes
	}
	o.quick = o.redis+listpack.RedisHeader > bytes/2
}

// Encoding is the list's name for OBJECT ENCODING.
func (o *Object) Encoding() string {
	if o.quick {
		return "quicklist"
	}
	return "listpack"
}
