package rdb

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// checkFile is Check.
func checkFile(r io.Reader, name string, report io.Writer) error {
	_, err := Load(r, name, nil, LoadOptions{})
	if err != nil {
		fmt.Fprintln(report, err)
	}
	return err
}

// CheckMain is the program redis-check-rdb: args are those behind its name. It returns the
// exit code.
func CheckMain(args []string, stdout io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stdout, "Usage: redis-check-rdb <rdb-file-name>")
		return 1
	}
	f, err := os.Open(args[0])
	if err != nil {
		fmt.Fprintln(stdout, err)
		return 1
	}
	defer f.Close()
	err = Check(f, args[0], stdout)
	if err != nil && !errors.Is(err, io.EOF) {
		return 1
	}
	return 0
}
