package command

import (
	"math"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command/longdouble"
)

// Args reads a command's arguments straight through. The first mistake is
// kept; readers after it return zero values; Done reports it, or a syntax
// error when arguments are left over.
// The byte slices belong to the connection: they are valid until the handler
// returns.
type Args struct {
	argv [][]byte
	pos  int
	err  error
}

// NewArgs reads argv from its second element on (the first is the name).
func NewArgs(argv [][]byte) Args { return Args{argv: argv, pos: 1} }

// restart is NewArgs in place: copying what was just written word by word in
// larger pieces would stall the processor.
func (a *Args) restart(argv [][]byte) {
	a.argv = argv
	a.pos, a.err = 1, nil
}

// Skip moves behind n arguments, such as a subcommand's word.
func (a *Args) Skip(n int) { a.pos += n }

// Argv returns the whole command, its name first.
func (a *Args) Argv() [][]byte { return a.argv }

// Len returns how many arguments are left.
func (a *Args) Len() int { return len(a.argv) - a.pos }

// More reports whether arguments are left and no mistake was made yet.
func (a *Args) More() bool { return a.err == nil && a.pos < len(a.argv) }

// Err returns the first mistake so far.
func (a *Args) Err() error { return a.err }

// Reject records a mistake unless there was one before.
func (a *Args) Reject(e error) {
	if a.err == nil {
		a.err = e
	}
}

// Done reports the first mistake, or a syntax error when arguments are left.
func (a *Args) Done() error {
	if a.err == nil && a.pos < len(a.argv) {
		a.err = resp.ErrSyntax
	}
	return a.err
}

// Bytes returns the next argument. When there is none, that is a syntax error.
func (a *Args) Bytes() []byte {
	if a.err != nil {
		return nil
	}
	if a.pos >= len(a.argv) {
		a.err = resp.ErrSyntax
		return nil
	}
	a.pos++
	return a.argv[a.pos-1]
}

// Key returns the next argument, a key.
func (a *Args) Key() []byte { return a.Bytes() }

// Rest returns all arguments that are left.
func (a *Args) Rest() [][]byte {
	if a.err != nil {
		return nil
	}
	r := a.argv[a.pos:]
	a.pos = len(a.argv)
	return r
}

// Peek returns the next argument without taking it, nil when there is none.
func (a *Args) Peek() []byte {
	if !a.More() {
		return nil
	}
	return a.argv[a.pos]
}

// Word takes the next argument if it is the given lower-case word, in any case.
func (a *Args) Word(lower string) bool {
	if !a.More() || !equalFold(a.argv[a.pos], lower) {
		return false
	}
	a.pos++
	return true
}

// Int returns the next argument as a signed 64-bit integer, as strictly as
// Redis reads one: no spaces, no plus, no leading zeros.
func (a *Args) Int() int64 { return a.IntOr(resp.ErrNotInteger) }

// IntOr is Int with an error of its own.
func (a *Args) IntOr(e error) int64 {
	b := a.Bytes()
	if a.err != nil {
		return 0
	}
	n, ok := ParseInt(b)
	if !ok {
		a.err = e
	}
	return n
}

// IntRange is Int that also fails with e when outside min..max.
func (a *Args) IntRange(min, max int64, e error) int64 {
	n := a.IntOr(e)
	if a.err == nil && (n < min || n > max) {
		a.err = e
		return 0
	}
	return n
}

// Float returns the next argument as a float; NaN is refused, inf is not.
func (a *Args) Float() float64 { return a.FloatOr(resp.ErrNotFloat) }

// FloatOr is Float with an error of its own.
func (a *Args) FloatOr(e error) float64 {
	b := a.Bytes()
	if a.err != nil {
		return 0
	}
	f, ok := ParseFloat(b)
	if !ok {
		a.err = e
	}
	return f
}

// What is wrong with the timeouts of blocking commands.
const (
	errTimeoutFloat resp.Error = "ERR timeout is not a float or out of range"
	errTimeoutInt   resp.Error = "ERR timeout is not an integer or out of range"
	errTimeoutSign  resp.Error = "ERR timeout is negative"
	errTimeoutRange resp.Error = "ERR timeout is out of range"
)

// Timeout returns the next argument, the timeout of a blocking command in
// seconds, in milliseconds rounded up (0: for ever). It is read, as in Redis, as
// a long double: 0.07 seconds are not 71 milliseconds. now is the instant of the
// command: one that ends beyond the end of time is refused.
func (a *Args) Timeout(now db.Millis) db.Millis {
	b := a.Bytes()
	if a.err != nil {
		return 0
	}
	f, ok := longdouble.Parse(b)
	if !ok {
		a.err = errTimeoutFloat
		return 0
	}
	n, ok := longdouble.Scale(f, 1000).Ceil()
	return a.timeout(n, ok, now)
}

// TimeoutMillis is Timeout of an integer in milliseconds, as XREAD BLOCK takes.
func (a *Args) TimeoutMillis(now db.Millis) db.Millis {
	return a.timeout(a.IntOr(errTimeoutInt), true, now)
}

func (a *Args) timeout(n int64, fits bool, now db.Millis) db.Millis {
	switch {
	case a.err != nil:
		return 0
	case n < 0:
		a.err = errTimeoutSign
		return 0
	case !fits || n > math.MaxInt64-int64(now):
		a.err = errTimeoutRange
		return 0
	}
	return db.Millis(n)
}

// ParseInt reads a signed 64-bit integer as Redis does: the only spelling of a
// number that is accepted is the one it would be printed with.
func ParseInt(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	i, neg := 0, false
	if b[0] == '-' {
		neg, i = true, 1
		if len(b) == 1 {
			return 0, false
		}
	}
	if b[i] == '0' {
		return 0, len(b) == 1
	}
	var n uint64
	for ; i < len(b); i++ {
		d := b[i] - '0'
		if d > 9 {
			return 0, false
		}
		if n > (math.MaxUint64-uint64(d))/10 {
			return 0, false
		}
		n = n*10 + uint64(d)
	}
	if neg {
		if n > 1<<63 {
			return 0, false
		}
		return -int64(n), true
	}
	if n > math.MaxInt64 {
		return 0, false
	}
	return int64(n), true
}
