package stream

import "heddle/db"

// Read returns the stream at key, nil if there is none. It counts as an access and as a
// keyspace hit or miss. ErrWrongType.
func Read(v db.View, key []byte) (*Stream, error) {
	c, found, err := v.Collection(key, db.TypeStream)
	if !found {
		return nil, err
	}
	return Of(c), nil
}

// Of returns a stream as it is stored, for those who read a snapshot.
func Of(c db.Coll) *Stream { return c.Object.(*Stream) }

// Edit returns the stream at key for change, nil if there is none. Afterwards the change
// is to be told by Touched or Adjusted. ErrWrongType, ErrOutOfMemory.
func Edit(tx db.Txn, key []byte) (*Stream, error) {
	c, found, err := tx.EditCollection(key, db.TypeStream)
	if !found {
		return nil, err
	}
	return Of(c), nil
}

// Create stores an empty stream under a key that is not there, and returns it.
// ErrOutOfMemory.
func Create(tx db.Txn, key []byte) (*Stream, error) {
	s := New()
	if err := tx.PutObject(key, db.TypeStream, s, db.NoExpiry); err != nil {
		return nil, err
	}
	return s, nil
}

// LimitsOf returns when nodes are full by the settings of a command.
func LimitsOf(v db.View) Limits {
	l := v.Limits()
	return Limits{NodeBytes: l.StreamNodeBytes, NodeEntries: l.StreamNodeEntries}
}
