//go:build !amd64 && !arm64

package arena

import "unsafe"

// prefetch and prefetchTwo do nothing where there is no such hint.
func prefetch(unsafe.Pointer) {}

func prefetchTwo(unsafe.Pointer) {}
