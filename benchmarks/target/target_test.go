package target

import (
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	d, err := parseStat("123 (a b) c) S 1 2 3 4 5 6 7 8 9 10 100 50 30 20 20 0 1 0")
	if err != nil || d != 2*time.Second {
		t.Errorf("%v, %v", d, err)
	}
	if _, err := parseStat("123 (x) S 1"); err == nil {
		t.Error("a short line is taken")
	}
}
