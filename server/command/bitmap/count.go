package bitmap

import (
	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// BITCOUNT key [start end [BYTE | BIT]]
func bitcountSpec() *command.Spec {
	return &command.Spec{
		Name: "bitcount", Arity: -2, Keys: command.Key(1, command.KeyRO|command.KeyAccess),
		ACL: command.CatBitmap, Group: "bitmap", Read: bitcount,
	}
}

func bitcount(c *command.Call, v db.View) error {
	s, found, err := v.String(c.Args.Key())
	if err != nil {
		return err
	}
	if !found {
		c.Reply.Int(0) // whatever the range: Redis does not look at it here
		return nil
	}
	var r bitRange
	switch c.Args.Len() {
	case 0:
	case 2, 3:
		r.start, r.end, r.hasEnd = c.Args.Int(), c.Args.Int(), true
	default:
		return resp.ErrSyntax
	}
	if err := c.Args.Err(); err != nil {
		return err
	}
	if r.start < 0 && r.end < 0 && r.start > r.end {
		c.Reply.Int(0) // whatever the unit
		return nil
	}
	r.parseUnit(&c.Args)
	if err := c.Args.Done(); err != nil {
		return err
	}
	var tmp [20]byte
	b := command.StrBytes(s, tmp[:0])
	n := int64(0)
	if from, to := r.within(b); from <= to {
		n = countBits(b, from, to)
	}
	c.Reply.Int(n)
	return nil
}

// BITPOS key bit [start [end [BYTE | BIT]]]
func bitposSpec() *command.Spec {
	return &command.Spec{
		Name: "bitpos", Arity: -3, Keys: command.Key(1, command.KeyRO|command.KeyAccess),
		ACL: command.CatBitmap, Group: "bitmap", Read: bitpos,
	}
}

const errBitArgument resp.Error = "ERR The bit argument must be 1 or 0."

func bitpos(c *command.Call, v db.View) error {
	key, bit := c.Args.Key(), c.Args.Int()
	if bit != 0 && bit != 1 {
		c.Args.Reject(errBitArgument)
	}
	if err := c.Args.Err(); err != nil {
		return err
	}
	s, found, err := v.String(key)
	if err != nil {
		return err
	}
	if !found {
		c.Reply.Int(-bit) // whatever the range, as in Redis
		return nil
	}
	var r bitRange
	r.parse(&c.Args)
	if err := c.Args.Done(); err != nil {
		return err
	}
	var tmp [20]byte
	b := command.StrBytes(s, tmp[:0])
	pos := int64(-1)
	if from, to := r.within(b); from <= to {
		at, ok := find(b, byte(bit), from, to)
		switch {
		case ok:
			pos = at
		case bit == 0 && !r.hasEnd:
			pos = int64(len(b)) << 3 // the string goes on with zeros
		}
	}
	c.Reply.Int(pos)
	return nil
}

// bitRange is the part of a string that BITCOUNT and BITPOS look at.
type bitRange struct {
	start, end int64
	hasEnd     bool // else it reaches to the end of the string
	bits       bool // start and end count bits, not bytes
}

// parse reads [start [end [BYTE|BIT]]]; the unit is looked at before the end.
func (r *bitRange) parse(a *command.Args) {
	if !a.More() {
		return
	}
	if a.Len() > 3 {
		a.Reject(resp.ErrSyntax)
	}
	r.start = a.Int()
	if !a.More() {
		return
	}
	end := a.Bytes()
	r.parseUnit(a)
	n, ok := command.ParseInt(end)
	if !ok {
		a.Reject(resp.ErrNotInteger)
	}
	r.end, r.hasEnd = n, true
}

// parseUnit reads [BYTE|BIT], after which nothing may follow.
func (r *bitRange) parseUnit(a *command.Args) {
	switch {
	case !a.More():
	case a.Len() > 1:
		a.Reject(resp.ErrSyntax)
	case a.Word("bit"):
		r.bits = true
	case !a.Word("byte"):
		a.Reject(resp.ErrSyntax)
	}
}

// within returns the first and last bit of the range in b; from > to when there
// is none.
func (r *bitRange) within(b []byte) (from, to int64) {
	n := int64(len(b))
	if r.bits {
		n <<= 3
	}
	from, to = r.start, n-1
	if r.hasEnd {
		to = r.end
	}
	if from < 0 {
		from = max(from+n, 0)
	}
	if to < 0 {
		to = max(to+n, 0)
	}
	to = min(to, n-1)
	if from <= to && !r.bits {
		from, to = from<<3, to<<3|7
	}
	return from, to
}
