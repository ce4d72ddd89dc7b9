package difftest

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// databases is how many databases both servers have.
const databases = 16

// compareDigests compares the whole keyspaces, by DEBUG DIGEST, and if they differ
// looks for a key that does.
func (p *Pair) compareDigests(s Step) (*Mismatch, error) {
	replies, err := p.both("DEBUG", "DIGEST")
	if err != nil || bytes.Equal(replies[0].Raw, replies[1].Raw) {
		return nil, err
	}
	m := &Mismatch{What: "digest", Step: s, Want: replies[0], Got: replies[1]}
	for db := range databases {
		if _, err := p.both("SELECT", strconv.Itoa(db)); err != nil {
			return nil, err
		}
		key, what, err := p.differentKey()
		if err != nil {
			return nil, err
		}
		if what != "" {
			m.Key = key
			m.What = fmt.Sprintf("digest of %s, database %d", what, db)
			break
		}
	}
	_, err = p.both("SELECT", "0")
	return m, err
}

// both runs a command on both control connections.
func (p *Pair) both(argv ...string) (replies [2]Reply, err error) {
	for side, c := range p.control {
		if replies[side], err = c.Do(argv...); err != nil {
			return replies, fmt.Errorf("%v: %w", argv, err)
		}
	}
	return replies, nil
}

// differentKey describes a key of the selected database that the servers do not agree
// about.
func (p *Pair) differentKey() (key, what string, err error) {
	lists, err := p.both("KEYS", "*")
	if err != nil {
		return "", "", err
	}
	keys := append(lists[0].texts(nil), lists[1].texts(nil)...)
	slices.Sort(keys)
	for _, key = range slices.Compact(keys) {
		for _, look := range [][]string{{"TYPE", key}, {"DEBUG", "DIGEST-VALUE", key}, {"EXPIRETIME", key}} {
			replies, err := p.both(look...)
			if err != nil {
				return "", "", err
			}
			if bytes.Equal(replies[0].Raw, replies[1].Raw) {
				continue
			}
			kind, err := p.both("TYPE", key)
			return key, fmt.Sprintf("%q: %s: %q, %q; type %s, %s", key, strings.Join(look[:len(look)-1], " "),
				replies[0].Raw, replies[1].Raw, kind[0].Text, kind[1].Text), err
		}
	}
	return "", "", nil
}

// listeners are a connection to each server that gets its keyspace events.
type listeners struct {
	conns  [2]*Client
	marker int64 // number of the last
}

// notifyAll is every class of events, in both places.
const notifyAll = "KEAmn"

// markers are published on this channel, to know that all events before have come.
const markers = "difftest:marker"

// Listen has the keyspace events of both servers compared behind each batch.
func (p *Pair) Listen() error {
	l := &listeners{}
	p.events = l
	for side, addr := range p.addrs {
		c, err := Dial(addr)
		if err != nil {
			return err
		}
		l.conns[side] = c
		for _, argv := range [][]string{{"CONFIG", "SET", "notify-keyspace-events", notifyAll}, {"PSUBSCRIBE", "__key*__:*"}} {
			if reply, err := c.Do(argv...); err != nil || reply.Kind == '-' {
				return fmt.Errorf("%v: %s %w", argv, reply.Raw, err)
			}
		}
		if _, err := c.Do("SUBSCRIBE", markers); err != nil {
			return err
		}
	}
	return nil
}

// collect returns the events since the last call.
func (l *listeners) collect(control [2]*Client) (events [2][]string, err error) {
	l.marker++
	marker := strconv.FormatInt(l.marker, 10)
	for side, c := range l.conns {
		if _, err := control[side].Do("PUBLISH", markers, marker); err != nil {
			return events, err
		}
		c.conn.SetDeadline(time.Now().Add(replyTimeout))
		for {
			reply, err := readReply(c.in)
			if err != nil {
				return events, fmt.Errorf("reading events: %w", err)
			}
			texts := reply.texts(nil)
			if len(texts) == 3 && texts[1] == markers {
				if texts[2] == marker {
					break
				}
				continue
			}
			if event := strings.Join(texts[2:], " "); !consumerEvent(event) {
				events[side] = append(events[side], event)
			}
		}
	}
	return events, nil
}

// consumerEvent reports whether an event tells of a consumer that came or went. Since Redis
// 7.2 consumers are made when they are named, not only when they get something.
func consumerEvent(event string) bool {
	return strings.Contains(event, "xgroup-createconsumer") || strings.Contains(event, "xgroup-delconsumer")
}

// compareEvents compares the events since the last step. When a key's time comes
// depends on when it is looked at: such events may come in another order.
func (p *Pair) compareEvents(last Step) (*Mismatch, error) {
	events, err := p.events.collect(p.control)
	if err != nil {
		return nil, err
	}
	want, got := events[0], events[1]
	if slices.ContainsFunc(want, func(e string) bool { return strings.Contains(e, "expired") }) {
		slices.Sort(want)
		slices.Sort(got)
	}
	if slices.Equal(want, got) {
		return nil, nil
	}
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	show := func(list []string) Reply {
		list = list[max(0, at-2):min(len(list), at+8)]
		return Reply{Kind: 'e', Raw: []byte(strings.Join(list, ", "))}
	}
	first := "none"
	if at < len(want) {
		first = want[at]
	}
	kind := first[strings.LastIndexByte(first, ' ')+1:]
	if name, ok := strings.CutPrefix(first, "__keyevent@"); ok {
		kind, _, _ = strings.Cut(name, " ")
	}
	return &Mismatch{What: "events: " + kind, Step: last, Want: show(want), Got: show(got)}, nil
}
