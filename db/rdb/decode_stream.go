package rdb

import (
	"encoding/binary"
	"math"
	"sort"

	"heddle/db"
	"heddle/db/listpack"
	"heddle/db/stream"
)

// A stream in a file is its nodes, facts about it, and its groups:
//
//	number of nodes; each: first ID (16 bytes, big endian), listpack
//	number of entries, last ID
//	since version 2: first ID, greatest deleted ID, entries ever added
//	number of groups; each: name, last ID, since version 2 entries read,
//	    number of pending entries; each: ID (16 bytes), time (8 bytes), deliveries
//	    number of consumers; each: name, seen time (8 bytes), since version 3 active time,
//	        number of pending entries; each: ID (16 bytes)
//
// The listpack of a node begins with a master entry: entries, deleted entries, number of
// fields, fields, 0. Behind it stand the entries: flags, ID as two differences to the node's,
// then values, one for each field of the master; or, unless the flags say so, the number of
// fields, and fields with values; last how many elements the entry has.
const (
	streamDeleted    = 1
	streamSameFields = 2
)

// streamReader makes a stream.
type streamReader struct {
	d     *decoder
	b     *stream.Builder
	s     *stream.Stream
	last  stream.ID // of the last entry so far, deleted or not
	node  stream.ID // of the node at hand
	names [][]byte
	pairs [][]byte
	room  []byte // spelled integers of names and pairs
	at    int64  // of the node in the file
	r     *listpackReader
	live  uint64
}

// streamValue decodes a stream.
func (d *decoder) streamValue(typ byte) Value {
	b := stream.NewBuilder()
	x := streamReader{d: d, b: b, s: b.Stream()}
	nodes := d.count("the number of nodes of a stream")
	for i := uint64(0); i < nodes && d.ok(); i++ {
		x.readNode()
	}
	x.facts(typ)
	groups := d.count("the number of groups of a stream")
	for i := uint64(0); i < groups && d.ok(); i++ {
		x.group(typ)
	}
	if d.err != nil {
		return Value{}
	}
	return Value{typ: db.TypeStream, coll: db.Coll{Type: db.TypeStream, Object: x.s}}
}

// id reads an ID of 16 bytes.
func (d *decoder) id(what string) stream.ID {
	var room [16]byte
	b := d.fixed(16, what, &room)
	return stream.ID{Ms: binary.BigEndian.Uint64(b), Seq: binary.BigEndian.Uint64(b[8:])}
}

// lengthID reads an ID of two lengths.
func (d *decoder) lengthID(what string) stream.ID {
	ms := d.length(what)
	return stream.ID{Ms: ms, Seq: d.length(what)}
}

// readNode reads a node.
func (x *streamReader) readNode() {
	d := x.d
	at := d.offset()
	key := d.begin("the first ID of a node")
	b := d.spell(&key, &d.a)
	if d.err == nil && len(b) != 16 {
		d.fail(at, "expected the first ID of a node, 16 bytes, found %d", len(b))
	}
	if d.err != nil {
		return
	}
	x.node = stream.ID{Ms: binary.BigEndian.Uint64(b), Seq: binary.BigEndian.Uint64(b[8:])}
	if !x.last.Before(x.node) {
		d.fail(at, "expected nodes in the order of their IDs, found %v behind %v", x.node, x.last)
		return
	}
	b, x.at = d.blob("Stream listpack")
	if d.err != nil {
		return
	}
	x.r = newListpack(b)
	x.entries()
}

// number reads an integer of the node's listpack.
func (x *streamReader) number(what string) int64 {
	if x.d.err != nil {
		return 0
	}
	e, ok := x.r.next()
	switch {
	case !ok && x.d.ended(x.r, x.at):
		x.d.broken(x.at, "%s, found the end of a node", what)
	case ok && !e.isInt:
		x.d.broken(x.at, "%s, found %s", what, quote(e.s))
	}
	return e.n
}

// strings reads n strings of the node's listpack behind those in dst, leaving step-1 places
// free behind each.
func (x *streamReader) strings(dst [][]byte, n int64, what string) [][]byte {
	for i := int64(0); i < n && x.d.ok(); i++ {
		e, ok := x.r.next()
		if !ok {
			if x.d.ended(x.r, x.at) {
				x.d.broken(x.at, "%s, found the end of a node", what)
			}
			break
		}
		if !e.isInt {
			dst = append(dst, e.s)
			continue
		}
		from := len(x.room)
		x.room = append(x.room, e.bytes(x.d.scratch[:])...)
		dst = append(dst, x.room[from:len(x.room):len(x.room)])
	}
	return dst
}

