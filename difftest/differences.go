package difftest

import "fmt"

// Difference is a reply in which we differ from redis-server 7.0.15 on purpose.
type Difference struct {
	What   string
	Reason string
	match  func(s Step, want, got Reply) bool
}

// Differences is the list of all of them. What is not on it is a fault.
// Replies that show a server's own state (INFO, CLIENT LIST, MEMORY USAGE, the
// order of KEYS) are not differences: their templates say what is compared.
func Differences() []Difference {
	return []Difference{}
}

// deliberate reports whether the two replies differ as the list says.
func deliberate(s Step, want, got Reply) bool {
	for _, d := range Differences() {
		if d.match(s, want, got) {
			return true
		}
	}
	return false
}

// String shows the entry as the tool lists it.
func (d Difference) String() string { return fmt.Sprintf("%s: %s", d.What, d.Reason) }
