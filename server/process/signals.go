package process

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Signals are what to do when a signal comes. A function runs on a goroutine of
// its own kind, one signal after the other.
type Signals struct {
	// Stop is told of the first SIGTERM or SIGINT and of every further one:
	// insisted is true for a SIGINT that is not the first signal.
	Stop func(s os.Signal, name string, insisted bool)
}

// Watch handles signals until ctx is done. SIGHUP, SIGPIPE and SIGUSR1 are
// ignored from the call on.
func (h Signals) Watch(ctx context.Context) {
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGUSR1)
	got := make(chan os.Signal, 8)
	signal.Notify(got, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(got)
	asked := false
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-got:
			name := "SIGTERM"
			if s == syscall.SIGINT {
				name = "SIGINT"
			}
			h.Stop(s, name, asked && s == syscall.SIGINT)
			asked = true
		}
	}
}
