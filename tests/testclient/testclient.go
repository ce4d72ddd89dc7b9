// Package testclient is a client for tests: whatever goes wrong on its connection ends the
// test.
package testclient

import (
	"strconv"
	"testing"

	"heddle/difftest"
	"heddle/tests/testserver"
)

// Client is a connection of a test, to be used by the test's goroutine.
type Client struct {
	*difftest.Client
	T testing.TB
}

// Dial connects to a server for the length of a test.
func Dial(t testing.TB, addr string) Client {
	t.Helper()
	c, err := difftest.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return Client{c, t}
}

// Do runs a command given as words; an error reply ends the test.
func (c Client) Do(argv ...string) difftest.Reply {
	c.T.Helper()
	return c.All([][]string{argv})[0]
}

// All runs commands, many at once, and returns the replies; none may be an error.
func (c Client) All(commands [][]string) []difftest.Reply {
	c.T.Helper()
	replies := make([]difftest.Reply, 0, len(commands))
	for len(commands) > 0 {
		n := min(200, len(commands))
		if err := c.Send(commands[:n]...); err != nil {
			c.T.Fatal(err)
		}
		for _, argv := range commands[:n] {
			r, err := c.Receive()
			if err != nil || r.Kind == '-' {
				c.T.Fatalf("%.200q: %s %v", argv, r.Text, err)
			}
			replies = append(replies, r)
		}
		commands = commands[n:]
	}
	return replies
}

// Field returns a field of a section of INFO, nothing if it is not there.
func (c Client) Field(section, name string) string {
	c.T.Helper()
	return testserver.InfoField(string(c.Do("INFO", section).Text), name)
}

// Number is Field for a field that is a number.
func (c Client) Number(section, name string) int64 {
	c.T.Helper()
	n, err := strconv.ParseInt(c.Field(section, name), 10, 64)
	if err != nil {
		c.T.Fatalf("INFO %s, %s: %v", section, name, err)
	}
	return n
}
