package dispatch

import "heddle/server/command"

// plan says how dispatch finds the keys of a command and which way it takes;
// worked out once for each Spec.
type plan struct {
	way   way
	at    int  // wayOne: where the key stands
	least int  // arity: the fewest arguments
	most  int  // and the most; -1 for any number
	quick bool // may share a clock reading
}

type way uint8

const (
	wayGates way = iota // Control, containers
	wayOne              // Read or Write of exactly one key
	wayMany             // Read or Write of any keys
	wayHeavy            // as wayOne, unless there is something to be done ahead of the locks
)

func makePlans(t *command.Table) []plan {
	plans := make([]plan, len(t.All()))
	for _, s := range t.All() {
		plans[s.ID()] = planOf(s)
	}
	return plans
}

func planOf(s *command.Spec) plan {
	p := plan{least: s.Arity, most: s.Arity, quick: s.Flags&(command.Fast|command.Quick) != 0}
	if s.Arity < 0 {
		p.least, p.most = -s.Arity, -1
	}
	if s.Read == nil && s.Write == nil {
		return p
	}
	p.way = wayMany
	if s.Flags&(command.AllShards|command.Blocking) == 0 && s.FindKeys == nil && s.WholeKeyspace == nil && len(s.Keys) == 1 {
		k := s.Keys[0]
		if k.Keyword == "" && !k.NumKeys && k.Last == 0 && k.Flags&command.KeyNotKey == 0 && k.Begin < p.least {
			if p.way, p.at = wayOne, k.Begin; s.Heavy != nil {
				p.way = wayHeavy
			}
		}
	}
	return p
}

// one reports whether there is exactly one key, at p.at.
func (p *plan) one() bool { return p.way == wayOne || p.way == wayHeavy }

// fits reports whether a command may have n arguments, its name included.
func (p *plan) fits(n int) bool { return n >= p.least && (p.most < 0 || n <= p.most) }
