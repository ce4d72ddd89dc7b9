package config

import (
	"errors"
	"syscall"
)

// SysText spells an operating system's error as strerror does, which is how
// Redis' messages name it.
func SysText(err error) string {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return err.Error()
	}
	t := no.Error()
	if t != "" && 'a' <= t[0] && t[0] <= 'z' {
		t = string(t[0]-'a'+'A') + t[1:]
	}
	return t
}
