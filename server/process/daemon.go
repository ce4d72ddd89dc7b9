// Package process does what the server asks of the operating system about its
// own process: going to the background, the pid file, telling systemd, limits
// of files, the out-of-memory score, the title in the list of processes, CPUs,
// signals, and what INFO says of the machine.
package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// daemonEnv marks the process that serves in the background.
const daemonEnv = "HEDDLE_DAEMON"

// IsDaemon reports whether this process was started by Daemonize. It removes
// the mark, so that it is to be asked once.
func IsDaemon() bool {
	is := os.Getenv(daemonEnv) != ""
	_ = os.Unsetenv(daemonEnv)
	return is
}

// Daemonize starts this program again with the same arguments, in a session of
// its own, without terminal: Go cannot fork. The new process begins in
// directory dir and reads stdin, if that is not empty. The caller exits.
func Daemonize(dir, stdin string) (pid int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	in := null
	if stdin != "" {
		if in, err = unnamedFile(stdin); err != nil {
			return 0, err
		}
		defer in.Close()
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, in, null, null
	cmd.Env = append(os.Environ(), daemonEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	pid = cmd.Process.Pid
	return pid, cmd.Process.Release()
}

// unnamedFile returns a file that holds text and has no name any more.
func unnamedFile(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "heddle")
	if err != nil {
		return nil, err
	}
	err = os.Remove(f.Name())
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// WritePidFile writes the process id to a file.
func WritePidFile(path string) error {
	return os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644)
}

// Supervisor is who looks after the process.
type Supervisor uint8

// The supervisors.
const (
	Unsupervised Supervisor = iota
	Systemd
	Upstart
)

// String is the word that INFO shows.
func (s Supervisor) String() string { return [...]string{"no", "systemd", "upstart"}[s] }

// DetectSupervisor decides by the word of `supervised` and the environment.
func DetectSupervisor(word string, getenv func(string) string) (Supervisor, error) {
	systemd, upstart := getenv("NOTIFY_SOCKET") != "", getenv("UPSTART_JOB") != ""
	switch {
	case word == "auto" && systemd, word == "systemd" && systemd:
		return Systemd, nil
	case word == "auto" && upstart, word == "upstart" && upstart:
		return Upstart, nil
	case word == "systemd":
		return Unsupervised, errors.New("systemd supervision requested, but NOTIFY_SOCKET not found")
	case word == "upstart":
		return Unsupervised, errors.New("upstart supervision requested, but UPSTART_JOB not found")
	}
	return Unsupervised, nil
}

// Ready tells the supervisor that the server accepts connections.
func (s Supervisor) Ready() error {
	switch s {
	case Systemd:
		return Notify("STATUS=Ready to accept connections\nREADY=1\n")
	case Upstart:
		return syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	return nil
}

// Stopping tells the supervisor that the server is on its way down.
func (s Supervisor) Stopping() error {
	if s == Systemd {
		return Notify("STOPPING=1\n")
	}
	return nil
}

// Notify sends a state to the socket that systemd named; none is no error.
func Notify(state string) error {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "@") {
		return fmt.Errorf("NOTIFY_SOCKET %q is no socket's path", path)
	}
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	// An @ in front means the abstract name space; the call knows that.
	return syscall.Sendto(fd, []byte(state), syscall.MSG_NOSIGNAL, &syscall.SockaddrUnix{Name: path})
}
