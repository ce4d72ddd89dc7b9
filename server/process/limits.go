package process

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// FilesReserved is how many descriptors are kept for what is not a client: log,
// listeners, pollers, files. That is Redis' number, and does for two workers;
// each further one needs a poller, a mailbox, a spare descriptor and a listener
// an address.
func FilesReserved(workers, addresses int) int64 {
	return 32 + int64(max(workers-2, 0)*(3+addresses))
}

// ErrTooFewFiles is a limit of open files too low to serve at all.
var ErrTooFewFiles = errors.New("too few open files allowed")

// RaiseFiles makes the limit of open files allow clients, beside the reserved
// ones, as far as the system lets it. It returns how many clients the limit allows, and what to log.
func RaiseFiles(clients, reserved int64) (allowed int64, lines []string, err error) {
	need := uint64(clients + reserved)
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil {
		return min(clients, 1024-reserved), []string{fmt.Sprintf(
			"Unable to obtain the current NOFILE limit (%v), assuming 1024 and setting the max clients configuration accordingly.", err)}, nil
	}
	if now.Cur >= need {
		return clients, nil, nil
	}
	refused := raise(now, need)
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil {
		return 0, nil, err
	}
	if now.Cur >= need {
		return clients, []string{fmt.Sprintf("Increased maximum number of open files to %d (it was originally set to less).", now.Cur)}, nil
	}
	if now.Cur <= uint64(reserved) {
		return 0, []string{fmt.Sprintf("Your current 'ulimit -n' of %d is not enough for the server to start. "+
			"Please increase your open file limit to at least %d. Exiting.", now.Cur, need)}, ErrTooFewFiles
	}
	allowed = int64(now.Cur) - reserved
	return allowed, []string{
		fmt.Sprintf("You requested maxclients of %d requiring at least %d max file descriptors.", clients, need),
		fmt.Sprintf("Server can't set maximum open files to %d because of OS error: %s.", need, osText(refused)),
		fmt.Sprintf("Current maximum open files is %d. maxclients has been reduced to %d to compensate for low ulimit. "+
			"If you need higher maxclients increase 'ulimit -n'.", now.Cur, allowed),
	}, nil
}

// raise sets the limit to need or, failing that, to the most that is allowed.
func raise(now unix.Rlimit, need uint64) error {
	err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: need, Max: max(need, now.Max)})
	if err == nil || now.Cur >= now.Max {
		return err
	}
	if err2 := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: min(need, now.Max), Max: now.Max}); err2 != nil {
		return err2
	}
	return err
}

// osText spells an error of the operating system as strerror does.
func osText(err error) string {
	if err == nil {
		return "Success"
	}
	t := err.Error()
	return strings.ToUpper(t[:1]) + t[1:]
}

// OOMMode is what oom-score-adj says.
type OOMMode int64

// The modes, with the numbers of the directive's words.
const (
	OOMOff OOMMode = iota
	OOMRelative
	OOMAbsolute
)

// OOMScore sets the process' score for the out-of-memory killer.
type OOMScore struct {
	path string
	base int // before we changed it
	ours bool
}

// NewOOMScore returns the score of this process.
func NewOOMScore() *OOMScore { return newOOMScore("/proc/self/oom_score_adj") }

func newOOMScore(path string) *OOMScore { return &OOMScore{path: path} }

// Apply sets the score to value, or value above the one that it finds, or puts
// back what it found if it was changed before.
func (s *OOMScore) Apply(mode OOMMode, value int) error {
	if mode == OOMOff && !s.ours {
		return nil
	}
	if !s.ours {
		b, err := os.ReadFile(s.path)
		if err != nil {
			return err
		}
		if s.base, err = strconv.Atoi(strings.TrimSpace(string(b))); err != nil {
			return err
		}
	}
	switch mode {
	case OOMRelative:
		value += s.base
	case OOMOff:
		value = s.base
	}
	value = min(max(value, -1000), 1000)
	if err := os.WriteFile(s.path, []byte(strconv.Itoa(value)), 0o644); err != nil {
		return err
	}
	s.ours = mode != OOMOff
	return nil
}

// ParseCPUs reads a list of CPUs as Redis' *_cpulist directives have it:
// numbers and ranges, with a step: 0,2-3,4-10:2.
func ParseCPUs(list string) ([]int, error) {
	var out []int
	for _, item := range strings.Split(list, ",") {
		first, step := item, 1
		if before, after, ok := strings.Cut(item, ":"); ok {
			n, err := strconv.Atoi(after)
			if err != nil || n < 1 {
				return nil, fmt.Errorf("bad step in list of CPUs %q", list)
			}
			first, step = before, n
		}
		lo, hi, isRange := strings.Cut(first, "-")
		if !isRange {
			hi = lo
		}
		a, err1 := strconv.ParseUint(lo, 10, 10)
		b, err2 := strconv.ParseUint(hi, 10, 10)
		if err1 != nil || err2 != nil || b < a {
			return nil, fmt.Errorf("bad list of CPUs %q", list)
		}
		for c := int(a); c <= int(b); c += step {
			out = append(out, c)
		}
	}
	return out, nil
}

// UseCPUs binds all threads of the process, and those they will start, to CPUs.
func UseCPUs(cpus []int) error {
	var set unix.CPUSet
	for _, c := range cpus {
		set.Set(c)
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		// A thread may have ended since; the others still count.
		if err := unix.SchedSetaffinity(id, &set); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// Procs is how many threads may run Go code at once: one for each worker, which
// keep theirs busy, and three for cron, a reader of a snapshot and the collector of
// garbage beside them. With one fewer than are busy, a worker that lets cron run
// waits up to 10 ms for its turn: beside a reader, the latest of a thousand replies
// came after 8 ms with workers+1, 3.5 ms with workers+3. A GET costs the same with
// 2, 3 and 4.
func Procs(workers int) int { return min(workers+3, math.MaxInt16) }
