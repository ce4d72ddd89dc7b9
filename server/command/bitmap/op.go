package bitmap

import (
	"crypto/subtle"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// BITOP AND|OR|XOR|NOT destkey key [key ...]
// BITOP LSHIFT|RSHIFT destkey key bits, as KeyDB has it
func bitopSpec(maxBulk func() int64) *command.Spec {
	keys := command.Key(2, command.KeyOW|command.KeyUpdate)
	return &command.Spec{
		Name: "bitop", Arity: -4, Keys: append(keys, command.Range(3, -1, 1, command.KeyRO|command.KeyAccess)...),
		Flags: command.DenyOOM, ACL: command.CatBitmap, Group: "bitmap",
		Write: func(c *command.Call, tx db.Txn) error { return bitop(c, tx, maxBulk()) },
	}
}

const (
	errNotOne     resp.Error = "ERR BITOP NOT must be called with a single source key."
	errShiftArgs  resp.Error = "ERR BITOP SHIFT must be called with a single source key and an integer shift."
	errShiftInt   resp.Error = "ERR BITOP SHIFT's last parameter must be an integer"
	errShiftLarge resp.Error = "ERR BITOP SHIFT value is too large."
)

// Names that effects are written with.
var (
	wordSet = []byte("SET")
	wordDel = []byte("DEL")
)

// maxShift is how far BITOP LSHIFT may shift.
const maxShift = 1 << 30

type operation uint8

const (
	opAnd operation = iota
	opOr
	opXor
	opNot
	opShift
)

// bitopCall is a BITOP whose arguments are read.
type bitopCall struct {
	op    operation
	dest  []byte
	keys  [][]byte
	shift int64    // opShift: to the left when positive
	src   [][]byte // what stands at keys
	size  int64    // of the result
}

func bitop(c *command.Call, tx db.Txn, most int64) error {
	var o bitopCall
	if err := o.parse(&c.Args); err != nil {
		return err
	}
	if err := o.read(tx); err != nil {
		return err
	}
	if o.shift > 0 && o.size > most {
		return resp.ErrTooLong
	}
	if o.size == 0 {
		if tx.Delete(o.dest) {
			tx.Touched(o.dest, db.ClassGeneric, "del")
			c.ReplicateAs(wordDel, o.dest)
		}
		c.Reply.Int(0)
		return nil
	}
	result, err := o.store(tx)
	if err != nil {
		return err
	}
	tx.Touched(o.dest, db.ClassString, "set")
	c.ReplicateAs(wordSet, o.dest, result)
	c.Reply.Int(o.size)
	return nil
}

func (o *bitopCall) parse(a *command.Args) error {
	sign := int64(1)
	switch {
	case a.Word("and"):
		o.op = opAnd
	case a.Word("or"):
		o.op = opOr
	case a.Word("xor"):
		o.op = opXor
	case a.Word("not"):
		o.op = opNot
	case a.Word("lshift"):
		o.op = opShift
	case a.Word("rshift"):
		o.op, sign = opShift, -1
	default:
		return resp.ErrSyntax
	}
	o.dest, o.keys = a.Key(), a.Rest()
	switch {
	case o.op == opNot && len(o.keys) != 1:
		return errNotOne
	case o.op == opShift:
		return o.parseShift(sign)
	}
	return a.Done()
}

func (o *bitopCall) parseShift(sign int64) error {
	if len(o.keys) != 2 {
		return errShiftArgs
	}
	n, ok := command.ParseInt(o.keys[1])
	if !ok {
		return errShiftInt
	}
	if n > maxShift || sign < 0 && n < -maxShift {
		return errShiftLarge
	}
	// A string is shorter than this many bits: beyond it all are alike.
	o.keys, o.shift = o.keys[:1], sign*max(n, -1<<52)
	return nil
}

// read looks at the sources and computes the size of the result.
func (o *bitopCall) read(v db.View) error {
	o.src = make([][]byte, len(o.keys))
	for i, key := range o.keys {
		s, found, err := v.String(key)
		if err != nil {
			return err
		}
		if found {
			o.src[i] = command.StrBytes(s, nil)
		}
		o.size = max(o.size, int64(len(o.src[i])))
	}
	switch {
	case o.shift > 0:
		o.size += (o.shift + 7) / 8
	case o.shift < 0:
		o.size = max(o.size-(-o.shift)/8, 0)
	}
	return nil
}

// store writes the result to the destination and returns it. Where a string
// stands there that is no longer than the result, it is computed in its place.
func (o *bitopCall) store(tx db.Txn) ([]byte, error) {
	given, times := o.destAmongKeys()
	s, _, err := tx.Current(o.dest)
	if err != nil || int64(command.StrLen(s)) > o.size || times > 1 || times == 1 && o.op == opShift {
		return o.replace(tx)
	}
	out, err := tx.Edit(o.dest, int(o.size))
	if err != nil {
		return nil, err
	}
	o.compute(out, given)
	if at, _ := tx.Expire(o.dest); at == db.NoExpiry {
		return out, nil
	}
	tx.SetExpire(o.dest, db.NoExpiry) // this may move the value
	s, _, err = tx.Current(o.dest)
	return s.B, err
}

// replace writes the result beside what stands at the destination, then puts
// it there.
func (o *bitopCall) replace(tx db.Txn) ([]byte, error) {
	if o.size < db.BigMin {
		out := make([]byte, o.size)
		o.compute(out, -1)
		return out, tx.SetRaw(o.dest, out, db.NoExpiry)
	}
	b := tx.NewBig(int(o.size))
	if b == nil {
		return nil, db.ErrOutOfMemory
	}
	out := b.Bytes()
	o.compute(out, -1)
	return out, tx.AdoptBig(o.dest, b, db.NoExpiry)
}

// destAmongKeys returns which source is the destination, too (-1: none), and
// how often.
func (o *bitopCall) destAmongKeys() (which, times int) {
	which = -1
	for i, key := range o.keys {
		if string(key) == string(o.dest) {
			which, times = i, times+1
		}
	}
	return which, times
}

// block is how many bytes of the result are computed from all sources before
// going on, so that it stays in the nearest cache.
const block = 16 << 10

// compute fills out, whose bytes may be anything, or already be those of
// source number given (-1: none), zeros behind them.
func (o *bitopCall) compute(out []byte, given int) {
	switch {
	case o.op == opNot && given == 0:
		not(out, out)
		return
	case o.op == opNot:
		not(out, o.src[0])
		return
	case o.op == opShift && o.shift < 0:
		shiftDown(out, o.src[0], int(-o.shift))
		return
	case o.op == opShift:
		shiftUp(out, o.src[0], int(o.shift))
		return
	}
	for at := 0; at < len(out); at += block {
		o.combine(out[at:min(at+block, len(out))], at, given)
	}
}

func (o *bitopCall) combine(out []byte, at, given int) {
	if given < 0 {
		given = 0
		clear(out[copy(out, part(o.src[0], at, len(out))):])
	}
	for i, src := range o.src {
		if i == given {
			continue
		}
		src = part(src, at, len(out))
		switch o.op {
		case opAnd:
			and(out, src)
		case opOr:
			or(out, src)
		default:
			subtle.XORBytes(out, out, src)
		}
	}
}

// part returns the bytes of b from at on, at most n.
func part(b []byte, at, n int) []byte {
	if at >= len(b) {
		return nil
	}
	return b[at:min(at+n, len(b))]
}
