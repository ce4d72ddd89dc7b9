//go:build race

package server_test

// slowBuild says that tests should do less.
const slowBuild = true
