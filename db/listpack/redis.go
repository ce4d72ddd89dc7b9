package listpack

import "encoding/binary"

// What the same entries take in Redis' listpack, and its bytes: thresholds in
// bytes, and so the names of encodings, are about those, and dumps hold them.
//
// Redis' entry is a header of 1, 2 or 5 bytes with the string behind it, or an
// integer in 1 to 9 bytes; then, as 7 bits a byte, the length of that.

// RedisHeader is what a listpack of Redis takes beside its entries: 4 bytes of
// length, 2 of count, and one at the end.
const RedisHeader = 7

// RedisSize is how many bytes the entry of string s takes in Redis.
func RedisSize(s []byte) int {
	if n, ok := Number(s); ok {
		return RedisIntSize(n)
	}
	return redisStringSize(len(s))
}

// RedisIntSize is how many bytes the entry of integer n takes in Redis.
func RedisIntSize(n int64) int {
	switch {
	case n >= 0 && n < 1<<7:
		return 2
	case n >= -1<<12 && n < 1<<12:
		return 3
	case n == int64(int16(n)):
		return 4
	case n >= -1<<23 && n < 1<<23:
		return 5
	case n == int64(int32(n)):
		return 6
	}
	return 10
}

func redisStringSize(n int) int {
	switch {
	case n < 1<<6:
		n++
	case n < 1<<12:
		n += 2
	default:
		n += 5
	}
	return n + backSize(n)
}

// backSize is how many bytes the length n of an entry takes behind it.
func backSize(n int) int {
	switch {
	case n < 1<<7:
		return 1
	case n < 1<<14-1:
		return 2
	case n < 1<<21-1:
		return 3
	case n < 1<<28-1:
		return 4
	}
	return 5
}

// RedisSize is how many bytes the entry takes in Redis.
func (e Entry) RedisSize() int {
	if n, ok := e.Int(); ok {
		return RedisIntSize(n)
	}
	return redisStringSize(e.Len())
}

// RedisSize is how many bytes the entry of v takes in Redis.
func (v *Value) RedisSize() int {
	if len(v.tail) > 0 {
		return redisStringSize(len(v.tail))
	}
	return Entry(v.head[:v.n]).RedisSize()
}

// AppendRedis appends the entries of p as a listpack of Redis to dst.
func AppendRedis(dst, p []byte) []byte {
	start := len(dst)
	dst = BeginRedis(dst)
	count := 0
	for at := Header; at < len(p); {
		e := At(p, at)
		dst = e.AppendRedis(dst)
		at += len(e)
		count++
	}
	return EndRedis(dst, start, count)
}

// BeginRedis appends the header of a listpack of Redis to dst. Entries follow, and then
// EndRedis, which is told where the header stands.
func BeginRedis(dst []byte) []byte { return append(dst, 0, 0, 0, 0, 0, 0) }

// EndRedis ends the listpack of count entries that begins at start.
func EndRedis(dst []byte, start, count int) []byte {
	dst = append(dst, 0xff)
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start))
	binary.LittleEndian.PutUint16(dst[start+4:], uint16(min(count, 1<<16-1)))
	return dst
}

// AppendRedisInt appends the entry of integer n in a listpack of Redis.
func AppendRedisInt(dst []byte, n int64) []byte {
	start := len(dst)
	dst = appendRedisInt(dst, n)
	return appendBack(dst, len(dst)-start)
}

// AppendRedisString appends the entry of s in a listpack of Redis: that of an integer if
// s is the spelling of one.
func AppendRedisString(dst, s []byte) []byte {
	if n, ok := Number(s); ok {
		return AppendRedisInt(dst, n)
	}
	start := len(dst)
	dst = append(appendRedisHead(dst, len(s)), s...)
	return appendBack(dst, len(dst)-start)
}

// AppendRedis appends the entry as one of a listpack of Redis.
func (e Entry) AppendRedis(dst []byte) []byte {
	if n, ok := e.Int(); ok {
		return AppendRedisInt(dst, n)
	}
	start := len(dst)
	dst = e.Append(appendRedisHead(dst, e.Len()))
	return appendBack(dst, len(dst)-start)
}

// appendRedisHead appends what precedes a string of n bytes.
func appendRedisHead(dst []byte, n int) []byte {
	switch {
	case n < 1<<6:
		return append(dst, byte(0x80+n))
	case n < 1<<12:
		return append(dst, byte(0xe0+n>>8), byte(n))
	}
	return append(dst, 0xf0, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
}

func appendRedisInt(dst []byte, n int64) []byte {
	switch {
	case n >= 0 && n < 1<<7:
		return append(dst, byte(n))
	case n >= -1<<12 && n < 1<<12:
		return append(dst, byte(0xc0+n>>8&0x1f), byte(n))
	case n == int64(int16(n)):
		return append(dst, 0xf1, byte(n), byte(n>>8))
	case n >= -1<<23 && n < 1<<23:
		return append(dst, 0xf2, byte(n), byte(n>>8), byte(n>>16))
	case n == int64(int32(n)):
		return append(dst, 0xf3, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return binary.LittleEndian.AppendUint64(append(dst, 0xf4), uint64(n))
}

// appendBack appends length n so that it can be read from behind: the highest 7
// bits first, and a flag on each byte that has another in front of it.
func appendBack(dst []byte, n int) []byte {
	size := backSize(n)
	for i := size - 1; i >= 0; i-- {
		b := byte(n>>(7*i)) & 0x7f
		if i < size-1 {
			b |= 0x80
		}
		dst = append(dst, b)
	}
	return dst
}
