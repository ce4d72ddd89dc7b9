package persist

import "slices"

// There are no functions yet: libraries that a file has are kept as they are, so that
// the next save writes them again.

// keepLibrary keeps the code of a library of functions.
func (k *Keeper) keepLibrary(code []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.ContainsFunc(k.libraries, func(b []byte) bool { return string(b) == string(code) }) {
		k.libraries = append(k.libraries, slices.Clone(code))
	}
	return nil
}

// library returns the code of all libraries.
func (k *Keeper) library() [][]byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.libraries)
}

// dropLibraries forgets them, as before others are loaded.
func (k *Keeper) dropLibraries() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.libraries = nil
}
