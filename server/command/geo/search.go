package geo

import (
	"math"

	"heddle/db"
	"heddle/db/geohash"
	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
)

// searchSpecs: GEOSEARCH key <FROMMEMBER member | FROMLONLAT longitude latitude>
// <BYRADIUS radius <M | KM | FT | MI> | BYBOX width height <M | KM | FT | MI>>
// [ASC | DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH],
// GEOSEARCHSTORE destination source, the same but for WITH..., [STOREDIST],
// GEORADIUS key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH]
// [COUNT count [ANY]] [ASC | DESC] [STORE key] [STOREDIST key],
// GEORADIUSBYMEMBER key member radius, the same, and both with _RO, which cannot store
func searchSpecs() []*command.Spec {
	stored := command.Key(1, command.KeyOW|command.KeyUpdate)
	stored = append(stored, command.Key(2, command.KeyRO|command.KeyAccess)...)
	return []*command.Spec{
		reading("geosearch", -7, func(c *command.Call, v db.View) error { return search(c, v, query{free: true}) }),
		reading("georadius_ro", -6, func(c *command.Call, v db.View) error { return search(c, v, query{}) }),
		reading("georadiusbymember_ro", -5, func(c *command.Call, v db.View) error { return search(c, v, query{byMember: true}) }),
		{
			Name: "geosearchstore", Arity: -8, Keys: stored, Flags: command.DenyOOM, ACL: command.CatGeo, Group: group,
			Write: func(c *command.Call, tx db.Txn) error {
				return searchStore(c, tx, query{free: true, stores: true, dst: c.Args.Key()}, "geosearchstore")
			},
		},
		radius("georadius", -6, query{optional: true}),
		radius("georadiusbymember", -5, query{optional: true, byMember: true}),
	}
}

func radius(name string, arity int, q query) *command.Spec {
	keys := command.Key(1, command.KeyRO|command.KeyAccess)
	for _, word := range []string{"STORE", "STOREDIST"} {
		keys = append(keys, command.KeySpec{Keyword: word, StartFrom: -arity, Step: 1, Flags: command.KeyOW | command.KeyUpdate})
	}
	return &command.Spec{
		Name: name, Arity: arity, Keys: keys, FindKeys: findRadiusKeys, Flags: command.DenyOOM, ACL: command.CatGeo, Group: group,
		Write: func(c *command.Call, tx db.Txn) error { return searchStore(c, tx, q, "georadiusstore") },
	}
}

// findRadiusKeys finds the keys of GEORADIUS and GEORADIUSBYMEMBER: of several that the
// result would be stored under, the last counts.
func findRadiusKeys(dst []command.KeyRef, argv [][]byte) ([]command.KeyRef, error) {
	dst = append(dst, command.KeyRef{Index: 1, Flags: command.KeyRO | command.KeyAccess})
	at := 0
	for i := 5; i+1 < len(argv); i++ {
		if command.EqualFold(argv[i], "store") || command.EqualFold(argv[i], "storedist") {
			i++
			at = i
		}
	}
	if at > 0 {
		dst = append(dst, command.KeyRef{Index: at, Flags: command.KeyOW | command.KeyUpdate})
	}
	return dst, nil
}

// query is a search, as the many commands ask for it.
type query struct {
	byMember bool // GEORADIUSBYMEMBER, not GEORADIUS
	free     bool // GEOSEARCH: middle and shape are options
	stores   bool // GEOSEARCHSTORE
	optional bool // may be told to store

	shape  geohash.Shape
	metres float64 // of the unit

	fromMember, fromPlace, byRadius, byBox  bool
	withDist, withHash, withCoord, distance bool
	any                                     bool
	count                                   int64
	order                                   order
	dst                                     []byte // store the result here
}

type order uint8

const (
	asFound order = iota
	nearest
	farthest
)

const (
	errMember    resp.Error = "ERR could not decode requested zset member"
	errRadius    resp.Error = "ERR need numeric radius"
	errNegRadius resp.Error = "ERR radius cannot be negative"
	errWidth     resp.Error = "ERR need numeric width"
	errHeight    resp.Error = "ERR need numeric height"
	errNegBox    resp.Error = "ERR height or width cannot be negative"
	errCount     resp.Error = "ERR COUNT must be > 0"
	errAny       resp.Error = "ERR the ANY argument requires COUNT argument"
)

