package disk

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Sync leaves times of the file out: the bytes and the length are what counts, and the rest costs a write more.
func (f file) Sync() error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		runtime.KeepAlive(f.File)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "sync", Path: f.Name(), Err: err}
		}
		return nil
	}
}

func (f file) StartSync(off, n int64) error {
	// WAIT_BEFORE bounds how much is under way: what an earlier call began is done before more begins.
	err := unix.SyncFileRange(int(f.Fd()), off, n, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE)
	runtime.KeepAlive(f.File)
	return err
}
