package rdb

// SetPiece makes pieces of a file shorter, so that small ones have many.
func (o *LoadOptions) SetPiece(n int) { o.piece = n }
