package persist

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"heddle/disk/simdisk"
)

// lastFolder is where the log says that the append-only file is.
func (w *world) lastFolder() string {
	const moved, stays = "The append-only file has moved to ", "it goes on in "
	text := w.lines.String()
	at, n := strings.LastIndex(text, moved), len(moved)
	if i := strings.LastIndex(text, stays); i > at {
		at, n = i, len(stays)
	}
	if at < 0 {
		return dataDir
	}
	name, _, _ := strings.Cut(text[at+n:], "\n")
	return strings.TrimSuffix(name, "/appendonlydir")
}

// moveWithFaults has the append-only file follow the directive dir, while the operations
// with two numbers fail, counted from the begin of the move, and then the power. What was
// acknowledged must be in the folder that the log names. It returns how many operations
// there were.
func moveWithFaults(t *testing.T, i, j int) int {
	d := newDisk(t, otherDir)
	w := open(t, d, always, "save ''")
	w.Do("sadd s 1 2 3").Want(":3\r\n")
	w.durable()
	w.set("dir", otherDir)
	base := d.Ops()
	d.Fail(func(op simdisk.Op) error {
		if op.N == base+i || op.N == base+j {
			return syscall.EIO
		}
		return nil
	})
	acked := []string{"1", "2", "3"}
	write := func(member string) {
		if w.Do("sadd s "+member).Raw() == ":1\r\n" && w.k.flushAOFWithin(50*time.Millisecond) == nil {
			acked = append(acked, member)
		}
	}
	crash := func(n int) {
		t.Helper()
		r := open(t, d.Crash(simdisk.Survival(n%3), uint64(n)), always, "dir "+w.lastFolder())
		for _, member := range acked {
			if r.Do("sismember s "+member).Raw() != ":1\r\n" {
				t.Errorf("faults at %d and %d: %s is not in %s\n%s\n%s", i, j, member, w.lastFolder(), w.lines, r.lines)
			}
		}
		r.stop()
		r.Close()
	}
	_, _ = w.k.BGRewriteAOF(false)
	write("x")
	w.k.idleWithin()
	write("y")
	crash(i + j)
	w.k.running.Wait()
	write("z")
	crash(i + j + 1)
	d.Fail(nil)
	ops := d.Ops() - base
	w.stop()
	w.Close()
	return ops
}

// TestMoveWithTwoFaults does that with any two operations.
func TestMoveWithTwoFaults(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 7
	}
	ops := moveWithFaults(t, -1, -1)
	if ops < 15 {
		t.Fatalf("only %d operations", ops)
	}
	for i := 0; i < ops; i++ {
		for j := i + 1 + i%step; j <= ops+2; j += step {
			moveWithFaults(t, i, j)
			if t.Failed() {
				t.Fatal(fmt.Sprint(i, j))
			}
		}
	}
}
