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

// ticksPerSecond is the unit in which Linux tells of processor time, on all of its
// platforms that Go has.
const ticksPerSecond = 100

// Since returns how many processors were idle on the mean since it was last called; 0 at
// first, and where the system does not tell.
func (i *Idle) Since(now time.Time) float64 {
	name := i.name
	if name == "" {
		name = "/proc/stat"
	}
	b, _ := os.ReadFile(name)
	ticks, ok := idleTicks(b)
	at, before := i.at, i.ticks
	i.at, i.ticks = now, ticks
	if span := now.Sub(at).Seconds(); ok && !at.IsZero() && span > 0 && ticks >= before {
		return float64(ticks-before) / ticksPerSecond / span
	}
	return 0
}

// idleTicks is the time that all processors together were idle, or waited for a disk: the
// fourth and the fifth number of "cpu  1290819 21713 660187 576113 2181 0 55723".
func idleTicks(stat []byte) (sum int64, ok bool) {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	words := bytes.Fields(line)
	if len(words) < 6 || string(words[0]) != "cpu" {
		return 0, false
	}
	idle, ok := number(words[4])
	waiting, ok2 := number(words[5])
	return idle + waiting, ok && ok2
}
