package hyperloglog

import (
	"fmt"
	"math"
	"strconv"

	"heddle/db"
	"heddle/db/hll"
	"heddle/resp"
	"heddle/server/command"
)

// PFDEBUG GETREG | DECODE | ENCODING | TODENSE key
func pfdebugSpec() *command.Spec {
	return &command.Spec{
		Name: "pfdebug", Arity: 3, Keys: command.Key(2, command.KeyRW|command.KeyAccess),
		Flags: command.Admin | command.DenyOOM, ACL: command.CatHyperLogLog, Group: group, Write: pfdebug,
	}
}

const (
	errNoSuchKey resp.Error = "ERR The specified key does not exist"
	errNotSparse resp.Error = "ERR HLL encoding is not sparse"
)

func pfdebug(c *command.Call, tx db.Txn) error {
	word, key := c.Args.Bytes(), c.Args.Key()
	s, found, err := tx.Current(key)
	if err != nil {
		return err
	}
	if !found {
		return errNoSuchKey
	}
	b, err := valueToChange(tx, key, &s)
	if err != nil {
		return err
	}
	switch {
	case command.EqualFold(word, "getreg"):
		return pfdebugGetReg(c, tx, key, b)
	case command.EqualFold(word, "decode"):
		if hll.IsDense(b) {
			return errNotSparse
		}
		c.Reply.Bulk(hll.AppendRuns(nil, b))
	case command.EqualFold(word, "encoding"):
		name := "sparse"
		if hll.IsDense(b) {
			name = "dense"
		}
		c.Reply.Simple(name)
	case command.EqualFold(word, "todense"):
		n := int64(1)
		if hll.IsDense(b) {
			n = 0
		}
		if _, err = toDense(c, tx, key, b); err != nil {
			return err
		}
		c.Reply.Int(n)
	default:
		return command.Errorf("ERR Unknown PFDEBUG subcommand '%s'", word)
	}
	return nil
}

// toDense makes the value at key dense and returns its bytes.
func toDense(c *command.Call, tx db.Txn, key, b []byte) ([]byte, error) {
	if hll.IsDense(b) {
		return b, nil
	}
	d, err := hll.AppendDense(c.Room(hll.MaxDense)[:0], b)
	if err != nil {
		return nil, errCorrupt
	}
	if err = tx.SetRaw(key, d, db.KeepExpiry); err != nil {
		return nil, err
	}
	tx.Dirty(1) // to be propagated; for who watches it is the same value
	return d, nil
}

// pfdebugGetReg lists the registers; the value becomes dense by it, as in Redis.
func pfdebugGetReg(c *command.Call, tx db.Txn, key, b []byte) error {
	b, err := toDense(c, tx, key, b)
	if err != nil {
		return err
	}
	var ranks hll.Ranks
	if ranks.Add(b) != nil {
		return errCorrupt
	}
	c.Reply.Array(len(ranks))
	for _, rank := range ranks {
		c.Reply.Int(int64(rank))
	}
	return nil
}

// PFSELFTEST
func pfselftestSpec() *command.Spec {
	return &command.Spec{
		Name: "pfselftest", Arity: 1, Flags: command.Admin, ACL: command.CatHyperLogLog, Group: group,
		Control: pfselftest,
	}
}

func pfselftest(c *command.Call, _ command.Session) error {
	if fault := selfTest(); fault != "" {
		return command.Errorf("ERR TESTFAILED %s", fault)
	}
	c.Reply.OK()
	return nil
}

// selfTest adds up to 100,000 elements to a value that is sparse at first and to a
// dense one, and says what is wrong with their registers or estimates, if anything is.
func selfTest() string {
	small := hll.AppendNew(nil)
	dense, err := hll.AppendDense(nil, small)
	if err != nil {
		return err.Error()
	}
	n, e := 0, []byte(nil)
	for _, upTo := range []int{1, 10, 100, 1000, 10_000, 100_000} {
		for ; n < upTo; n++ {
			e = strconv.AppendInt(append(e[:0], "element:"...), int64(n), 10)
			register, rank := hll.Place(e)
			hll.DenseSet(dense, register, rank)
			if small, _, err = hll.Set(small, register, rank, 3000); err != nil {
				return err.Error()
			}
		}
		if fault := compare(small, dense, n); fault != "" {
			return fault
		}
	}
	return ""
}

// compare says what is wrong with a sparse and a dense value of n elements.
func compare(small, dense []byte, n int) string {
	var a, b hll.Ranks
	if a.Add(small) != nil || b.Add(dense) != nil {
		return fmt.Sprintf("registers of %d elements cannot be read", n)
	}
	for i := range a {
		if a[i] != b[i] {
			return fmt.Sprintf("register %d is %d sparse and %d dense", i, a[i], b[i])
		}
	}
	got, err := hll.Count(dense)
	// Six times the standard error, and one for small numbers.
	if off := math.Abs(float64(got) - float64(n)); err != nil || off > 0.05*float64(n)+1 {
		return fmt.Sprintf("%d elements are taken for %d", n, got)
	}
	return ""
}
