package command

// EqualFold reports whether b spells the lower-case ASCII word, in any case.
func EqualFold(b []byte, lower string) bool { return equalFold(b, lower) }

// Lower returns b with its ASCII letters in lower case.
func Lower(b []byte) string {
	low := make([]byte, len(b))
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	return string(low)
}

// Upper returns b with its ASCII letters in upper case.
func Upper(b []byte) string {
	up := make([]byte, len(b))
	for i, c := range b {
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		up[i] = c
	}
	return string(up)
}
