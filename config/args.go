package config

import (
	"strings"
)

// Mode is what a command line asks for.
type Mode uint8

// The modes.
const (
	Serve Mode = iota
	ShowVersion
	ShowHelp
	TestMemory
	CheckSystem
	Sentinel
)

// CommandLine is what was asked for on the command line.
type CommandLine struct {
	Mode    Mode
	File    string // "" without one
	Stdin   bool   // read configuration from standard input too
	Options string // lines of configuration made of the options
}

// ParseArgs reads the arguments behind the program's name as redis-server
// does: a file, then options, then a dash for standard input.
func ParseArgs(args []string) CommandLine {
	var c CommandLine
	if len(args) == 0 {
		return c
	}
	switch args[0] {
	case "-v", "--version":
		c.Mode = ShowVersion
		return c
	case "-h", "--help":
		c.Mode = ShowHelp
		return c
	case "--test-memory":
		c.Mode = TestMemory
		return c
	case "--check-system":
		c.Mode = CheckSystem
		return c
	}
	for _, a := range args {
		if a == "--sentinel" {
			c.Mode = Sentinel
			return c
		}
	}
	if !strings.HasPrefix(args[0], "-") {
		c.File, args = args[0], args[1:]
	}
	c.Options, c.Stdin = joinOptions(args)
	return c
}

// joinOptions turns options into lines of configuration. A word that begins
// with two dashes names a directive if the one before has an argument already;
// `--save` alone means `save ""`.
func joinOptions(args []string) (lines string, stdin bool) {
	var b strings.Builder
	complete := true // the directive before has at least one argument
	for i, a := range args {
		last := i == len(args)-1
		switch {
		case a == "-" && last:
			return b.String(), true
		case complete && strings.HasPrefix(a, "--"):
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(a[2:])
			b.WriteByte(' ')
			words, _ := SplitArgs(a)
			complete = len(words) != 1
			if strings.EqualFold(a, "--save") && (last || strings.HasPrefix(args[i+1], "--")) {
				b.WriteString(`""`)
				complete = true
			}
		default:
			b.WriteString(Quote(a))
			b.WriteByte(' ')
			complete = true
		}
	}
	return b.String(), false
}
