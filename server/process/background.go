package process

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// backgroundNice is the priority of work that clients are not to notice: a tenth
// of a worker's share where both want the same CPU.
const backgroundNice = 10

// Background lowers the priority of the calling goroutine until it ends. The
// goroutine keeps its thread, which ends with it.
func Background() {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), backgroundNice)
}
