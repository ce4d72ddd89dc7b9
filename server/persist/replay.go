package persist

import (
	"bytes"
	"fmt"

	"heddle/db/aof"
	"heddle/server/dispatch"
)

// replay runs the commands of append-only files.
type replay struct {
	k *Keeper
	r *dispatch.Replayer
}

func (k *Keeper) newReplay() *replay { return &replay{k: k, r: k.o.Engine.NewReplayer()} }

// begin begins a file.
func (p *replay) begin(string) { p.r.Reset() }

// apply runs a batch. Commands between MULTI and EXEC stand together in it, without
// these two.
func (p *replay) apply(b *aof.Batch) error {
	if err := p.k.loading.stopped(); err != nil {
		return err
	}
	for at := 0; at < len(b.Commands); {
		n := at
		for n < len(b.Commands) && !isLibrary(b.Commands[n].Argv) {
			n++
		}
		if err := p.run(b, at, n); err != nil {
			return err
		}
		if at = n; at < len(b.Commands) {
			argv := b.Commands[at].Argv
			if err := p.k.keepLibrary(argv[len(argv)-1]); err != nil {
				return err
			}
			at++
		}
	}
	return nil
}

// run runs the commands from the at-th to before the n-th.
func (p *replay) run(b *aof.Batch, at, n int) error {
	if n == at {
		return nil
	}
	err := p.r.Run(n-at, func(i int) [][]byte { return b.Commands[at+i].Argv })
	bad, ok := err.(*dispatch.ReplayError)
	if !ok {
		return err
	}
	return fmt.Errorf("%s reading the append only file %s at offset %d", bad.Text, b.File, b.Commands[at+bad.At].Offset)
}

// isLibrary reports whether a command is FUNCTION LOAD: there are no functions yet, but
// their code is kept.
func isLibrary(argv [][]byte) bool {
	return len(argv) >= 3 && bytes.EqualFold(argv[0], []byte("function")) && bytes.EqualFold(argv[1], []byte("load"))
}

func (p *replay) close() {
	if n := p.r.Failed(); n > 0 {
		p.k.o.Log.Verbosef("%d commands of the append-only file answered an error", n)
	}
	p.r.Close()
}
