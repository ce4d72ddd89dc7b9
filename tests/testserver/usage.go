package testserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// CPU is the time that the process and its ended children have spent, in user and kernel mode.
func (s *Server) CPU() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.PID()))
	if err != nil {
		return 0, err
	}
	return parseStat(string(b))
}

// parseStat adds up user and system time of a process and its children, counted in
// hundredths of a second, in /proc/PID/stat. The name in brackets may hold spaces.
func parseStat(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return 0, fmt.Errorf("unknown format of stat: %q", stat)
	}
	var ticks int64
	for _, f := range fields[11:15] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// RSS is the memory that the process has in use, in bytes; 0 if it is gone.
func (s *Server) RSS() int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", s.PID()))
	if f := strings.Fields(string(b)); len(f) > 1 {
		n, _ := strconv.ParseInt(f[1], 10, 64)
		return n * int64(os.Getpagesize())
	}
	return 0
}

// Field returns a field of a section of INFO, nothing if it is not there.
func (s *Server) Field(section, name string) string {
	info, _ := s.Ask("INFO " + section)
	return InfoField(info, name)
}

// InfoField finds a field in the text of INFO; nothing if it is not there.
func InfoField(info, name string) string {
	_, after, _ := strings.Cut(info, "\n"+name+":")
	value, _, _ := strings.Cut(after, "\r\n")
	return value
}

// Ask sends an inline command on a connection of its own and returns the reply: a line,
// with its first byte, or what a bulk holds.
func (s *Server) Ask(line string) (string, error) { return s.ask(line, time.Minute) }

func (s *Server) ask(line string, most time.Duration) (string, error) {
	if s.bare {
		return "", errBare
	}
	c, err := net.Dial("tcp", s.Addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(most))
	fmt.Fprintf(c, "%s\r\n", line)
	in := bufio.NewReader(c)
	reply, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	var n int
	if _, err := fmt.Sscanf(reply, "$%d\r\n", &n); err == nil && n > 0 {
		body := make([]byte, n)
		_, err := io.ReadFull(in, body)
		return string(body), err
	}
	return strings.TrimSpace(reply), nil
}