// read reads the middle and the shape, where they come first, and the options. Mistakes are told
// in Redis' order, so members are looked for on the way.
func (q *query) read(a *command.Args, z *zset.ZSet) error {
	switch {
	case q.free:
	case !q.byMember:
		q.shape.Lon, q.shape.Lat = place(a)
		q.readRadius(a)
	case z.Len() == 0:
		a.Skip(3) // what they are does not matter where nothing is
	default:
		q.readMember(a, z)
		q.readRadius(a)
	}
	for a.More() {
		q.readOption(a, z)
	}
	if err := a.Done(); err != nil {
		return err
	}
	return q.check(a.Argv()[0])
}

// check refuses options that do not go together.
func (q *query) check(name []byte) error {
	switch {
	case q.dst != nil && (q.withDist || q.withHash || q.withCoord):
		what := "STORE option in GEORADIUS"
		if q.free {
			what = "GEOSEARCHSTORE"
		}
		return command.Errorf("ERR %s is not compatible with WITHDIST, WITHHASH and WITHCOORD options", what)
	case q.free && q.fromMember == q.fromPlace:
		return command.Errorf("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for %s", name)
	case q.free && q.byRadius == q.byBox:
		return command.Errorf("ERR exactly one of BYRADIUS and BYBOX can be specified for %s", name)
	case q.any && q.count == 0:
		return errAny
	}
	return nil
}

func (q *query) readOption(a *command.Args, z *zset.ZSet) {
	switch {
	case a.Word("withdist"):
		q.withDist = true
	case a.Word("withhash"):
		q.withHash = true
	case a.Word("withcoord"):
		q.withCoord = true
	case a.Word("any"):
		q.any = true
	case a.Word("asc"):
		q.order = nearest
	case a.Word("desc"):
		q.order = farthest
	case a.Len() >= 2 && a.Word("count"):
		q.count = a.Int()
		if a.Err() == nil && q.count <= 0 {
			a.Reject(errCount)
		}
	case q.optional && a.Len() >= 2 && a.Word("store"):
		q.dst, q.distance = a.Key(), false
	case q.optional && a.Len() >= 2 && a.Word("storedist"):
		q.dst, q.distance = a.Key(), true
	case q.stores && a.Word("storedist"):
		q.distance = true
	case q.free:
		q.readShape(a, z)
	default:
		a.Reject(resp.ErrSyntax)
	}
}

// readShape reads the options of GEOSEARCH that the others have in fixed places.
func (q *query) readShape(a *command.Args, z *zset.ZSet) {
	switch {
	case a.Len() >= 2 && !q.fromPlace && a.Word("frommember"):
		q.fromMember = true
		if z.Len() == 0 {
			a.Skip(1)
			return
		}
		q.readMember(a, z)
	case a.Len() >= 3 && !q.fromMember && a.Word("fromlonlat"):
		q.fromPlace = true
		q.shape.Lon, q.shape.Lat = place(a)
	case a.Len() >= 3 && !q.byBox && a.Word("byradius"):
		q.byRadius = true
		q.readRadius(a)
	case a.Len() >= 4 && !q.byRadius && a.Word("bybox"):
		q.byBox = true
		q.readBox(a)
	default:
		a.Reject(resp.ErrSyntax)
	}
}

func (q *query) readMember(a *command.Args, z *zset.ZSet) {
	score, found := z.Find(a.Bytes())
	if !found {
		a.Reject(errMember)
	}
	q.shape.Lon, q.shape.Lat = geohash.Decode(geohash.FromScore(score))
}

func (q *query) readRadius(a *command.Args) {
	r := a.FloatOr(errRadius)
	if r < 0 {
		a.Reject(errNegRadius)
	}
	q.metres = unit(a)
	q.shape.Radius = r * q.metres
}

func (q *query) readBox(a *command.Args) {
	w, h := a.FloatOr(errWidth), a.FloatOr(errHeight)
	if w < 0 || h < 0 {
		a.Reject(errNegBox)
	}
	q.metres = unit(a)
	q.shape.Box, q.shape.Width, q.shape.Height = true, w*q.metres, h*q.metres
}

// ordering returns the order of the result: the nearest are wanted when only some are.
func (q *query) ordering() order {
	if q.count > 0 && q.order == asFound && !q.any {
		return nearest
	}
	return q.order
}

// limit is how many places are enough while searching.
func (q *query) limit() int64 {
	if q.any {
		return q.count
	}
	return math.MaxInt64
}
