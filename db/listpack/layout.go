package listpack

import "encoding/binary"

// Codes of the first byte.
const (
	codeUint20   = 0x70
	codeName     = 0x80
	codeText     = 0x98
	codeASCII    = 0xb0
	codeRaw      = 0xc0
	codeUint12   = 0xe0
	codeNeg8     = 0xf0
	codeInt16    = 0xf1
	codeInt24    = 0xf2
	codeInt32    = 0xf3
	codeInt40    = 0xf4
	codeInt48    = 0xf5
	codeInt64    = 0xf6
	codeRaw8     = 0xf7
	codeRaw16    = 0xf8
	codeRaw32    = 0xf9
	codeLongName = 0xfa
	codeLongText = 0xfb
	codeLongASCI = 0xfc
	codeEnd      = 0xfd // from here on nothing
)

const (
	minSix    = 4  // shorter strings gain nothing by 6 bits a character
	minSeven  = 8  // and by 7
	maxTight  = 64 // longest string with less than 8 bits a character
	maxRaw    = 31
	minUint12 = codeUint20 // smallest integer behind codeUint12: all below are codes
	minUint20 = minUint12 + 1<<12
	maxUint20 = minUint20 + 1<<20 - 1
)

// Characters of 6 bits. The first alphabet spells identifiers and tokens, the
// second lower-case text, dates, UUIDs, paths, addresses.
const (
	nameLetters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	textLetters = "0123456789abcdefghijklmnopqrstuvwxyz -_.:/@,;=+#&?!%*'\"(){}[]<>|"
)

// Bits of letterClass: what a character is not.
const (
	notName = 1 << iota
	notText
	notASCII
)

var (
	letterClass = classes()
	nameCodes   = codes(nameLetters)
	textCodes   = codes(textLetters)
	nameSpelled = [64]byte([]byte(nameLetters))
	textSpelled = [64]byte([]byte(textLetters))
	entrySizes  = sizes()
)

func classes() (t [256]byte) {
	for c := range t {
		t[c] = notName | notText
		if c >= 0x80 {
			t[c] |= notASCII
		}
	}
	for i := range nameLetters {
		t[nameLetters[i]] &^= notName
	}
	for i := range textLetters {
		t[textLetters[i]] &^= notText
	}
	return t
}

func codes(letters string) (t [256]byte) {
	for i := range letters {
		t[letters[i]] = byte(i)
	}
	return t
}

// sixBytes and sevenBytes say how many bytes n characters take.
func sixBytes(n int) int   { return (n*6 + 7) / 8 }
func sevenBytes(n int) int { return (n*7 + 7) / 8 }

// sizes is the size of an entry by its first byte; 0 where that does not tell.
func sizes() (t [256]byte) {
	for c := range t {
		switch {
		case c < codeUint20:
			t[c] = 1
		case c < codeName:
			t[c] = 3
		case c < codeText:
			t[c] = byte(1 + sixBytes(c-codeName+minSix))
		case c < codeASCII:
			t[c] = byte(1 + sixBytes(c-codeText+minSix))
		case c < codeRaw:
			t[c] = byte(1 + sevenBytes(c-codeASCII+minSeven))
		case c < codeUint12:
			t[c] = byte(1 + c - codeRaw)
		case c <= codeNeg8:
			t[c] = 2
		case c >= codeInt16 && c <= codeInt48:
			t[c] = byte(3 + c - codeInt16)
		case c == codeInt64:
			t[c] = 9
		}
	}
	return t
}

// longSize is the size of an entry whose first byte does not tell it.
func longSize(e []byte) int {
	switch c := e[0]; {
	case c == codeRaw8:
		return 2 + int(e[1])
	case c == codeRaw16:
		return 3 + int(binary.LittleEndian.Uint16(e[1:]))
	case c == codeRaw32:
		return 5 + int(binary.LittleEndian.Uint32(e[1:]))
	case c == codeLongASCI:
		return 2 + sevenBytes(int(e[1]))
	case c < codeEnd:
		return 2 + sixBytes(int(e[1]))
	}
	panic("listpack: no such entry")
}
