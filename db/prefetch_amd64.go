package db

// prefetchWrite asks for ownership of the cache line that every command writes
// in a shard. It is a hint: nothing is read or written.
//
//go:noescape
func prefetchWrite(s *shard)
