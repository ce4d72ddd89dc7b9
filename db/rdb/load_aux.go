package rdb

import (
	"fmt"
	"strconv"
)

// aux takes a fact about the file, and tells the log of those that Redis tells.
func (c *cutter) aux(name, value string) {
	if c.err != nil {
		return
	}
	c.result.Aux = append(c.result.Aux, [2]string{name, value})
	if c.l.o.Aux != nil {
		c.l.o.Aux(name, value)
	}
	n, err := strconv.ParseInt(value, 10, 64)
	switch name {
	case "redis-ver", "valkey-ver":
		c.l.log("Loading RDB produced by version " + value)
	case "ctime":
		if err == nil {
			c.l.log(fmt.Sprintf("RDB age %d seconds", max(int64(c.l.o.Now)/1000-n, 0)))
		}
	case "used-mem":
		if err == nil {
			c.l.log(fmt.Sprintf("RDB memory usage when created %.2f Mb", float64(n)/(1<<20)))
		}
	case "aof-preamble", "aof-base":
		if c.result.Preamble = err == nil && n != 0; c.result.Preamble {
			c.l.log("RDB is base AOF")
		}
	}
}
