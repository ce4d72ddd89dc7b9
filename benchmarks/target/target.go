// Package target finds and starts the servers that benchmarks compare.
package target

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"heddle/tests/testserver"
)

// Server is a running server.
type Server struct {
	Name string
	*testserver.Server
}

// Kind says how to start a server.
type Kind struct {
	Name    string
	Path    string
	Threads bool // it knows --server-threads
	Floor   bool // it is floor.c, which has no data and takes only a port
}

// Find lists what can be compared: ours, those of the given names that
// are on PATH, and floor.c, built, if it is there.
func Find(heddle, others, floor, tmp string) ([]Kind, error) {
	path, err := filepath.Abs(heddle)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w; make build", err)
	}
	list := []Kind{{Name: "heddle", Path: path, Threads: !testserver.IsRedis(path)}}
	for _, name := range strings.Split(others, ",") {
		if path, err := exec.LookPath(name); err == nil && name != "" {
			list = append(list, Kind{Name: filepath.Base(name), Path: path, Threads: strings.Contains(name, "keydb")})
		}
	}
	if _, err := os.Stat(floor); err == nil {
		binary := filepath.Join(tmp, "floor")
		if out, err := exec.Command("gcc", "-O2", "-o", binary, floor).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "floor.c: %v\n%s", err, out)
		} else {
			list = append(list, Kind{Name: "floor", Path: binary, Floor: true})
		}
	}
	return list, nil
}

// Options say how a server is started.
type Options struct {
	Threads int      // of those that know --server-threads; 0: as many as they like
	Args    []string // more arguments
	// Dir is the folder for its files, which stays; empty: one of its own, removed by Stop.
	Dir string
	// Wait is how long it may take to load and to answer; 0: some seconds.
	Wait time.Duration
}

// Start runs a server without saves unless the arguments say otherwise, and returns once it
// answers.
func Start(k Kind, o Options) (*Server, error) {
	var args []string
	if k.Threads && o.Threads > 0 {
		args = append(args, "--server-threads", strconv.Itoa(o.Threads))
	}
	s, err := testserver.Start(k.Path, testserver.Options{Args: append(args, o.Args...), Dir: o.Dir, Wait: o.Wait, Bare: k.Floor})
	if err != nil {
		return nil, err
	}
	return &Server{k.Name, s}, nil
}

// Settle waits until what a start leaves behind is over, and returns the memory of the
// server as it is, in bytes.
func (s *Server) Settle() int64 {
	time.Sleep(200 * time.Millisecond)
	return s.RSS()
}

// Version asks the server who it is.
func (s *Server) Version() string {
	for _, name := range []string{"heddle_version", "redis_version"} {
		if v := s.Field("server", name); v != "" {
			return v
		}
	}
	return ""
}

// UsedMemory is the memory that the server says it uses, in bytes.
func (s *Server) UsedMemory() int64 {
	n, _ := strconv.ParseInt(s.Field("memory", "used_memory"), 10, 64)
	return n
}
