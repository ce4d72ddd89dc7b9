package pace

import (
	"bytes"
	"os"
	"time"
)

// Idle measures how many processors of the machine have nothing to do.
type Idle struct {
	name  string // of the file; "": the system's
	at    time.Time
	ticks int64
}

// statFile is where the system tells how its processors are used.
const statFile = "/proc/stat"

// ticksPerSecond is the unit in which Linux tells of processor time, on all of its
// platforms that Go has.
const ticksPerSecond = 100

// Since returns how many processors were idle on the mean since it was last called; 0 at
// first, and where the system does not tell.
func (i *Idle) Since(now time.Time) float64 {
	name := i.name
	if name == "" {
		name = statFile
	}
	ticks, _, ok := processorTicks(name)
	at, before := i.at, i.ticks
	i.at, i.ticks = now, ticks
	if span := now.Sub(at).Seconds(); ok && !at.IsZero() && span > 0 && ticks >= before {
		return float64(ticks-before) / ticksPerSecond / span
	}
	return 0
}

// processorTicks is the time that all processors together were idle, or waited for a disk,
// and that they were busy: of "cpu  1290819 21713 660187 576113 2181 0 55723" in the file the
// fourth and the fifth number, and the others up to the seventh. What is behind was taken by
// the host, or is part of these.
func processorTicks(file string) (idle, busy int64, ok bool) {
	b, _ := os.ReadFile(file)
	line, _, _ := bytes.Cut(b, []byte("\n"))
	words := bytes.Fields(line)
	if len(words) < 6 || string(words[0]) != "cpu" {
		return 0, 0, false
	}
	for i, word := range words[1:min(len(words), 8)] {
		n, ok := number(word)
		if !ok {
			return 0, 0, false
		}
		if i == 3 || i == 4 {
			idle += n
		} else {
			busy += n
		}
	}
	return idle, busy, true
}
