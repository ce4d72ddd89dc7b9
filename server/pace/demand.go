package pace

import (
	"time"

	"golang.org/x/sys/unix"
)

// demand is what others want of the processors: everything that runs on the machine but the
// readers and what else this process does in the background for them, such as writing what
// they read. More threads than processors are then no crowd.
type demand struct {
	file   string                        // where the system tells how its processors are used
	own    func() (time.Duration, error) // processor time that the process took
	wanted bool                          // others may be kept waiting by readers
	at     time.Duration                 // of the last measurement, in the Pacer's time
	busy   int64                         // ticks as of then
	used   time.Duration                 // what own told then
	served time.Duration                 // processor time of workers since then
}

const (
	// measureEvery is how often the demand is measured, which takes some dozens of
	// microseconds. The system counts in ticks of 10 ms.
	measureEvery = 100 * time.Millisecond
	// staleAfter is for how long readers may have been away for a measurement to be of now.
	staleAfter = time.Second
	// someUse is a part of one processor: who uses less of all of them is no matter.
	someUse = 0.25
)

func newDemand() demand {
	return demand{file: statFile, own: ownTime, wanted: true, at: -time.Hour} // nothing is known of before
}

// measure looks again if that is due. told says whether the time of workers is known.
func (d *demand) measure(now time.Duration, told bool) {
	span := now - d.at
	if span < measureEvery {
		return
	}
	_, busy, ok := processorTicks(d.file)
	used, err := d.own()
	const tick = time.Second / ticksPerSecond
	others := time.Duration(busy-d.busy)*tick - (used - d.used) + d.served
	d.wanted = !told || !ok || err != nil || span > staleAfter || others > time.Duration(float64(span)*someUse)
	d.at, d.busy, d.used, d.served = now, busy, used, 0
}

// ownTime is the processor time that all threads of the process took.
func ownTime() (time.Duration, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
