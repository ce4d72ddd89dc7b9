// Package bitmap holds the commands that take strings for arrays of bits:
// GETBIT, SETBIT, BITCOUNT, BITPOS, BITOP, BITFIELD. Bit 0 is the highest bit of
// the first byte.
package bitmap

import (
	"heddle/db"
	"heddle/resp"
	"heddle/server/command"
)

// Family lists the bitmap commands. maxBulk tells how long a string may
// become, as proto-max-bulk-len has it at the moment.
func Family(maxBulk func() int64) command.Family {
	return command.Family{Name: "bitmap", Specs: []*command.Spec{
		getbitSpec(maxBulk), setbitSpec(maxBulk), bitcountSpec(), bitposSpec(), bitopSpec(maxBulk),
		bitfieldSpec(maxBulk), bitfieldROSpec(maxBulk),
	}}
}

const (
	errBitOffset resp.Error = "ERR bit offset is not an integer or out of range"
	errBit       resp.Error = "ERR bit is not an integer or out of range"
)

// offset reads the number of a bit, which must lie in a string of at most most
// bytes.
func offset(a *command.Args, most int64) int64 {
	n, ok := command.ParseInt(a.Bytes())
	if !ok || n < 0 || n>>3 >= most {
		a.Reject(errBitOffset)
	}
	return n
}

// GETBIT key offset
func getbitSpec(maxBulk func() int64) *command.Spec {
	return &command.Spec{
		Name: "getbit", Arity: 3, Keys: command.Key(1, command.KeyRO|command.KeyAccess),
		Flags: command.Fast, ACL: command.CatBitmap, Group: "bitmap",
		Read: func(c *command.Call, v db.View) error { return getbit(c, v, maxBulk()) },
	}
}

func getbit(c *command.Call, v db.View, most int64) error {
	key, at := c.Args.Key(), offset(&c.Args, most)
	if err := c.Args.Done(); err != nil {
		return err
	}
	s, _, err := v.String(key)
	if err != nil {
		return err
	}
	var tmp [20]byte
	b := command.StrBytes(s, tmp[:0])
	bit := int64(0)
	if at>>3 < int64(len(b)) {
		bit = int64(b[at>>3] >> (7 - at&7) & 1)
	}
	c.Reply.Int(bit)
	return nil
}

// SETBIT key offset value
func setbitSpec(maxBulk func() int64) *command.Spec {
	return &command.Spec{
		Name: "setbit", Arity: 4, Keys: command.Key(1, command.KeyRW|command.KeyAccess|command.KeyUpdate),
		Flags: command.DenyOOM | command.Quick, ACL: command.CatBitmap, Group: "bitmap",
		Write: func(c *command.Call, tx db.Txn) error { return setbit(c, tx, maxBulk()) },
	}
}

func setbit(c *command.Call, tx db.Txn, most int64) error {
	key, at, bit := c.Args.Key(), offset(&c.Args, most), c.Args.IntRange(0, 1, errBit)
	if err := c.Args.Done(); err != nil {
		return err
	}
	s, found, err := tx.Current(key)
	if err != nil {
		return err
	}
	was := -1
	if found {
		was = command.StrLen(s)
	}
	b, err := tx.Edit(key, int(at>>3)+1)
	if err != nil {
		return err
	}
	p, shift := &b[at>>3], 7-at&7
	old := int64(*p >> shift & 1)
	if old != bit {
		*p ^= 1 << shift
	}
	if old != bit || len(b) != was {
		tx.Touched(key, db.ClassString, "setbit")
	}
	c.Reply.Int(old)
	return nil
}
