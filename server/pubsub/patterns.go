package pubsub

import (
	"slices"
	"strings"
	"sync"

	"heddle/db/glob"
)

// patterns are all patterns that are subscribed to. Redis tries each of them on
// every message; here they are found by what they begin with: "news.*" is looked
// at only for channels that begin with "news.". One lookup for each length that
// such a beginning has among all patterns, of which there are few, whatever the
// number of patterns; only those that begin with a star, a question mark or a
// bracket are tried on every message.
type patterns struct {
	mu       sync.RWMutex
	topics   map[string]*topic
	prefixes map[string][]*topic
	lengths  []prefixLength // ascending
}

// prefixLength is how many patterns have a literal beginning of a length.
type prefixLength struct{ length, count int }

func findLength(l prefixLength, n int) int { return l.length - n }

// literal returns how much of a pattern stands for itself, and whether nothing
// but one star follows that.
func literal(pattern string) (n int, prefixOnly bool) {
	n = strings.IndexAny(pattern, `*?[\`)
	if n < 0 {
		return len(pattern), false
	}
	return n, pattern[n:] == "*"
}

// index makes a new pattern findable; mu is held.
func (p *patterns) index(t *topic) {
	t.pattern = []byte(t.name)
	t.prefix, t.prefixOnly = literal(t.name)
	if p.prefixes == nil {
		p.prefixes = map[string][]*topic{}
	}
	list := p.prefixes[t.name[:t.prefix]]
	t.at = len(list)
	p.prefixes[t.name[:t.prefix]] = append(list, t)
	i, found := slices.BinarySearchFunc(p.lengths, t.prefix, findLength)
	if !found {
		p.lengths = slices.Insert(p.lengths, i, prefixLength{length: t.prefix})
	}
	p.lengths[i].count++
}

// unindex forgets a pattern; mu is held.
func (p *patterns) unindex(t *topic) {
	prefix := t.name[:t.prefix]
	list := p.prefixes[prefix]
	last := len(list) - 1
	list[t.at] = list[last]
	list[t.at].at = t.at
	list[last] = nil
	if last == 0 {
		if delete(p.prefixes, prefix); len(p.prefixes) == 0 {
			p.prefixes = nil
		}
	} else {
		p.prefixes[prefix] = list[:last]
	}
	i, _ := slices.BinarySearchFunc(p.lengths, t.prefix, findLength)
	if p.lengths[i].count--; p.lengths[i].count == 0 {
		p.lengths = slices.Delete(p.lengths, i, i+1)
	}
}

// match appends the patterns that a channel's name matches; mu is held.
func (p *patterns) match(dst []*topic, name []byte) []*topic {
	for _, l := range p.lengths {
		if l.length > len(name) {
			break
		}
		for _, t := range p.prefixes[string(name[:l.length])] {
			if t.prefixOnly || glob.Match(t.pattern, name) {
				dst = append(dst, t)
			}
		}
	}
	return dst
}
