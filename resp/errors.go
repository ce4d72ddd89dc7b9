// Package resp speaks the Redis serialization protocol: it reads requests out of
// bytes and writes replies into buffers, for RESP2 and RESP3. It does no I/O.
package resp

// Error is an error reply: its code, a space and its text, without the leading
// minus and the line end ("WRONGTYPE Operation against ...").
type Error string

func (e Error) Error() string { return string(e) }

// The error texts that more than one command gives, as Redis spells them.
const (
	ErrSyntax       Error = "ERR syntax error"
	ErrNotInteger   Error = "ERR value is not an integer or out of range"
	ErrNotFloat     Error = "ERR value is not a valid float"
	ErrWrongType    Error = "WRONGTYPE Operation against a key holding the wrong kind of value"
	ErrNoKey        Error = "ERR no such key"
	ErrSameObject   Error = "ERR source and destination objects are the same"
	ErrOutOfRange   Error = "ERR index out of range"
	ErrOOM          Error = "OOM command not allowed when used memory > 'maxmemory'."
	ErrNoAuth       Error = "NOAUTH Authentication required."
	ErrExecAbort    Error = "EXECABORT Transaction discarded because of previous errors."
	ErrLoading      Error = "LOADING Redis is loading the dataset in memory"
	ErrOverflow     Error = "ERR increment or decrement would overflow"
	ErrTooLong      Error = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
	ErrDBIndex      Error = "ERR DB index is out of range"
	ErrInvalidDB    Error = "ERR invalid DB index"
	ErrMinOrMax     Error = "ERR min or max is not a float"
	ErrNotPositive  Error = "ERR value is out of range, must be positive"
	ErrSubcommand   Error = "ERR unknown subcommand"
	ErrTimeoutFloat Error = "ERR timeout is not a float or out of range"
	ErrTimeoutNeg   Error = "ERR timeout is negative"
)
