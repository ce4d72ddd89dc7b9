// Package invariants turns the build tag `invariants` into constants, so that
// expensive checks cost nothing where the tag is absent. Where an assertion's
// arguments are costly, or the path is hot, guard it: if invariants.Enabled {...}.
package invariants
