package listpack

import "errors"

// ErrInvalid says that bytes are no packed value.
var ErrInvalid = errors.New("listpack: invalid bytes")

// Check checks bytes from outside: whole entries in their one spelling, as many
// as the header says times per (2 where pairs are counted), not more than one
// 4 GB string can be. Bytes that pass can be given to every function here.
func Check(p []byte, per int) error {
	if len(p) < Header {
		return ErrInvalid
	}
	left := Count(p) * per
	for at := Header; at < len(p); left-- {
		n := checkedSize(p[at:])
		if n == 0 || n > len(p)-at || !canonical(Entry(p[at:at+n])) {
			return ErrInvalid
		}
		at += n
	}
	if left != 0 {
		return ErrInvalid
	}
	return nil
}

// CheckedAt is At of bytes from outside; false when no whole entry in its one
// spelling stands there.
func CheckedAt(p []byte, at int) (e Entry, ok bool) {
	if at >= len(p) {
		return nil, false
	}
	n := checkedSize(p[at:])
	if n == 0 || n > len(p)-at {
		return nil, false
	}
	e = Entry(p[at : at+n : at+n])
	return e, canonical(e)
}

// checkedSize is the size of the entry that b begins with as its header tells
// it; 0 when there is no whole header.
func checkedSize(b []byte) int {
	c := b[0]
	if n := int(entrySizes[c]); n > 0 {
		return n
	}
	need := 2
	switch c {
	case codeRaw16:
		need = 3
	case codeRaw32:
		need = 5
	}
	switch {
	case c >= codeEnd || len(b) < need:
		return 0
	case c >= codeLongName && b[1] > maxTight:
		return 0
	}
	return longSize(b)
}

// canonical reports whether e is spelled as Value spells it.
func canonical(e Entry) bool {
	var v Value
	if n, ok := e.Int(); ok {
		v.SetInt(n)
		return v.Equal(e)
	}
	var buf Scratch
	v.Set(e.Bytes(&buf))
	return v.Equal(e)
}
