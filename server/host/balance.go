package host

import (
	"time"

	"heddle/server/pace"
)

// balancer returns the task that moves connections to where there is time for them.
func (h *Host) balancer() func(now time.Time) {
	idle := new(pace.Idle)
	return func(now time.Time) {
		if h.Network.Workers() > 1 && h.Network.Clients() > 0 {
			h.Network.Balance(now, idle.Since(now))
		}
	}
}
