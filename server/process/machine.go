package process

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Usage is what the process has used so far.
type Usage struct {
	RSS, PeakRSS int64 // bytes
	User, System time.Duration
	Children     [2]time.Duration // user and system time of ended children
	Faults       int64            // page faults that needed the disk
}

// ReadUsage asks the system. What it does not tell stays 0.
func ReadUsage() Usage {
	var u Usage
	u.RSS, u.PeakRSS = readStatus("/proc/self/status")
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) == nil {
		u.User, u.System = time.Duration(r.Utime.Nano()), time.Duration(r.Stime.Nano())
		u.Faults = r.Majflt
	}
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &r) == nil {
		u.Children = [2]time.Duration{time.Duration(r.Utime.Nano()), time.Duration(r.Stime.Nano())}
	}
	return u
}

// ThreadUsage returns the CPU time of the calling thread.
func ThreadUsage() (user, system time.Duration) {
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &r) != nil {
		return 0, 0
	}
	return time.Duration(r.Utime.Nano()), time.Duration(r.Stime.Nano())
}

func readStatus(path string) (rss, peak int64) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(b)) {
		name, val, _ := strings.Cut(line, ":")
		switch name {
		case "VmRSS":
			rss = kilobytes(val)
		case "VmHWM":
			peak = kilobytes(val)
		}
	}
	return rss, peak
}

// kilobytes reads "  123 kB" as bytes.
func kilobytes(s string) int64 {
	f := strings.Fields(s)
	if len(f) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(f[0], 10, 64)
	return n << 10
}

// Memory is the machine's memory in bytes.
type Memory struct{ Total, Available int64 }

// ReadMemory asks the system, and the control group if that allows less.
func ReadMemory() Memory {
	var m Memory
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return m
	}
	for line := range strings.Lines(string(b)) {
		name, val, _ := strings.Cut(line, ":")
		switch name {
		case "MemTotal":
			m.Total = kilobytes(val)
		case "MemAvailable":
			m.Available = kilobytes(val)
		}
	}
	if limit, ok := readNumber("/sys/fs/cgroup/memory.max"); ok && limit < m.Total {
		used, _ := readNumber("/sys/fs/cgroup/memory.current")
		m.Total = limit
		m.Available = min(m.Available, max(limit-used, 0))
	}
	return m
}

func readNumber(path string) (int64, bool) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n, err == nil
}

// SystemName is the system, its release and the machine, as uname tells them.
func SystemName() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "Linux"
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:]) + " " + unix.ByteSliceToString(u.Machine[:])
}

// Check is the outcome of looking at one property of the system.
type Check struct {
	Name string
	Warn string // "" if all is well
}

// CheckSystem looks at what is known to hurt the server.
func CheckSystem(backlog int64) []Check {
	checks := []Check{{Name: "slow-clocksource"}, {Name: "tcp-backlog"}}
	if b, err := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource"); err == nil {
		if c := strings.TrimSpace(string(b)); c != "tsc" && !strings.Contains(c, "kvm") && !strings.Contains(c, "hyperv") && c != "arch_sys_counter" {
			checks[0].Warn = "The system's clock source is " + c + ". Reading it may take a system call, and the server reads it often."
		}
	}
	if n, ok := readNumber("/proc/sys/net/core/somaxconn"); ok && n < backlog {
		checks[1].Warn = "The TCP backlog setting of " + strconv.FormatInt(backlog, 10) +
			" cannot be enforced because /proc/sys/net/core/somaxconn is set to the lower value of " + strconv.FormatInt(n, 10) + "."
	}
	return checks
}
