package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"heddle/db"
	"heddle/db/aof"
	"heddle/db/rdb"
)

// tools are the programs that this one is when called by their names, or by the flag.
var tools = [...]struct {
	name, flag string
	run        func(args []string, stdin io.Reader, stdout io.Writer) int
}{
	{"redis-check-rdb", "--check-rdb", checkRDB},
	{"redis-check-aof", "--check-aof", checkAOF},
}

// asTool runs the tool that the program's name or its first argument asks for.
func asTool(program string, args []string, stdin io.Reader, stdout io.Writer) (code int, ok bool) {
	for _, t := range tools {
		switch {
		case filepath.Base(program) == t.name:
			return t.run(args, stdin, stdout), true
		case len(args) > 0 && args[0] == t.flag:
			return t.run(args[1:], stdin, stdout), true
		}
	}
	return 0, false
}

func nowMillis() db.Millis { return db.Millis(time.Now().UnixMilli()) }

func checkRDB(args []string, _ io.Reader, stdout io.Writer) int {
	return rdb.CheckMain(args, stdout, nowMillis())
}

func checkAOF(args []string, stdin io.Reader, stdout io.Writer) int {
	return aof.CheckMain(args, stdin, stdout, aof.CheckOptions{
		Program: "redis-check-aof",
		RDB:     func(r io.Reader, name string, report io.Writer) error { return rdb.Check(r, name, report, nowMillis()) },
	})
}

// recoverFlag asks for the append-only file to be loaded up to a time.
const recoverFlag = "--aof-recover-until"

// takeRecover takes the flag and its time out of the arguments. The time is Unix seconds
// or RFC 3339; 0 without the flag.
func takeRecover(args []string) (rest []string, until int64, err error) {
	i := slices.Index(args, recoverFlag)
	if i < 0 {
		return args, 0, nil
	}
	if i+1 == len(args) {
		return nil, 0, fmt.Errorf("%s wants a time: Unix seconds, or like 2006-01-02T15:04:05Z", recoverFlag)
	}
	if until, err = parseTime(args[i+1]); err != nil {
		return nil, 0, fmt.Errorf("%s wants a time, Unix seconds or like 2006-01-02T15:04:05Z, but got %q", recoverFlag, args[i+1])
	}
	return slices.Concat(args[:i], args[i+2:]), until, nil
}

// parseTime reads a time after 1970.
func parseTime(s string) (int64, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		if n <= 0 {
			return 0, strconv.ErrRange
		}
		return n, nil
	}
	t, err := time.Parse(time.RFC3339, string(bytes.ToUpper([]byte(s))))
	if err != nil || t.Unix() <= 0 {
		return 0, strconv.ErrSyntax
	}
	return t.Unix(), nil
}
