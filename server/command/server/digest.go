package admin

import (
	"heddle/db"
	"heddle/db/digest"
	"heddle/resp"
	"heddle/server/command"
)

// digestAside is from how many keys on DEBUG DIGEST leaves its worker's thread.
const digestAside = 1000

// debugDigest sums up everything, in a snapshot.
func debugDigest(c *command.Call, s command.Session) error {
	w, now := s.Keyspace(), s.Now()
	keys := int64(0)
	for i := range w.Databases() {
		keys += w.Len(i)
	}
	if keys >= digestAside {
		return c.Aside(func(out *resp.Writer) { sumUp(out, w, now) })
	}
	sumUp(c.Reply, w, now)
	return nil
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
