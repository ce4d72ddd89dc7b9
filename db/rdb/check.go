package rdb

import "io"

// Check reads an RDB as redis-check-rdb does and reports what it finds.
func Check(r io.Reader, name string, report io.Writer) error { return checkFile(r, name, report) }
