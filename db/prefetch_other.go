//go:build !amd64

package db

// prefetchWrite does nothing where there is no such hint.
func prefetchWrite(*shard) {}
