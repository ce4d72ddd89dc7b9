package poll

import "golang.org/x/sys/unix"

// Map returns n bytes of zeroed memory of its own, outside the Go heap: large
// buffers come and go without weighing on the collector, and grow without a
// copy. It must be given to Unmap or Remap exactly once.
func Map(n int) ([]byte, error) {
	return unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

// Remap returns b with another size, at another place perhaps: b is gone.
func Remap(b []byte, n int) ([]byte, error) {
	return unix.Mremap(b, n, unix.MREMAP_MAYMOVE)
}

// Unmap gives memory from Map back.
func Unmap(b []byte) error { return unix.Munmap(b) }
