package bitmap

import (
	"math"

	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// BITFIELD key [GET type offset | [OVERFLOW WRAP|SAT|FAIL] SET type offset value |
// INCRBY type offset increment ...]
func bitfieldSpec(maxBulk func() int64) *command.Spec {
	spec := &command.Spec{
		Name: "bitfield", Arity: -2, Keys: command.Key(1, command.KeyRW|command.KeyAccess|command.KeyUpdate|command.KeyVariableFlags),
		Flags: command.DenyOOM, ACL: command.CatBitmap, Group: "bitmap",
		Write: func(c *command.Call, tx db.Txn) error { return bitfield(c, tx, maxBulk()) },
	}
	spec.Keys[0].Notes = "This command allows both access and modification of the key"
	spec.VariableFlags = bitfieldKeyFlags
	return spec
}

// bitfieldKeyFlags: with GET alone, spelled out, nothing is changed.
func bitfieldKeyFlags(argv [][]byte) command.KeyFlags {
	for i := 2; i < len(argv); i++ {
		switch left := len(argv) - 1 - i; {
		case left >= 2 && command.EqualFold(argv[i], "get"):
			i += 2
		case left >= 1 && command.EqualFold(argv[i], "overflow"):
			i++
		default:
			return command.KeyRW | command.KeyAccess | command.KeyUpdate
		}
	}
	return command.KeyRO | command.KeyAccess
}

// BITFIELD_RO key [GET type offset ...]
func bitfieldROSpec(maxBulk func() int64) *command.Spec {
	return &command.Spec{
		Name: "bitfield_ro", Arity: -2, Keys: command.Key(1, command.KeyRO|command.KeyAccess),
		Flags: command.Fast, ACL: command.CatBitmap, Group: "bitmap",
		Read: func(c *command.Call, v db.View) error { return bitfieldRO(c, v, maxBulk()) },
	}
}

const (
	errFieldType resp.Error = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."
	errOverflow  resp.Error = "ERR Invalid OVERFLOW type specified"
	errOnlyGet   resp.Error = "ERR BITFIELD_RO only supports the GET subcommand"
)

type fieldVerb uint8

const (
	fieldGet fieldVerb = iota
	fieldSet
	fieldIncr
)

type overflow uint8

const (
	wrap overflow = iota
	saturate
	fail
)

// fieldOp is one step of BITFIELD.
type fieldOp struct {
	verb     fieldVerb
	overflow overflow
	signed   bool
	bits     uint
	at       int64
	value    int64
}

// fieldOps are the steps of a BITFIELD, and the bit up to which they write, -1
// when they only read.
type fieldOps struct {
	ops []fieldOp
	end int64
}

// parseFields reads steps into room, which grows if need be.
func parseFields(room []fieldOp, a *command.Args, most int64) fieldOps {
	f := fieldOps{ops: room, end: -1}
	over := wrap
	for a.More() {
		op := fieldOp{overflow: over}
		switch {
		case a.Len() > 2 && a.Word("get"):
		case a.Len() > 3 && a.Word("set"):
			op.verb = fieldSet
		case a.Len() > 3 && a.Word("incrby"):
			op.verb = fieldIncr
		case a.Len() > 1 && a.Word("overflow"):
			over = parseOverflow(a)
			continue
		default:
			a.Reject(resp.ErrSyntax)
			return f
		}
		op.parse(a, most)
		if op.verb != fieldGet {
			f.end = max(f.end, op.at+int64(op.bits)-1)
		}
		f.ops = append(f.ops, op)
	}
	return f
}

func parseOverflow(a *command.Args) overflow {
	switch {
	case a.Word("wrap"):
		return wrap
	case a.Word("sat"):
		return saturate
	case a.Word("fail"):
		return fail
	}
	a.Reject(errOverflow)
	return wrap
}

// parse reads type, offset and, unless it is a GET, the value.
func (op *fieldOp) parse(a *command.Args, most int64) {
	op.parseType(a)
	op.parseAt(a, most)
	if op.verb != fieldGet {
		op.value = a.Int()
	}
}

func (op *fieldOp) parseType(a *command.Args) {
	b := a.Bytes()
	if len(b) > 1 && (b[0] == 'i' || b[0] == 'u') {
		op.signed = b[0] == 'i'
		n, ok := command.ParseInt(b[1:])
		op.bits = uint(n)
		if ok && n >= 1 && (n <= 63 || n == 64 && op.signed) {
			return
		}
	}
	a.Reject(errFieldType)
}

// parseAt reads a bit's number, or, behind #, a field's. The product may wrap
// around: Redis looks only at what comes out.
func (op *fieldOp) parseAt(a *command.Args, most int64) {
	b, width := a.Bytes(), int64(1)
	if len(b) > 0 && b[0] == '#' {
		b, width = b[1:], int64(op.bits)
	}
	n, ok := command.ParseInt(b)
	op.at = n * width
	if !ok || op.at < 0 || op.at>>3 >= most {
		a.Reject(errBitOffset)
	}
}

func bitfieldRO(c *command.Call, v db.View, most int64) error {
	key := c.Args.Key()
	var few [4]fieldOp // as many as most calls have
	f := parseFields(few[:0], &c.Args, most)
	if err := c.Args.Done(); err != nil {
		return err
	}
	if f.end >= 0 {
		return errOnlyGet
	}
	return f.read(c, v, key)
}

func (f *fieldOps) read(c *command.Call, v db.View, key []byte) error {
	s, _, err := v.String(key)
	if err != nil {
		return err
	}
	var tmp [20]byte
	b := command.StrBytes(s, tmp[:0])
	c.Reply.Array(len(f.ops))
	for i := range f.ops {
		c.Reply.Int(f.ops[i].get(b))
	}
	return nil
}

func bitfield(c *command.Call, tx db.Txn, most int64) error {
	key := c.Args.Key()
	var few [4]fieldOp // as many as most calls have
	f := parseFields(few[:0], &c.Args, most)
	if err := c.Args.Done(); err != nil {
		return err
	}
	if f.end < 0 {
		return f.read(c, tx, key)
	}
	s, found, err := tx.Current(key)
	if err != nil {
		return err
	}
	was := -1
	if found {
		was = command.StrLen(s)
	}
	b, err := tx.Edit(key, int(f.end>>3)+1)
	if err != nil {
		return err
	}
	grown := len(b) != was
	changes := f.run(c.Reply, b, grown)
	if changes == 0 {
		// Where every step overflowed WATCH does not see the zeros that were added, as in
		// Redis; who repeats the command elsewhere does.
		if grown {
			tx.Dirty(1)
		}
		return nil
	}
	tx.Touched(key, db.ClassString, "setbit")
	if changes > 1 {
		tx.Dirty(changes - 1)
	}
	return nil
}

// run carries the steps out on b and returns how many changed it: as Redis counts them,
// those that write what was there, too, if b was made longer for the command.
func (f *fieldOps) run(w *resp.Writer, b []byte, grown bool) (changes int64) {
	w.Array(len(f.ops))
	for i := range f.ops {
		op := &f.ops[i]
		old := op.get(b)
		if op.verb == fieldGet {
			w.Int(old)
			continue
		}
		now, ok := op.next(old)
		if !ok {
			w.Null()
			continue
		}
		if op.verb == fieldSet {
			w.Int(old)
		} else {
			w.Int(now)
		}
		if now != old {
			putBits(b, op.at, op.bits, uint64(now))
		}
		if now != old || grown {
			changes++
		}
	}
	return changes
}

// get returns the field's value in b; bits beyond the end are zero.
func (op *fieldOp) get(b []byte) int64 {
	v := getBits(b, op.at, op.bits)
	if op.signed {
		return signExtend(v, op.bits)
	}
	return int64(v)
}

// next returns the field's new value where the old one was given; false when
// it does not fit and OVERFLOW FAIL was said.
func (op *fieldOp) next(old int64) (int64, bool) {
	sum, by := op.value, int64(0)
	if op.verb == fieldIncr {
		by = op.value
		sum = old + by
	}
	low, high := op.limits()
	over := sum > high
	under := sum < low
	switch {
	case by > 0 && sum < old: // beyond 64 bits
		over, under = true, false
	case by < 0 && sum > old:
		over, under = false, true
	case op.verb == fieldSet && !op.signed && sum < 0:
		over, under = true, false // an unsigned value of that many bits
	case op.verb == fieldSet && op.bits < 64 && sum < high-math.MaxInt64:
		over, under = true, false // Redis' room above it wraps around
	}
	switch {
	case !over && !under:
		return sum, true
	case op.overflow == fail:
		return 0, false
	case op.overflow == saturate && over:
		return high, true
	case op.overflow == saturate:
		return low, true
	}
	v := uint64(sum) << (64 - op.bits) >> (64 - op.bits)
	if op.signed {
		return signExtend(v, op.bits), true
	}
	return int64(v), true
}

// limits returns the smallest and the largest value of the field.
func (op *fieldOp) limits() (low, high int64) {
	if op.signed {
		high = math.MaxInt64 >> (64 - op.bits)
		return -high - 1, high
	}
	return 0, int64(uint64(math.MaxUint64) >> (64 - op.bits))
}

func signExtend(v uint64, n uint) int64 { return int64(v<<(64-n)) >> (64 - n) }

// getBits returns n bits of b from bit at on, the first being the highest.
func getBits(b []byte, at int64, n uint) (v uint64) {
	for i := at >> 3; i <= (at+int64(n)-1)>>3; i++ {
		c := byte(0)
		if i < int64(len(b)) {
			c = b[i]
		}
		lo, hi := max(at, i<<3), min(at+int64(n), i<<3+8)
		c <<= lo & 7
		v = v<<(hi-lo) | uint64(c>>(8-(hi-lo)))
	}
	return v
}

// putBits is the reverse of getBits. b reaches far enough.
func putBits(b []byte, at int64, n uint, v uint64) {
	for end := at + int64(n); end > at; {
		i := (end - 1) >> 3
		lo := max(at, i<<3)
		width := end - lo
		shift := 8 - (end - i<<3)
		mask := byte(0xff>>(8-width)) << shift
		b[i] = b[i]&^mask | byte(v)<<shift&mask
		v >>= width
		end = lo
	}
}
