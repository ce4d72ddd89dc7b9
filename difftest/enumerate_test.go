package difftest

import (
	"bytes"
	"testing"
)

// TestEnumerated compares a part of all cases with redis-server, in both protocols.
func TestEnumerated(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	theirs, ours := oracle(t), heddle(t, 1)
	for proto := 2; proto <= 3; proto++ {
		var out bytes.Buffer
		cases, failed, err := Enumerate(theirs.Addr, ours.Addr, Enumerated{Every: 40, Proto: proto, Large: proto == 3, Most: 5, Out: &out})
		if err != nil || failed > 0 {
			t.Errorf("RESP%d: %d of %d cases differ, %v\n%s\nlog: %s", proto, failed, cases, err, &out, ours.Log())
		}
	}
}
