package streams

import (
	"math"

	"heddle/db"
	"heddle/db/stream"
	"heddle/resp"
	"heddle/server/command"
)

const (
	errZeroID     resp.Error = "ERR The ID specified in XADD must be greater than 0-0"
	errSmallID    resp.Error = "ERR The ID specified in XADD is equal or smaller than the target stream top item"
	errExhausted  resp.Error = "ERR The stream has exhausted the last possible ID, unable to add more items"
	errTooLarge   resp.Error = "ERR Elements are too large to be stored"
	errTwoTrims   resp.Error = "ERR syntax error, MAXLEN and MINID options at the same time are not compatible"
	errNoTrim     resp.Error = "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy"
	errTrimHow    resp.Error = "ERR syntax error, XTRIM must be called with a trimming strategy"
	errExactLimit resp.Error = "ERR syntax error, LIMIT cannot be used without the special ~ option"
	errMaxLen     resp.Error = "ERR The MAXLEN argument must be >= 0."
	errLimit      resp.Error = "ERR The LIMIT argument must be >= 0."
)

// How many entries a trim with ~ removes at most when LIMIT does not say it: this many
// nodes full, within bounds.
const (
	limitNodes   = 100
	limitDefault = 10_000 // when nodes have no limit of entries
	limitMost    = 1_000_000
)

// trimOptions are [MAXLEN | MINID [= | ~] threshold [LIMIT count]].
type trimOptions struct {
	stream.Trim
	given   bool // there is a MAXLEN or MINID
	limited bool // there is a LIMIT
}

// take reads one of the options if the next argument is one; false if it is none.
func (o *trimOptions) take(a *command.Args) bool {
	if a.Len() < 2 {
		return false
	}
	switch {
	case a.Word("maxlen"):
		o.strategy(a)
		if n := a.Int(); n < 0 {
			a.Reject(errMaxLen)
		} else {
			o.MaxLen = n
		}
	case a.Word("minid"):
		o.strategy(a)
		o.ByID, o.MinID = true, argID(a)
	case a.Word("limit"):
		o.limited = true
		if o.Limit = a.Int(); o.Limit < 0 {
			a.Reject(errLimit)
		}
	default:
		return false
	}
	return true
}

// strategy reads what stands between MAXLEN or MINID and the threshold.
func (o *trimOptions) strategy(a *command.Args) {
	if o.given {
		a.Reject(errTwoTrims)
	}
	o.given = true
	if a.Len() < 2 {
		return
	}
	if a.Word("~") {
		o.Approximate = true
	} else if a.Word("=") {
		o.Approximate = false
	}
}

// check looks whether the options fit together, and sets the limit that is not given.
// needed says that there has to be a MAXLEN or MINID. In the commands of an append-only
// file the limit counts for nothing: the server that wrote it has put in the place of the
// threshold what the limit made of it.
func (o *trimOptions) check(a *command.Args, tx db.Txn, needed bool) {
	past := tx.Due() != tx.Now()
	switch {
	case o.Limit != 0 && !o.given:
		a.Reject(errNoTrim)
	case needed && !o.given:
		a.Reject(errTrimHow)
	case past:
		o.Limit = 0
	case o.limited && !o.Approximate:
		a.Reject(errExactLimit)
	case o.Approximate && !o.limited:
		o.Limit = limitDefault
		if n := tx.Limits().StreamNodeEntries; n > 0 {
			o.Limit = limitNodes * min(n, limitMost/limitNodes)
		}
	}
}

// newID is the ID that XADD is given.
type newID struct {
	stream.ID
	auto    bool // *
	autoSeq bool // ms-*
}

// parseNewID reads *, ms-*, ms or ms-seq.
func parseNewID(b []byte) (n newID, ok bool) {
	text := cText(b)
	switch k := len(text); {
	case k == 1 && text[0] == '*':
		n.auto = true
		return n, true
	case k > 2 && text[k-2] == '-' && text[k-1] == '*' && len(b) <= maxIDText:
		n.autoSeq = true
		n.Ms, ok = number(text[:k-2])
		return n, ok
	}
	n.ID, ok = strictID(b, 0)
	return n, ok
}

// next returns the ID that the entry gets in a stream whose last ID is last, at an
// instant. It fails when that cannot be greater.
func (n *newID) next(last stream.ID, now db.Millis) (stream.ID, error) {
	if last == stream.MaxID {
		return last, errExhausted
	}
	id := n.ID
	switch {
	case n.auto:
		id = stream.ID{Ms: uint64(now)}
		if !last.Before(id) {
			id, _ = last.Next()
		}
	case n.autoSeq && id.Ms == last.Ms:
		if last.Seq == math.MaxUint64 {
			return id, errSmallID
		}
		id.Seq = last.Seq + 1
	}
	if !last.Before(id) {
		return id, errSmallID
	}
	return id, nil
}

// addition is what XADD is told.
type addition struct {
	key    []byte
	trim   trimOptions
	nomk   bool // NOMKSTREAM
	id     newID
	idAt   int // of argv
	fields [][]byte
}

