package str

import (
	"math"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// unit says how the number behind EX, PX, EXAT, PXAT is meant.
type unit uint8

const (
	unitNone unit = iota
	unitEX
	unitPX
	unitEXAt
	unitPXAt
)

var unitWords = [...]string{unitEX: "ex", unitPX: "px", unitEXAt: "exat", unitPXAt: "pxat"}

func (u unit) absolute() bool { return u == unitEXAt || u == unitPXAt }
func (u unit) seconds() bool  { return u == unitEX || u == unitEXAt }

// options are those of SET and GETEX.
type options struct {
	nx, xx  bool
	get     bool
	keep    bool
	persist bool
	unit    unit
	time    []byte // the unit's number, not looked at yet
}

func parseSetOptions(a *command.Args) (o options) {
	for a.More() {
		switch {
		case !o.xx && a.Word("nx"):
			o.nx = true
		case !o.nx && a.Word("xx"):
			o.xx = true
		case a.Word("get"):
			o.get = true
		case o.unit == unitNone && a.Word("keepttl"):
			o.keep = true
		case !o.keep && o.takeUnit(a):
		default:
			a.Reject(resp.ErrSyntax)
		}
	}
	return o
}

func parseGetexOptions(a *command.Args) (o options) {
	for a.More() {
		switch {
		case o.unit == unitNone && a.Word("persist"):
			o.persist = true
		case !o.persist && o.takeUnit(a):
		default:
			a.Reject(resp.ErrSyntax)
		}
	}
	return o
}

// takeUnit takes a unit and its number; a second one only of the same unit.
func (o *options) takeUnit(a *command.Args) bool {
	if a.Len() < 2 {
		return false
	}
	for u := unitEX; u <= unitPXAt; u++ {
		if (o.unit == unitNone || o.unit == u) && a.Word(unitWords[u]) {
			o.unit, o.time = u, a.Bytes()
			return true
		}
	}
	return false
}

// deadline returns the instant that the options name.
func (o *options) deadline(c *command.Call, now db.Millis) (db.Expiry, error) {
	n, ok := command.ParseInt(o.time)
	if !ok {
		return 0, resp.ErrNotInteger
	}
	return deadline(c, n, o.unit, now)
}

// deadline turns n, counted in u, into an instant after the beginning of 1970.
func deadline(c *command.Call, n int64, u unit, now db.Millis) (db.Expiry, error) {
	if n <= 0 || u.seconds() && n > math.MaxInt64/1000 {
		return 0, invalidExpire(c)
	}
	if u.seconds() {
		n *= 1000
	}
	if !u.absolute() {
		if n > math.MaxInt64-int64(now) {
			return 0, invalidExpire(c)
		}
		n += int64(now)
	}
	return db.Expiry(n), nil
}

func invalidExpire(c *command.Call) error {
	return command.Errorf("ERR invalid expire time in '%s' command", c.Spec.Name)
}
