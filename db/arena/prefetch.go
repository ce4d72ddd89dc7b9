//go:build amd64 || arm64

package arena

import "unsafe"

// prefetch asks for the cache line at p, prefetchTwo for those of 64 bytes from p
// on. They are hints: they wait for nothing, and fault nowhere.
//
//go:noescape
func prefetch(p unsafe.Pointer)

//go:noescape
func prefetchTwo(p unsafe.Pointer)
