package simdisk

import (
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"syscall"
)

// file is an open file of a Disk.
type file struct {
	d      *Disk
	n      *node
	name   string
	flag   int
	mu     sync.Mutex // guards pos
	pos    int64
	closed bool // guarded by d.mu
}

func (f *file) Name() string { return f.name }

func (f *file) Stat() (fs.FileInfo, error) {
	if err := f.d.begin(Stat, f.name, 0, false); err != nil {
		return nil, wrap("stat", f.name, err)
	}
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	return f.n.info(path.Base(clean(f.name))), nil
}

func (f *file) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.ReadAt(p, f.pos)
	f.pos += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.d.begin(Read, f.name, 0, false); err != nil {
		return 0, wrap("read", f.name, err)
	}
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	switch {
	case f.closed:
		return 0, wrap("read", f.name, os.ErrClosed)
	case f.n.dir:
		return 0, wrap("read", f.name, syscall.EISDIR)
	case f.flag&os.O_WRONLY != 0:
		return 0, wrap("read", f.name, syscall.EBADF)
	case len(p) == 0:
		return 0, nil
	case off >= int64(len(f.n.data)):
		return 0, io.EOF
	}
	n := copy(p, f.n.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fail := f.d.begin(Write, f.name, len(p), true)
	if short, ok := fail.(*Short); ok {
		p, fail = p[:min(short.N, len(p))], short.Err
		if fail == nil {
			fail = io.ErrShortWrite
		}
	} else if fail != nil {
		return 0, wrap("write", f.name, fail)
	}
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	switch {
	case f.closed:
		return 0, wrap("write", f.name, os.ErrClosed)
	case f.flag&(os.O_WRONLY|os.O_RDWR) == 0:
		return 0, wrap("write", f.name, syscall.EBADF)
	}
	if f.flag&os.O_APPEND != 0 {
		f.pos = int64(len(f.n.data))
	}
	f.d.ticks++
	f.n.mtime = f.d.ticks
	f.n.edit(edit{off: f.pos, data: append([]byte(nil), p...)})
	f.pos += int64(len(p))
	return len(p), wrap("write", f.name, fail)
}

func (f *file) Seek(offset int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += f.pos
	case io.SeekEnd:
		f.d.mu.Lock()
		offset += int64(len(f.n.data))
		f.d.mu.Unlock()
	}
	if offset < 0 {
		return f.pos, wrap("seek", f.name, syscall.EINVAL)
	}
	f.pos = offset
	return offset, nil
}

func (f *file) Close() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.closed {
		return wrap("close", f.name, os.ErrClosed)
	}
	f.closed = true
	return nil
}

func (f *file) Sync() error {
	// What counts is what had been written when the call began: what comes while it lasts may miss it.
	f.d.mu.Lock()
	before := len(f.n.pending)
	f.d.mu.Unlock()
	if err := f.d.begin(Sync, f.name, 0, true); err != nil {
		return wrap("sync", f.name, err)
	}
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.closed {
		return wrap("sync", f.name, os.ErrClosed)
	}
	before = min(before, len(f.n.pending))
	for _, e := range f.n.pending[:before] {
		f.n.synced = e.apply(f.n.synced)
	}
	f.n.pending = append([]edit(nil), f.n.pending[before:]...)
	return nil
}

func (f *file) Truncate(size int64) error {
	if err := f.d.begin(Truncate, f.name, 0, true); err != nil {
		return wrap("truncate", f.name, err)
	}
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	switch {
	case f.closed:
		return wrap("truncate", f.name, os.ErrClosed)
	case f.flag&(os.O_WRONLY|os.O_RDWR) == 0, size < 0:
		return wrap("truncate", f.name, syscall.EINVAL)
	}
	f.n.resize(size)
	return nil
}

func (f *file) StartSync(int64, int64) error { return nil }

func (n *node) resize(size int64) { n.edit(edit{off: size, cut: true}) }

func (n *node) edit(e edit) {
	n.data = e.apply(n.data)
	n.pending = append(n.pending, e)
}

// apply returns data as it is after the edit. It may change data in place.
func (e edit) apply(data []byte) []byte {
	if e.cut {
		if e.off <= int64(len(data)) {
			return data[:e.off:e.off]
		}
		return append(data, make([]byte, e.off-int64(len(data)))...)
	}
	if gap := e.off - int64(len(data)); gap > 0 {
		data = append(data, make([]byte, gap)...)
	}
	n := copy(data[e.off:], e.data)
	return append(data, e.data[n:]...)
}
