package persist

import (
	"math"
	"sync"
)

// While the append-only file moves to another folder, two writers have the same effects:
// the one in the old folder counts until the other is complete. And one that is closed
// may take its time, while another was begun already. So of all writers one at most has
// a say in which replies may leave and whether writes are refused. What the others would
// say is kept for the moment at which it is their turn.
type voices struct {
	mu      sync.Mutex // taken with the lock of a writer held
	speaker *voice     // nil: nobody, all replies leave
}

// voice is what a writer says.
type voice struct {
	limit int64
	fault error
}

// publish says up to where the log of effects is durable.
func (k *Keeper) publish(v *voice, limit int64) {
	k.voices.mu.Lock()
	defer k.voices.mu.Unlock()
	v.limit = limit
	if k.voices.speaker == v {
		k.o.Engine.SetDurable(limit)
	}
}

// tell says why the file cannot be written, nil if it can.
func (k *Keeper) tell(v *voice, fault error) {
	k.voices.mu.Lock()
	defer k.voices.mu.Unlock()
	v.fault = fault
	if k.voices.speaker == v {
		k.setFault(fault)
	}
}

// speak makes v the one that counts.
func (k *Keeper) speak(v *voice) {
	k.voices.mu.Lock()
	defer k.voices.mu.Unlock()
	k.voices.speaker = v
	k.o.Engine.SetDurable(v.limit)
	k.setFault(v.fault)
}

// silence has replies wait for nothing any more if v is the one that counts.
func (k *Keeper) silence(v *voice) {
	k.voices.mu.Lock()
	defer k.voices.mu.Unlock()
	if k.voices.speaker != v {
		return
	}
	k.voices.speaker = nil
	k.o.Engine.SetDurable(math.MaxInt64)
	k.setFault(nil)
}
