package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// watchMachine looks how long the machine itself stands still: on each processor a thread
// of real-time priority, before which no thread of any server comes, sleeps for a
// millisecond at a time. What it wakes up late by, no server ran either: the host of a virtual
// machine took the processor, or the kernel let nobody run, be it for a server, as in a fork. The function that is
// returned ends it and gives the longest such time; 0 if threads must not be given that
// priority.
func watchMachine() func() time.Duration {
	var stop atomic.Bool
	var longest atomic.Int64
	var all sync.WaitGroup
	for cpu := range runtime.NumCPU() {
		all.Go(func() {
			// The thread must not end with the goroutine: a server ends with the thread that
			// started it.
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var before, one unix.CPUSet
			one.Set(cpu)
			usual := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}
			first := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
			if unix.SchedGetaffinity(0, &before) != nil || unix.SchedSetAttr(0, &first, 0) != nil {
				return
			}
			defer unix.SchedSetAttr(0, &usual, 0)
			defer unix.SchedSetaffinity(0, &before)
			if unix.SchedSetaffinity(0, &one) != nil {
				return
			}
			const nap = time.Millisecond
			t := unix.NsecToTimespec(int64(nap))
			for !stop.Load() {
				began := time.Now()
				if unix.Nanosleep(&t, nil) != nil {
					continue // a signal cut it short
				}
				late := int64(time.Since(began) - nap)
				for before := longest.Load(); late > before && !longest.CompareAndSwap(before, late); {
					before = longest.Load()
				}
			}
		})
	}
	return func() time.Duration {
		stop.Store(true)
		all.Wait()
		return time.Duration(longest.Load())
	}
}
