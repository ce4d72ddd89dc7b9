package db

type bigState struct{}

// Bytes returns the value.
func (b *Big) Bytes() []byte { return nil }

// Retain takes a further reference.
func (b *Big) Retain() {}

// Release gives a reference back.
func (b *Big) Release() {}
