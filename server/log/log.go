// Package log writes the server's log in Redis' format: process id, role, time,
// a mark for the level, text. Operators' tools and Redis' own tests read it.
//
// A line goes out in one write call, so that lines of several processes do not
// mix. The file stays open; when it was moved away (log rotation), it is made
// again within a second, without a signal.
package log

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Level says how much a line matters.
type Level int32

// The levels, in the order of the words of `loglevel`.
const (
	Debug Level = iota
	Verbose
	Notice
	Warning
	Nothing // as a threshold: no lines at all
)

// marks stand for the levels in a line.
const marks = ".-*#"

// Role is the letter behind the process id.
type Role byte

// The roles.
const (
	Starting Role = 'C' // before the server is up; Redis calls it a child
	Primary  Role = 'M'
	Replica  Role = 'S'
)

// Options say where lines go and from which level on.
type Options struct {
	Level Level
	// File is the path; "" is Out.
	File string
	// Out takes lines when there is no file: standard output if nil.
	Out io.Writer
	// Now is the clock: time.Now if nil.
	Now func() time.Time
	// Syslog, if not nil, gets every line too, without the part before the text.
	Syslog func(level Level, text string)
}

// Logger is a log. Its methods may be called from any goroutine.
type Logger struct {
	level atomic.Int32
	role  atomic.Uint32
	pid   string
	now   func() time.Time

	mu     sync.Mutex
	buf    []byte
	out    io.Writer
	path   string
	file   *os.File
	looked time.Time // when the file was last seen in its place
	syslog func(Level, string)
}

// New returns a logger. A file that cannot be opened is an error now rather
// than lines lost later.
func New(o Options) (*Logger, error) {
	l := &Logger{pid: strconv.Itoa(os.Getpid()), now: o.Now, out: o.Out, path: o.File, syslog: o.Syslog}
	if l.now == nil {
		l.now = time.Now
	}
	if l.out == nil {
		l.out = os.Stdout
	}
	l.SetLevel(o.Level)
	l.SetRole(Starting)
	if l.path == "" {
		return l, nil
	}
	// The working directory may change, the file should not.
	var err error
	if l.path, err = filepath.Abs(l.path); err != nil {
		return nil, err
	}
	return l, l.open()
}

func (l *Logger) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if l.file != nil {
		l.file.Close()
	}
	l.file, l.looked = f, l.now()
	return nil
}

// Close closes the file.
func (l *Logger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// SetLevel changes the threshold.
func (l *Logger) SetLevel(v Level) { l.level.Store(int32(v)) }

// SetRole changes the letter behind the process id.
func (l *Logger) SetRole(r Role) { l.role.Store(uint32(r)) }

// Enabled reports whether lines of a level are written.
func (l *Logger) Enabled(v Level) bool { return int32(v) >= l.level.Load() }

// Debugf writes a line that helps developers.
func (l *Logger) Debugf(format string, args ...any) { l.Logf(Debug, format, args...) }

// Verbosef writes a line of which there may be many.
func (l *Logger) Verbosef(format string, args ...any) { l.Logf(Verbose, format, args...) }

// Noticef writes a line that a production log should have.
func (l *Logger) Noticef(format string, args ...any) { l.Logf(Notice, format, args...) }

// Warningf writes a line that an operator must see.
func (l *Logger) Warningf(format string, args ...any) { l.Logf(Warning, format, args...) }

// Logf writes a line.
func (l *Logger) Logf(v Level, format string, args ...any) {
	if l.Enabled(v) {
		l.Log(v, fmt.Sprintf(format, args...))
	}
}

// Log writes a line of a ready text.
func (l *Logger) Log(v Level, text string) {
	if !l.Enabled(v) || v >= Nothing {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := append(l.buf[:0], l.pid...)
	b = append(b, ':', byte(l.role.Load()), ' ')
	b = l.now().AppendFormat(b, "02 Jan 2006 15:04:05.000")
	b = append(b, ' ', marks[v], ' ')
	b = append(b, text...)
	b = append(b, '\n')
	l.buf = b
	l.write(b)
	if l.syslog != nil {
		l.syslog(v, text)
	}
}

// FromSignal writes the line of a signal that arrived, in the form that Redis
// gives it: seconds, and no mark.
func (l *Logger) FromSignal(text string) {
	if !l.Enabled(Warning) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write(fmt.Appendf(nil, "%s:signal-handler (%d) %s\n", l.pid, l.now().Unix(), text))
	if l.syslog != nil {
		l.syslog(Warning, text)
	}
}

// Raw writes text as it is, such as the logo.
func (l *Logger) Raw(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write([]byte(text))
}

// write sends bytes out; mu is held. Where a log cannot be written, there is
// no place left to say so, and serving goes on.
func (l *Logger) write(b []byte) {
	if l.path == "" {
		_, _ = l.out.Write(b)
		return
	}
	l.reopen()
	if l.file != nil {
		_, _ = l.file.Write(b)
	}
}

// reopen makes the file anew if another, or none, stands in its place.
func (l *Logger) reopen() {
	now := l.now()
	if l.file != nil && now.Sub(l.looked) < time.Second {
		return
	}
	l.looked = now
	if l.file != nil {
		here, err1 := l.file.Stat()
		there, err2 := os.Stat(l.path)
		if err1 == nil && err2 == nil && os.SameFile(here, there) {
			return
		}
	}
	// The old file goes on if the new one cannot be opened.
	_ = l.open()
}
