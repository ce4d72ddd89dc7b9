//go:build !linux

package disk

import (
	"errors"
	"io"
)

func (f file) StartSync(int64, int64) error { return nil }

// Lock implements FS.
func (system) Lock(string, string) (io.Closer, error) { return nil, errors.ErrUnsupported }
