package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"heddle/config"
	"heddle/server/log"
)

const usage = `Usage: ./heddle-server [/path/to/heddle.conf] [options] [-]
       ./heddle-server - (read config from stdin)
       ./heddle-server -v or --version
       ./heddle-server -h or --help
       ./heddle-server --check-system
       ./heddle-server --check-rdb file.rdb
       ./heddle-server --check-aof [--fix | --truncate-to-timestamp <unix time>] file.manifest|file.aof

Called by the name redis-check-rdb or redis-check-aof it is that program.

Every directive of the configuration file is an option: --directive arguments.
A redis.conf or keydb.conf does as a configuration file.

--aof-recover-until <time> loads the append-only file up to a time, in Unix seconds or like
2006-01-02T15:04:05Z, and goes on from there. It needs a file that was written with
aof-timestamp-enabled yes. The files as they were are kept in a folder beside. At a later start the same time does nothing.

Examples:
       ./heddle-server (run the server with default conf)
       echo 'maxmemory 128mb' | ./heddle-server -
       ./heddle-server /etc/heddle/6379.conf
       ./heddle-server --port 7777
       ./heddle-server --port 7777 --server-threads 4 --save ''
       ./heddle-server /etc/myheddle.conf --loglevel verbose -
       ./heddle-server /etc/myheddle.conf --loglevel verbose
`

// buildID tells builds apart: the hash of the build's settings in short.
func buildID() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return commit
	}
	return fmt.Sprintf("%s-%s", commit, strings.TrimPrefix(info.GoVersion, "go"))
}

// greet begins the log as redis-server does.
func greet(c *config.Store, l *log.Logger) {
	l.Warningf("oO0OoO0OoO0Oo Heddle is starting oO0OoO0OoO0Oo")
	l.Warningf("Heddle version=%s, Redis version=%s, bits=64, commit=%s, modified=%s, pid=%d, just started",
		config.Version, config.RedisVersion, commit, dirty, os.Getpid())
	if c.Path() == "" {
		l.Warningf("Configuration loaded from the command line and the built-in defaults; the file heddle.conf explains all directives")
	} else {
		l.Warningf("Configuration loaded")
	}
	l.SetRole(log.Primary)
	for _, p := range c.Ineffective() {
		l.Warningf("WARNING: %s has no effect: %s", p.Name, p.Value)
	}
}

// logo is for terminals, and for those who look for " PID: " in the log.
const logo = `
   |  |  |  |  |  |
  =o==o==o==o==o==o=      Heddle %s (%s/%s) 64 bit
   |  |  |  |  |  |       as Redis %s
   |\ |\ |\ |\ |\ |
   | \| \| \| \| \|       Running in standalone mode
  =o==o==o==o==o==o=      Port: %d
   |  |  |  |  |  |       PID: %d

`

// showLogo shows it when the log is a terminal or always-show-logo says so.
func showLogo(c *config.Store, l *log.Logger) {
	if !c.Bool("always-show-logo") && !onTerminal(c) {
		l.Noticef("Running mode=standalone, port=%d.", c.Int("port"))
		return
	}
	l.Raw(fmt.Sprintf(logo, config.Version, commit, dirty, config.RedisVersion, c.Int("port"), os.Getpid()))
}

func onTerminal(c *config.Store) bool {
	if c.Bool("daemonize") || c.Bool("syslog-enabled") || c.String("logfile") != "" {
		return false
	}
	st, err := os.Stdout.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}
