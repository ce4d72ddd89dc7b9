package process

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Signals are the signals that came since CatchSignals.
type Signals struct{ got chan os.Signal }

// CatchSignals has SIGTERM, SIGINT and SIGABRT kept for Watch, and SIGHUP, SIGPIPE and
// SIGUSR1 ignored, from now on. Call it before anybody is told of the process.
func CatchSignals() *Signals {
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGUSR1)
	s := &Signals{make(chan os.Signal, 8)}
	signal.Notify(s.got, syscall.SIGTERM, syscall.SIGINT, syscall.SIGABRT)
	return s
}

// Watch calls stop for each signal, one after the other, until ctx is done.
func (s *Signals) Watch(ctx context.Context, stop func(name string)) {
	defer signal.Stop(s.got)
	for {
		select {
		case <-ctx.Done():
			return
		case sig := <-s.got:
			name := "SIGTERM"
			switch sig {
			case syscall.SIGINT:
				name = "SIGINT"
			case syscall.SIGABRT:
				name = "SIGABRT"
			}
			stop(name)
		}
	}
}

// Abort ends the process by SIGABRT, with the report of the Go runtime.
func Abort() {
	signal.Reset(syscall.SIGABRT)
	_ = syscall.Kill(os.Getpid(), syscall.SIGABRT) // to this process it may be sent
}
