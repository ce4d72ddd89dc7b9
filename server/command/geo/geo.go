// Package geo has the commands of places on earth. A place is the score of a member of a
// sorted set (see db/geohash), so the commands of sorted sets work on them, too.
package geo

import (
	"math"
	"strconv"
	"strings"

	"heddle/db"
	"heddle/db/geohash"
	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/command/sortedset"
)

// Family returns the commands of the group, made anew by each call.
func Family() command.Family {
	return command.Family{Name: group, Specs: append(searchSpecs(),
		&command.Spec{
			Name: "geoadd", Arity: -5, Keys: command.Key(1, command.KeyRW|command.KeyUpdate),
			Flags: command.DenyOOM, ACL: command.CatGeo, Group: group, Write: geoadd,
		},
		reading("geodist", -4, geodist), reading("geohash", -2, geohashes), reading("geopos", -2, geopos),
	)}
}

const group = "geo"

func reading(name string, arity int, read func(*command.Call, db.View) error) *command.Spec {
	return &command.Spec{
		Name: name, Arity: arity, Keys: command.Key(1, command.KeyRO|command.KeyAccess),
		ACL: command.CatGeo, Group: group, Read: read,
	}
}

const errUnit resp.Error = "ERR unsupported unit provided. please use M, KM, FT, MI"

// place reads longitude and latitude.
func place(a *command.Args) (lon, lat float64) {
	lon, lat = a.Float(), a.Float()
	if a.Err() == nil && !geohash.Valid(lon, lat) {
		a.Reject(command.Errorf("ERR invalid longitude,latitude pair %s,%s", fixed(lon), fixed(lat)))
	}
	return lon, lat
}

// fixed spells a float with six decimals, as C's %f does.
func fixed(f float64) string {
	if math.IsInf(f, 0) {
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'f', 6, 64)), "+")
	}
	return strconv.FormatFloat(f, 'f', 6, 64)
}

// unit reads a unit of length and returns its metres.
func unit(a *command.Args) float64 {
	switch {
	case a.Word("m"):
		return 1
	case a.Word("km"):
		return 1000
	case a.Word("ft"):
		return 0.3048
	case a.Word("mi"):
		return 1609.34
	}
	a.Reject(errUnit)
	return 1
}

// replyDistance writes a length with four decimals.
func replyDistance(w *resp.Writer, d float64) {
	var buf [32]byte
	w.Bulk(strconv.AppendFloat(buf[:0], d, 'f', 4, 64))
}

// replyDegrees writes a longitude or latitude with up to 17 decimals.
func replyDegrees(w *resp.Writer, deg float64) {
	var buf [32]byte
	b := strconv.AppendFloat(buf[:0], deg, 'f', 17, 64)
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	if b[len(b)-1] == '.' {
		b = b[:len(b)-1]
	}
	if string(b) == "-0" {
		b = b[1:]
	}
	w.DoubleText(b)
}

// GEOADD key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]
func geoadd(c *command.Call, tx db.Txn) error {
	a := &c.Args
	key := a.Key()
	var o sortedset.AddOptions
	for more := true; more; {
		switch {
		case a.Word("nx"):
			o.NX = true
		case a.Word("xx"):
			o.XX = true
		case a.Word("ch"):
			o.CH = true
		default:
			more = false
		}
	}
	n := a.Len() / 3
	if a.Len()%3 != 0 || n == 0 || o.NX && o.XX {
		return resp.ErrSyntax
	}
	members := a.Argv()[len(a.Argv())-a.Len()+2:]
	scores := sortedset.NewScores(c, n)
	for i := range n {
		lon, lat := place(a)
		a.Skip(1)
		if a.Err() != nil {
			return a.Err()
		}
		scores.Set(i, float64(geohash.Encode(lon, lat)))
	}
	return o.Add(c, tx, key, scores, members, 3)
}

// GEODIST key member1 member2 [M | KM | FT | MI]
func geodist(c *command.Call, v db.View) error {
	key, first, second := c.Args.Key(), c.Args.Bytes(), c.Args.Bytes()
	metres := 1.0
	if c.Args.Len() == 1 {
		metres = unit(&c.Args)
	}
	if err := c.Args.Done(); err != nil {
		return err
	}
	z, err := zset.ReadFew(v, key)
	if err != nil {
		return err
	}
	a, found := z.Find(first)
	b, found2 := z.Find(second)
	if !found || !found2 {
		c.Reply.Null()
		return nil
	}
	lon, lat := geohash.Decode(geohash.FromScore(a))
	lon2, lat2 := geohash.Decode(geohash.FromScore(b))
	replyDistance(c.Reply, geohash.Distance(lon, lat, lon2, lat2)/metres)
	return nil
}

// GEOHASH key [member [member ...]]
func geohashes(c *command.Call, v db.View) error {
	z, err := zset.ReadFew(v, c.Args.Key())
	if err != nil {
		return err
	}
	members := c.Args.Rest()
	c.Reply.Array(len(members))
	for _, m := range members {
		score, found := z.Find(m)
		if !found {
			c.Reply.Null()
			continue
		}
		var buf [16]byte
		c.Reply.Bulk(geohash.Append(buf[:0], geohash.FromScore(score)))
	}
	return nil
}

// GEOPOS key [member [member ...]]
func geopos(c *command.Call, v db.View) error {
	z, err := zset.ReadFew(v, c.Args.Key())
	if err != nil {
		return err
	}
	members := c.Args.Rest()
	c.Reply.Array(len(members))
	for _, m := range members {
		score, found := z.Find(m)
		if !found {
			c.Reply.NullArray()
			continue
		}
		lon, lat := geohash.Decode(geohash.FromScore(score))
		c.Reply.Array(2)
		replyDegrees(c.Reply, lon)
		replyDegrees(c.Reply, lat)
	}
	return nil
}
