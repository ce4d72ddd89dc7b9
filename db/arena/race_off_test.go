//go:build !race

package arena

// raceEnabled: the race detector needs memory of its own for what it watches.
const raceEnabled = false
