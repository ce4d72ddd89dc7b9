package host

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// heapSlack is what Go's heap may keep beside what lives on it. Keys are not
// there; but a transaction of large values, or a reply of many elements, leaves
// as much garbage as it was long. The runtime collects it within two minutes,
// but on a quiet server nothing would make it give the memory back.
const heapSlack = 64 << 20

// heapSamples names what Go's heap holds: found alive by the last collection,
// allocated now, free but not given back.
func heapSamples() []metrics.Sample {
	return []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
}

// slack reports whether collecting pays: what may come back is more than what
// has to be looked through.
func slack(live, allocated, free uint64) bool {
	return allocated+free > 2*live+heapSlack
}

// trimHeap returns memory that Go's heap does not need to the system.
func (h *Host) trimHeap(time.Time) {
	s := heapSamples()
	metrics.Read(s)
	if slack(s[0].Value.Uint64(), s[1].Value.Uint64(), s[2].Value.Uint64()) {
		debug.FreeOSMemory()
	}
}
