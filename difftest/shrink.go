package difftest

import (
	"bytes"
	"slices"
	"time"
)

// maxReplays and maxShrink bound how often and how long Shrink runs parts of the
// history.
const (
	maxReplays = 400
	maxShrink  = time.Minute
)

// Shrink looks for the fewest steps of history that still end in a mismatch of
// the last one, by running parts of it on emptied servers. It returns nil if
// the mismatch does not come again: then it depends on time. key is what the mismatch is
// about, if that is known: what has nothing to do with it is left out first.
func Shrink(p *Pair, history []Step, key string) ([]Step, *Mismatch) {
	s := &shrinker{pair: p, until: time.Now().Add(maxShrink)}
	last := len(history) - 1
	var found []Step
	if about := concerning(history, key); key != "" && s.fails(about) {
		found = about
	}
	for n := 1; found == nil; n *= 4 { // most faults need little history
		from := max(0, last-n+1)
		if s.fails(history[from:]) {
			found = history[from:]
		}
		if from == 0 && found == nil || time.Now().After(s.until) {
			return nil, nil
		}
	}
	for size := len(found) / 2; size > 0; size /= 2 {
		for i := 0; i+size < len(found); { // never the last step
			shorter := append(append([]Step{}, found[:i]...), found[i+size:]...)
			if s.fails(shorter) {
				found = shorter
			} else {
				i += size
			}
		}
	}
	return found, s.mismatch
}

// concerning returns the steps that name a key, and those about the connections and
// the server.
func concerning(history []Step, key string) (list []Step) {
	about := [][]byte{[]byte(key), []byte("MULTI"), []byte("EXEC"), []byte("DISCARD"), []byte("SELECT"), []byte("HELLO"), []byte("RESET"),
		[]byte("CONFIG"), []byte("FLUSHALL"), []byte("FLUSHDB"), []byte("SWAPDB")}
	for _, s := range history {
		if s.Digest || slices.ContainsFunc(s.Argv, func(arg []byte) bool {
			return slices.ContainsFunc(about, func(b []byte) bool { return bytes.EqualFold(arg, b) })
		}) {
			list = append(list, s)
		}
	}
	return list
}

type shrinker struct {
	pair     *Pair
	until    time.Time
	replays  int
	mismatch *Mismatch
}

// fails runs steps on emptied servers and reports whether just the last one
// mismatches.
func (s *shrinker) fails(steps []Step) bool {
	if s.replays++; s.replays > maxReplays || time.Now().After(s.until) || s.pair.Reset() != nil {
		return false
	}
	for i := 0; i < len(steps); {
		end := i + 1
		for end < len(steps) && steps[end].Batch == steps[i].Batch {
			end++
		}
		m, err := s.pair.Run(steps[i:end])
		if err != nil {
			return false
		}
		if m != nil {
			last := steps[len(steps)-1]
			if end == len(steps) && m.Step.Batch == last.Batch && sameCommand(m.Step, last) {
				s.mismatch = m
				return true
			}
			return false
		}
		i = end
	}
	return false
}

func sameCommand(a, b Step) bool {
	if len(a.Argv) != len(b.Argv) || !bytes.Equal(a.Raw, b.Raw) || a.Digest != b.Digest {
		return false
	}
	for i := range a.Argv {
		if !bytes.Equal(a.Argv[i], b.Argv[i]) {
			return false
		}
	}
	return true
}
