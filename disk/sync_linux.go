package disk

import "golang.org/x/sys/unix"

func (f file) StartSync(off, n int64) error {
	// WAIT_BEFORE bounds how much is under way: what an earlier call began is done before more begins.
	return unix.SyncFileRange(int(f.Fd()), off, n, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE)
}