// entries reads the master entry and the entries of a node.
func (x *streamReader) entries() {
	d := x.d
	x.room = nil
	live, deleted := x.number("the number of entries"), x.number("the number of deleted entries")
	fields := x.number("the number of fields")
	if d.ok() && (live < 0 || deleted < 0 || fields < 0 || live+deleted < 0) {
		d.broken(x.at, "numbers of entries and fields, found %d, %d and %d", live, deleted, fields)
	}
	x.names = x.strings(x.names[:0], fields, "a field")
	if end := x.number("the end of the master entry"); d.ok() && end != 0 {
		d.broken(x.at, "the end of the master entry, found %d", end)
	}
	if d.err != nil {
		return
	}
	x.room = x.room[:len(x.room):len(x.room)] // the names stay
	if live > 0 {
		x.b.Node(x.node, x.names)
	}
	foundLive, foundDeleted := int64(0), int64(0)
	for first := true; foundLive+foundDeleted < live+deleted && d.ok(); first = false {
		if x.entry(live > 0, first) {
			foundDeleted++
		} else {
			foundLive++
		}
	}
	if d.err != nil {
		return
	}
	if foundLive != live {
		d.broken(x.at, "%d entries and %d deleted ones, found %d and %d", live, deleted, foundLive, foundDeleted)
		return
	}
	if _, more := x.r.next(); more {
		d.broken(x.at, "%d entries in a node, found more", live+deleted)
	}
	d.ended(x.r, x.at)
	x.live += uint64(live)
}

// entry reads an entry and reports whether it is a deleted one; kept says that the node has
// some that are not.
func (x *streamReader) entry(kept, first bool) (deleted bool) {
	d := x.d
	flags := x.number("the flags of an entry")
	id := stream.ID{
		Ms:  x.node.Ms + uint64(x.number("the ID of an entry")),
		Seq: x.node.Seq + uint64(x.number("the ID of an entry")),
	}
	if d.ok() && (id.Before(x.node) || !first && !x.last.Before(id)) {
		d.broken(x.at, "entries in the order of their IDs, found %v behind %v", id, x.last)
	}
	had := len(x.room)
	x.pairs = x.pairs[:0]
	elements := int64(len(x.names)) + 3
	if flags&streamSameFields != 0 {
		x.pairs = x.strings(x.pairs, int64(len(x.names)), "a value")
		x.pairs = interleave(x.names, x.pairs)
	} else {
		fields := x.number("the number of fields")
		if d.ok() && (fields < 0 || fields > int64(len(x.r.b))) {
			d.broken(x.at, "the number of fields of an entry, found %d", fields)
		}
		x.pairs = x.strings(x.pairs, 2*fields, "a field or value")
		elements = 2*fields + 4
	}
	if n := x.number("the number of elements of an entry"); d.ok() && n != elements {
		d.broken(x.at, "an entry of %d elements, found %d", elements, n)
	}
	if d.err != nil {
		return false
	}
	x.last = id
	if deleted = flags&streamDeleted != 0; kept {
		x.keep(id, deleted, flags&streamSameFields != 0)
	}
	x.room = x.room[:had]
	return deleted
}

// keep hands an entry on.
func (x *streamReader) keep(id stream.ID, deleted, same bool) {
	if !deleted {
		if len(x.pairs) == 0 {
			x.d.broken(x.at, "an entry with fields, found %v without", id)
			return
		}
		x.b.Entry(id, x.pairs)
		return
	}
	size, elements := 0, len(x.pairs)/2+3
	if !same {
		size, elements = listpack.RedisIntSize(int64(len(x.pairs)/2)), len(x.pairs)+4
	}
	for i, s := range x.pairs {
		if !same || i&1 == 1 {
			size += listpack.RedisSize(s)
		}
	}
	x.b.Deleted(id, size, elements)
}

// interleave puts names in front of as many values, in the memory of values.
func interleave(names, values [][]byte) [][]byte {
	n := len(values)
	if n != len(names) {
		return values // something was wrong
	}
	values = append(values, names...) // for the room
	for i := n - 1; i >= 0; i-- {
		values[2*i+1] = values[i]
		values[2*i] = names[i]
	}
	return values
}

