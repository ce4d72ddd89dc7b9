package command

import (
	"testing"

	"heddle/db"
)

func TestTimeout(t *testing.T) {
	const now = db.Millis(1_700_000_000_000)
	f := func(millis bool, in, want string, ms db.Millis) {
		t.Helper()
		a := NewArgs([][]byte{[]byte("x"), []byte(in)})
		var got db.Millis
		if millis {
			got = a.TimeoutMillis(now)
		} else {
			got = a.Timeout(now)
		}
		text := ""
		if err := a.Done(); err != nil {
			text = err.Error()
		}
		if text != want || got != ms {
			t.Errorf("%q: %d, %q; want %d, %q", in, got, text, ms, want)
		}
	}
	const (
		noFloat  = "ERR timeout is not a float or out of range"
		noInt    = "ERR timeout is not an integer or out of range"
		negative = "ERR timeout is negative"
		beyond   = "ERR timeout is out of range"
	)
	f(false, "0", "", 0)
	f(false, "0.07", "", 70)
	f(false, "0.0001", "", 1)
	f(false, "1.0001", "", 1001)
	f(false, "0x10", "", 16000)
	f(false, "+1", "", 1000)
	f(false, "-1e-9", "", 0)
	f(false, "-0.1", negative, 0)
	f(false, "-inf", negative, 0)
	f(false, "inf", beyond, 0)
	f(false, "1e400", beyond, 0)
	f(false, "9223372036854775.807", beyond, 0)
	f(false, "9223370336854775", "", 9223370336854775000)
	f(false, "nan", noFloat, 0)
	f(false, "1 ", noFloat, 0)
	f(false, "", noFloat, 0)
	f(true, "15", "", 15)
	f(true, "-1", negative, 0)
	f(true, "1.5", noInt, 0)
	f(true, "9223372036854775807", beyond, 0)
	f(true, "9223372036854775808", noInt, 0)
}
