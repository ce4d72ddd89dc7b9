package rdb

import (
	"errors"
	"fmt"
	"io"
)

// Error says what is wrong with a file, and where.
type Error struct {
	File   string // its name as Load was given it; "" of a payload of DUMP
	Offset int64  // of the first byte of what is wrong
	Msg    string // what was expected, what was found
	Key    string // the key at hand, "" if there is none
	Err    error  // what is behind it: io.ErrUnexpectedEOF where the file ends too early
}

// Error spells it as "file: offset N: message".
func (e *Error) Error() string {
	s := fmt.Sprintf("offset %d: %s", e.Offset, e.Msg)
	if e.File != "" {
		s = e.File + ": " + s
	}
	if e.Key != "" {
		s += fmt.Sprintf(" (key %q)", e.Key)
	}
	return s
}

// Unwrap returns the error behind it.
func (e *Error) Unwrap() error { return e.Err }

// Errors that an Error may wrap.
var (
	// ErrChecksum says that the checksum at the end of a file is not that of its bytes.
	ErrChecksum = errors.New("rdb: wrong checksum")
	// ErrVersion says that a file is of a version that is not known.
	ErrVersion = errors.New("rdb: unknown version")
	// ErrSignature says that a file does not begin as one does.
	ErrSignature = errors.New("rdb: no RDB file")
	// ErrDuplicate says that a key is there already.
	ErrDuplicate = errors.New("rdb: key exists twice")
)

// errEnd is wrapped where bytes are missing.
var errEnd = io.ErrUnexpectedEOF