// facts reads what is told of the whole stream.
func (x *streamReader) facts(typ byte) {
	d, s := x.d, x.s
	at := d.offset()
	length := d.length("the number of entries of a stream")
	last := d.lengthID("the last ID of a stream")
	added, maxDeleted := x.live, stream.ID{}
	if typ != typeStream {
		first := d.lengthID("the first ID of a stream")
		maxDeleted = d.lengthID("the greatest deleted ID of a stream")
		added = d.length("the number of entries ever added to a stream")
		if d.ok() && x.live > 0 && first != s.First() {
			d.fail(at, "expected a stream that begins with %v, found %v", first, s.First())
		}
	}
	switch {
	case d.err != nil:
		return
	case length != x.live:
		d.fail(at, "expected a stream of %d entries, found %d", length, x.live)
	case last.Before(x.last):
		d.fail(at, "expected a stream that ends with %v at most, found %v", last, x.last)
	case added > math.MaxInt64:
		d.fail(at, "expected the number of entries ever added to a stream, found %d", added)
	}
	s.SetLastID(last)
	s.SetAdded(added)
	s.SetMaxDeleted(maxDeleted)
}

// pendingEntry is an entry of a group, for which a consumer is to be found.
type pendingEntry struct {
	p        stream.Pending
	consumer uint64
}

// group reads a group.
func (x *streamReader) group(typ byte) {
	d, s := x.d, x.s
	at := d.offset()
	name := append([]byte(nil), d.string("the name of a group", &d.a)...)
	last := d.lengthID("the last ID of a group")
	read := s.Distance(last)
	if typ != typeStream {
		read = int64(d.length("the number of entries that a group read"))
	}
	if d.err != nil {
		return
	}
	if read < stream.Unread {
		d.fail(at, "expected the number of entries that a group read, found %d", read)
		return
	}
	if !s.CreateGroup(name, last, read) {
		d.fail(at, "expected different groups, found %s twice", quote(name))
		return
	}
	pending := x.pending()
	g := s.EditGroup(name)
	consumers := d.count("the number of consumers of a group")
	for i := uint64(0); i < consumers && d.ok(); i++ {
		x.consumer(g, typ, pending)
	}
	for i := range pending {
		if d.err != nil {
			return
		}
		if pending[i].consumer == 0 {
			d.fail(at, "NACK entry without consumer: %v", pending[i].p.ID)
			return
		}
		s.Assign(g, pending[i].p, pending[i].consumer)
	}
}

// pending reads the pending entries of a group.
func (x *streamReader) pending() (list []pendingEntry) {
	d := x.d
	n := d.count("the number of pending entries of a group")
	for i := uint64(0); i < n && d.ok(); i++ {
		at := d.offset()
		id := d.id("the ID of a pending entry")
		when := d.millis("the time of a delivery")
		times := d.length("the number of deliveries")
		if d.ok() && len(list) > 0 && !list[len(list)-1].p.ID.Before(id) {
			d.fail(at, "expected pending entries in the order of their IDs, found %v behind %v", id, list[len(list)-1].p.ID)
		}
		if d.ok() {
			list = append(list, pendingEntry{p: stream.Pending{ID: id, Time: int64(when), Count: int64(times)}})
		}
	}
	return list
}

// consumer reads a consumer of a group.
func (x *streamReader) consumer(g *stream.Group, typ byte, pending []pendingEntry) {
	d, s := x.d, x.s
	at := d.offset()
	name := d.string("the name of a consumer", &d.a)
	if d.err != nil {
		return
	}
	number, created := s.CreateConsumer(g, name, 0)
	if !created {
		d.fail(at, "Duplicate stream consumer detected: %s", quote(name))
		return
	}
	seen := int64(d.millis("the time when a consumer was seen"))
	active := seen
	if typ == typeStream3 {
		active = int64(d.millis("the time when a consumer was active"))
	}
	c := s.EditConsumer(g, number)
	c.Seen, c.Active = seen, max(active, stream.Never)
	n := d.count("the number of pending entries of a consumer")
	for i := uint64(0); i < n && d.ok(); i++ {
		at := d.offset()
		id := d.id("the ID of a pending entry")
		j := sort.Search(len(pending), func(j int) bool { return !pending[j].p.ID.Before(id) })
		switch {
		case d.err != nil:
		case j == len(pending) || pending[j].p.ID != id:
			d.fail(at, "Consumer entry not found in group global PEL: %v", id)
		case pending[j].consumer != 0:
			d.fail(at, "Stream consumer PEL entry already has a consumer assigned: %v", id)
		default:
			pending[j].consumer = number
		}
	}
}
