//go:build !invariants

package invariants

// Enabled says whether this is a checked build.
const Enabled = false

// Assert panics with the message when cond is false, in checked builds.
func Assert(cond bool, format string, args ...any) {}

// Sometimes is true once in n calls at random in checked builds, and never in
// others: it sends tests down rare paths.
func Sometimes(n int) bool { return false }
