package difftest

import "bytes"

// maxReplays bounds how often Shrink runs a part of the history.
const maxReplays = 400

// Shrink looks for the fewest steps of history that still end in a mismatch of
// the last one, by running parts of it on emptied servers. It returns nil if
// the mismatch does not come again: then it depends on time.
func Shrink(p *Pair, history []Step) ([]Step, *Mismatch) {
	s := &shrinker{pair: p}
	last := len(history) - 1
	var found []Step
	for n := 1; found == nil; n *= 4 { // most faults need little history
		from := max(0, last-n+1)
		if s.fails(history[from:]) {
			found = history[from:]
		}
		if from == 0 && found == nil {
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

type shrinker struct {
	pair     *Pair
	replays  int
	mismatch *Mismatch
}

// fails runs steps on emptied servers and reports whether just the last one
// mismatches.
func (s *shrinker) fails(steps []Step) bool {
	if s.replays++; s.replays > maxReplays || s.pair.Reset() != nil {
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
