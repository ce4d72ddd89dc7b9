//go:build !race

package server_test

import "heddle/db/invariants"

// slowBuild says that tests should do less.
const slowBuild = invariants.Enabled

// raceBuild says that the race detector is on.
const raceBuild = false
