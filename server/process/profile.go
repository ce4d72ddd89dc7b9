package process

import (
	"fmt"
	"os"
	"runtime/pprof"
)

// profileVariable names the file to which a CPU profile of the whole run is
// written: the input of profile-guided builds (scripts/pgo).
const profileVariable = "HEDDLE_CPU_PROFILE"

// Profile starts the CPU profile that the environment asks for. stop ends it
// and closes the file; without one, Profile and stop do nothing.
func Profile() (stop func() error, err error) {
	path := os.Getenv(profileVariable)
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", profileVariable, err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("%s: %w", profileVariable, err)
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
