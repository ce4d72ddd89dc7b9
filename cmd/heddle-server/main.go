// Command heddle-server is a Redis-compatible server. It reads flags and
// configuration, builds the parts and runs them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"heddle/config"
	"heddle/server/host"
	"heddle/server/log"
	"heddle/server/process"
)

// The linker sets these: see the Makefile.
var (
	commit = "00000000"
	dirty  = "0"
)

func main() { os.Exit(profiled(os.Args[1:])) }

// profiled is run with the CPU profile that the environment may ask for.
func profiled(args []string) int {
	stop, err := process.Profile()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := run(args, os.Stdin, os.Stdout, os.Stderr)
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return code
}

func build() host.Build {
	return host.Build{Name: strings.Clone(os.Args[0]), Commit: commit, Dirty: dirty != "0", ID: buildID()}
}

// run does what the command line asks for and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if code, ok := asTool(os.Args[0], args, stdin, stdout); ok {
		return code
	}
	args, until, err := takeRecover(args)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	c := config.ParseArgs(cloneAll(args))
	switch c.Mode {
	case config.ShowVersion:
		fmt.Fprintf(stdout, "Redis server v=%s sha=%s:%s malloc=arena bits=64 build=%s (Heddle %s)\n", config.RedisVersion, commit, dirty, buildID(), config.Version)
		return 0
	case config.ShowHelp:
		fmt.Fprint(stderr, usage)
		return 1
	case config.TestMemory:
		fmt.Fprintln(stderr, "This server has no memory test. Use memtester or memtest86.")
		return 1
	case config.CheckSystem:
		return checkSystem(stdout)
	case config.Sentinel:
		fmt.Fprintln(stderr, "This server has no sentinel mode.")
		return 1
	}
	return start(c, until, stdin, stdout, stderr)
}

// cloneAll copies the arguments: setting the title overwrites the originals.
func cloneAll(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = strings.Clone(a)
	}
	return out
}

// start reads the configuration and serves, here or in the background.
func start(c config.CommandLine, until int64, stdin io.Reader, stdout, stderr io.Writer) int {
	daemon := process.IsDaemon()
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(stderr, "The working directory is not to be found:", err)
		return 1
	}
	logger, err := log.New(log.Options{Level: log.Notice, Out: stdout})
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	store, text, err := load(c, stdin, logger)
	if err != nil {
		report(err, logger, stderr)
		return 1
	}
	if logger, err = openLog(store, stdout); err != nil {
		report(err, logger, stderr)
		return 1
	}
	defer logger.Close()
	supervisor, err := process.DetectSupervisor(store.String("supervised"), os.Getenv)
	if err != nil {
		logger.Warningf("WARNING: %v", err)
	}
	background := store.Bool("daemonize") && supervisor == process.Unsupervised
	if background && !daemon {
		if _, err := process.Daemonize(dir, text); err != nil {
			logger.Warningf("Going to the background: %v", err)
			return 1
		}
		return 0
	}
	return serve(store, logger, supervisor, background, until)
}

// load reads all sources. It returns what standard input said, too.
func load(c config.CommandLine, stdin io.Reader, logger *log.Logger) (store *config.Store, text string, err error) {
	store = config.New(config.Dirs{Chdir: os.Chdir, Getwd: os.Getwd})
	src := config.Source{File: c.File, Options: c.Options}
	if c.Stdin {
		logger.Warningf("Reading config from stdin")
		b, err := io.ReadAll(stdin)
		if err != nil {
			return nil, "", err
		}
		text = string(b)
		src.Stdin = strings.NewReader(text)
	}
	return store, text, store.Load(src)
}

// report tells why the configuration does not do, where redis-server tells it.
func report(err error, logger *log.Logger, stderr io.Writer) {
	var open *config.OpenError
	if errors.As(err, &open) {
		logger.Warningf("%v", err)
		return
	}
	fmt.Fprint(stderr, err)
}

// openLog opens the log that the configuration names.
func openLog(c *config.Store, stdout io.Writer) (*log.Logger, error) {
	o := log.Options{Level: log.Level(c.Int("loglevel")), File: c.String("logfile"), Out: stdout}
	var noSyslog error
	if c.Bool("syslog-enabled") {
		o.Syslog, noSyslog = log.OpenSyslog(c.String("syslog-ident"), c.String("syslog-facility"))
	}
	l, err := log.New(o)
	if err != nil {
		return nil, config.Fatal("Can't open the log file: " + config.SysText(err))
	}
	if noSyslog != nil {
		l.Warningf("WARNING: the system's log cannot be reached: %v", noSyslog)
	}
	return l, nil
}

// serve builds the parts and runs them until they are asked to stop.
func serve(c *config.Store, logger *log.Logger, supervisor process.Supervisor, background bool, until int64) int {
	greet(c, logger)
	h, err := assemble(c, logger, supervisor, background, until)
	if err != nil {
		var bad *config.LineError
		if errors.As(err, &bad) {
			fmt.Fprint(os.Stderr, err)
		} else if text := err.Error(); text != "" {
			logger.Warningf("%s", text)
		}
		return 1
	}
	return h.Serve(context.Background())
}

func checkSystem(out io.Writer) int {
	code := 0
	for _, c := range process.CheckSystem(511) {
		if c.Warn == "" {
			fmt.Fprintf(out, "[%s]...OK\n", c.Name)
			continue
		}
		fmt.Fprintf(out, "[%s]...WARNING:\n%s\n", c.Name, c.Warn)
		code = 1
	}
	return code
}
