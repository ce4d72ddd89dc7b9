package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"heddle/tests/testserver"
)

// audience is the subscribers of a round.
type audience struct {
	conns []net.Conn
	frame int64 // bytes of a message as each gets it
	bytes atomic.Int64
	more  chan struct{} // something came
	done  sync.WaitGroup
}

const channel = "news"

// subscribe opens all subscribers and waits until they are confirmed.
func (o options) subscribe(addr string) (*audience, error) {
	a := &audience{more: make(chan struct{}, 1)}
	command, name := "SUBSCRIBE", channel
	a.frame = int64(len(fmt.Sprintf("*3\r\n$7\r\nmessage\r\n$%d\r\n%s\r\n$%d\r\n\r\n", len(channel), channel, o.size)) + o.size)
	if o.patterns {
		command, name = "PSUBSCRIBE", "n*"
		a.frame += int64(len("$8\r\npmessage\r\n") - len("$7\r\nmessage\r\n") + len("$2\r\nn*\r\n"))
	}
	confirmed := len(fmt.Sprintf("*3\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n:1\r\n", len(command), command, len(name), name))
	for range o.subscribers {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return a, err
		}
		a.conns = append(a.conns, c)
		if _, err := fmt.Fprintf(c, "%s %s\r\n", command, name); err != nil {
			return a, err
		}
	}
	for _, c := range a.conns {
		if _, err := io.ReadFull(c, make([]byte, confirmed)); err != nil {
			return a, err
		}
		a.done.Go(func() { a.listen(c) })
	}
	return a, nil
}

func (a *audience) listen(c net.Conn) {
	buf := make([]byte, 4<<10)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		a.bytes.Add(int64(n))
		select {
		case a.more <- struct{}{}:
		default:
		}
	}
}

// await returns when all together have got so many messages.
func (a *audience) await(messages int64) error {
	for a.bytes.Load() < messages*a.frame {
		select {
		case <-a.more:
		case <-time.After(10 * time.Second):
			return errors.New("messages were lost")
		}
	}
	return nil
}

func (a *audience) close() {
	for _, c := range a.conns {
		c.Close()
	}
	a.done.Wait()
}

// round runs the load on one server.
func (o options) round(s *testserver.Server) (result, error) {
	a, err := o.subscribe(s.Addr)
	defer a.close()
	if err != nil {
		return result{}, err
	}
	c, err := net.Dial("tcp", s.Addr)
	if err != nil {
		return result{}, err
	}
	defer c.Close()
	payload := strings.Repeat("x", o.size)
	publish := fmt.Sprintf("*3\r\n$7\r\nPUBLISH\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(channel), channel, o.size, payload)
	batch := []byte(strings.Repeat(publish, o.pipeline))
	replies := bufio.NewReader(c)
	before, err := s.CPU()
	if err != nil {
		return result{}, err
	}
	start := time.Now()
	sent := int64(0)
	for time.Since(start) < o.span {
		if _, err := c.Write(batch); err != nil {
			return result{}, err
		}
		for range o.pipeline {
			line, err := replies.ReadString('\n')
			if want := fmt.Sprintf(":%d\r\n", o.subscribers); err != nil || line != want {
				return result{}, fmt.Errorf("PUBLISH: %q, %v, want %q", line, err, want)
			}
		}
		sent += int64(o.pipeline)
		if err := a.await((sent - int64(o.window)) * int64(o.subscribers)); err != nil {
			return result{}, err
		}
	}
	messages := sent * int64(o.subscribers)
	if err := a.await(messages); err != nil {
		return result{}, err
	}
	took := time.Since(start)
	after, err := s.CPU()
	return result{messages: messages, took: took, cpu: after - before}, err
}
