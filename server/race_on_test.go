//go:build race

package server_test

// slowBuild says that tests should do less.
const slowBuild = true

// raceBuild says that the race detector is on.
const raceBuild = true
