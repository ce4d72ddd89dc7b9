package geo

import (
	"heddle/db"
	"heddle/db/geohash"
	"heddle/db/zset"
	"heddle/resp"
	"heddle/server/command"
	"heddle/server/command/sortedset"
)

// found is a member within the shape.
type found struct {
	member   []byte
	score    float64
	lon, lat float64
	metres   float64 // from the middle
}

// search is GEOSEARCH and what else only reads.
func search(c *command.Call, v db.View, q query) error {
	z, err := zset.Read(v, c.Args.Key())
	if err != nil {
		return err
	}
	if err := q.read(&c.Args, &z); err != nil {
		return err
	}
	q.reply(c.Reply, q.find(c, &z))
	return nil
}

// searchStore is GEOSEARCHSTORE and what else may store its result.
func searchStore(c *command.Call, tx db.Txn, q query, event string) error {
	z, err := zset.Read(tx, c.Args.Key())
	if err != nil {
		return err
	}
	if err := q.read(&c.Args, &z); err != nil {
		return err
	}
	list := q.find(c, &z)
	if q.dst == nil {
		q.reply(c.Reply, list)
		return nil
	}
	result := zset.NewObject()
	for i := range list {
		score := list[i].score
		if q.distance {
			score = list[i].metres / q.metres
		}
		result.Set(list[i].member, score)
	}
	if err := sortedset.Store(c, tx, q.dst, result, event); err != nil {
		return err
	}
	tx.Dirty(int64(max(len(list)-1, 0)))
	return nil
}

// find returns the members within the shape, in the order asked for, and no more
// than asked for.
func (q *query) find(c *command.Call, z *zset.ZSet) []found {
	if z.Len() == 0 {
		return nil
	}
	return q.arrange(q.collect(c, z))
}

// collect returns the members within the shape in the order of the cells that they are in,
// and stops when there are enough.
func (q *query) collect(c *command.Call, z *zset.ZSet) (list []found) {
	var room [9]geohash.Span
	for _, span := range q.shape.Spans(room[:0]) {
		from, to := z.ByScore(zset.ScoreRange{Min: span.Low, Max: span.High, Below: true})
		var it zset.Iter
		for it.Start(z, from, to, false); it.Next(); {
			f := found{score: it.Score()}
			f.lon, f.lat = geohash.Decode(geohash.FromScore(f.score))
			inside := false
			if f.metres, inside = q.shape.Contains(f.lon, f.lat); !inside {
				continue
			}
			if f.member = it.Member(); z.Large() == nil {
				f.member = c.Keep(f.member) // it was unpacked
			}
			list = append(list, f)
			if int64(len(list)) >= q.limit() {
				return list
			}
		}
	}
	return list
}

// reply writes the result.
func (q *query) reply(w *resp.Writer, list []found) {
	parts := 1
	for _, with := range []bool{q.withDist, q.withHash, q.withCoord} {
		if with {
			parts++
		}
	}
	w.Array(len(list))
	for i := range list {
		f := &list[i]
		if parts > 1 {
			w.Array(parts)
		}
		w.Bulk(f.member)
		if q.withDist {
			replyDistance(w, f.metres/q.metres)
		}
		if q.withHash {
			w.Int(int64(f.score))
		}
		if q.withCoord {
			w.Array(2)
			replyDegrees(w, f.lon)
			replyDegrees(w, f.lat)
		}
	}
}
