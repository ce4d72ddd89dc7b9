//go:build invariants

package invariants

import (
	"fmt"
	"math/rand/v2"
)

// Enabled says whether this is a checked build.
const Enabled = true

// Assert panics with the message when cond is false, in checked builds.
func Assert(cond bool, format string, args ...any) {
	if !cond {
		panic("assertion failed: " + fmt.Sprintf(format, args...))
	}
}

// Sometimes is true once in n calls at random in checked builds, and never in
// others: it sends tests down rare paths.
func Sometimes(n int) bool {
	return rand.IntN(n) == 0
}
