package config

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestSetWaits: who may not wait is told so, and nothing has changed.
func TestSetWaits(t *testing.T) {
	s := New(Dirs{})
	begun, free, fail := make(chan struct{}), make(chan struct{}), errors.New("no")
	s.Slow("appendonly")
	s.OnApply(func() error {
		if !s.Bool("appendonly") {
			return nil // taken back
		}
		begun <- struct{}{}
		<-free
		return fail
	}, "appendonly")
	slow := []Pair{{"maxmemory", "1mb"}, {"AppendOnly", "yes"}}
	other := []Pair{{"maxmemory", "2mb"}}
	if err := s.Set(slow, SetOptions{NoWait: true}); err != ErrWaits || s.Bytes("maxmemory") != 0 {
		t.Errorf("%v, maxmemory %d", err, s.Bytes("maxmemory"))
	}
	done := make(chan error, 2)
	go func() { done <- s.Set(slow, SetOptions{}) }()
	<-begun
	if err := s.Set(other, SetOptions{NoWait: true}); err != ErrWaits {
		t.Error(err)
	}
	for _, err := range []error{s.Set(other, SetOptions{Held: true}), s.RewriteHeld(), s.RewriteAll(true)} {
		if err == nil || !strings.HasPrefix(err.Error(), "ERR Another CONFIG SET or CONFIG REWRITE waits for the disk") {
			t.Error(err)
		}
	}
	go func() { done <- s.Set(other, SetOptions{}) }() // waits for its turn
	close(free)
	for range 2 {
		if err := <-done; err != nil && !strings.Contains(err.Error(), "- no") {
			t.Error(err)
		}
	}
	if got := s.Bytes("maxmemory"); got != 2<<20 || s.Bool("appendonly") {
		t.Errorf("maxmemory %d, appendonly %v", got, s.Bool("appendonly"))
	}
	// Where nothing is waited for it is done at once.
	if err := s.Set(other, SetOptions{NoWait: true}); err != nil {
		t.Error(err)
	}
	fail = nil
	go func() { <-begun }()
	if err := s.Set(slow, SetOptions{Held: true}); err != nil {
		t.Error(err)
	}
}

// TestSetHeldMeanwhile: a Set in EXEC does not fail because of others that wait for nothing.
func TestSetHeldMeanwhile(t *testing.T) {
	s := New(Dirs{})
	s.OnChange(func() { time.Sleep(20 * time.Microsecond) }, "maxmemory")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				_ = s.Set([]Pair{{"maxmemory", []string{"1mb", "2mb"}[n%2]}}, SetOptions{})
				time.Sleep(20 * time.Microsecond)
			}
		}
	}()
	for range 200 {
		if err := s.Set([]Pair{{"maxmemory-samples", "7"}}, SetOptions{Held: true}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Microsecond)
	}
	close(stop)
	<-done
}
