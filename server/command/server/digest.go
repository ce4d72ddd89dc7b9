package admin

import (
	"heddle/db"
	"heddle/db/digest"
	"heddle/resp"
	"heddle/server/command"
)

// debugDigest sums up everything, in a snapshot.
func debugDigest(c *command.Call, s command.Session) error {
	w, now := s.Keyspace(), s.Now()
	return c.Aside(func(out *resp.Writer) { sumUp(out, w, now) }) // one key may be large enough
}

func sumUp(out *resp.Writer, w db.Whole, now db.Millis) {
	sum := digest.All(w, now)
	out.Simple(sum.String())
}

func debugDigestValue(c *command.Call, s command.Session) error {
	keys := c.Args.Rest()
	var out resp.Writer
	for _, key := range keys {
		var sum digest.Sum
		err := s.Locked(key, func(tx db.Txn) error {
			it, found, err := item(tx, key)
			if found {
				sum = digest.Value(&it, tx.Now())
			}
			return err
		})
		if err != nil {
			return err
		}
		out.Simple(sum.String())
	}
	c.Reply.Array(len(keys))
	c.Reply.Raw(out.Bytes())
	return nil
}

// item returns a key with its value.
func item(tx db.Txn, key []byte) (it db.Item, found bool, err error) {
	it = db.Item{Key: key, Type: tx.Type(key)}
	if it.Expire, found = tx.Expire(key); !found {
		return it, false, nil
	}
	if it.Type == db.TypeString {
		it.Str, _, err = tx.Current(key)
	} else {
		it.Coll, _, err = tx.CurrentCollection(key, it.Type)
	}
	return it, err == nil, err
}