// XADD key [NOMKSTREAM] [MAXLEN | MINID [= | ~] threshold [LIMIT count]] * | id field value [field value ...]
func xaddSpec() *command.Spec {
	s := writeSpec("xadd", -5, command.Fast|command.DenyOOM, command.KeyUpdate, xadd)
	s.Keys[0].Notes = "UPDATE instead of INSERT because of the optional trimming feature"
	s.Tips = []string{tipNondetermine}
	return s
}

func parseAddition(c *command.Call, tx db.Txn) (add addition, err error) {
	a := &c.Args
	add.key = a.Key()
	for ok := false; a.More() && !ok; {
		switch {
		case string(cText(a.Peek())) == "*":
		case add.trim.take(a):
			continue
		case a.Word("nomkstream"):
			add.nomk = true
			continue
		}
		add.idAt = len(a.Argv()) - a.Len()
		if add.id, ok = parseNewID(a.Bytes()); !ok {
			a.Reject(errID)
		}
	}
	add.trim.check(a, tx, false)
	add.fields = a.Rest()
	switch n := len(add.fields); {
	case a.Err() != nil:
		return add, a.Err()
	case n < 2 || n%2 == 1:
		return add, c.Spec.ErrArity()
	case !add.id.auto && !add.id.autoSeq && add.id.IsZero():
		return add, errZeroID
	}
	return add, nil
}

func xadd(c *command.Call, tx db.Txn) error {
	add, err := parseAddition(c, tx)
	if err != nil {
		return err
	}

	s, err := stream.Edit(tx, add.key)
	if err != nil {
		return err
	}
	last := stream.ID{}
	if s == nil {
		if add.nomk {
			c.Reply.Null()
			return nil
		}
	} else {
		last = s.LastID()
	}
	id, err := add.id.next(last, tx.Now())
	if err != nil {
		return err
	}
	if !stream.Fits(add.fields) {
		return errTooLarge
	}

	if s == nil {
		if s, err = stream.Create(tx, add.key); err != nil {
			return err
		}
	}
	s.Append(id, add.fields, stream.LimitsOf(tx))
	trimmed := int64(0)
	if add.trim.given {
		trimmed = s.TrimTo(add.trim.Trim)
	}
	tx.Touched(add.key, db.ClassStream, "xadd")
	if trimmed > 0 {
		tell(tx, "xtrim", add.key)
	}
	add.replicate(c, s, id)
	replyID(c.Reply, id)
	return nil
}

// replicate says how the addition goes on: with the ID that it got, and trimmed to what
// it was trimmed to.
func (add *addition) replicate(c *command.Call, s *stream.Stream, id stream.ID) {
	if !add.id.auto && !add.id.autoSeq && !add.trim.Approximate {
		return
	}
	if !c.Logged() {
		c.ReplicateAs()
		return
	}
	var room [24][]byte
	argv := append(room[:0], wordXAdd, add.key)
	if add.trim.given {
		argv = add.trim.exactly(c, argv, s)
	}
	c.ReplicateAs(append(append(argv, keepID(c, id)), add.fields...)...)
}

// exactly appends options that trim a stream to what it was trimmed to.
func (o *trimOptions) exactly(c *command.Call, argv [][]byte, s *stream.Stream) [][]byte {
	switch {
	case !o.Approximate && !o.ByID:
		return append(argv, wordMaxLen, wordExactly, c.Digits(o.MaxLen))
	case !o.Approximate:
		return append(argv, wordMinID, wordExactly, keepID(c, o.MinID))
	case !o.ByID:
		return append(argv, wordMaxLen, wordExactly, c.Digits(int64(s.Len())))
	case s.Len() == 0:
		return append(argv, wordMinID, wordExactly, keepID(c, stream.MaxID))
	}
	return append(argv, wordMinID, wordExactly, keepID(c, s.First()))
}

// XTRIM key MAXLEN | MINID [= | ~] threshold [LIMIT count]
func xtrimSpec() *command.Spec {
	s := writeSpec("xtrim", -4, 0, command.KeyDelete, xtrim)
	s.Tips = []string{tipNondetermine}
	return s
}

func xtrim(c *command.Call, tx db.Txn) error {
	a := &c.Args
	key := a.Key()
	var o trimOptions
	for a.More() && o.take(a) {
	}
	if a.More() {
		return resp.ErrSyntax
	}
	o.check(a, tx, true)
	if err := a.Done(); err != nil {
		return err
	}

	s, err := stream.Edit(tx, key)
	if err != nil {
		return err
	}
	n := int64(0)
	if s != nil {
		n = s.TrimTo(o.Trim)
	}
	if n > 0 {
		tx.Touched(key, db.ClassStream, "xtrim")
		tx.Dirty(n - 1)
		if o.Approximate && c.Logged() {
			var room [5][]byte
			c.ReplicateAs(o.exactly(c, append(room[:0], wordXTrim, key), s)...)
		}
	}
	c.Reply.Int(n)
	return nil
}
