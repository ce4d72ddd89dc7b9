package rdb

import "hash/crc64"

// The checksum is CRC-64 after David Jones: polynomial 0xad93d23594c935a9,
// bits reflected, beginning with zero and not inverted at the end. The standard
// library takes the polynomial reflected, and inverts before and after; so the
// numbers are turned around on both sides of a call.
const jonesReflected = 0x95ac9329ac4bc9b5

// Checksum is a running checksum. The zero value is no checksum at all: make it
// with NewChecksum.
type Checksum struct {
	table *crc64.Table
	sum   uint64
}

// NewChecksum gives the checksum of nothing.
func NewChecksum() Checksum {
	return Checksum{table: crc64.MakeTable(jonesReflected)}
}

// Add takes p into the sum. A byte costs less in pieces of 2 KB or more.
func (c *Checksum) Add(p []byte) {
	c.sum = ^crc64.Update(^c.sum, c.table, p)
}

// Sum is the checksum of all that was added.
func (c *Checksum) Sum() uint64 { return c.sum }
