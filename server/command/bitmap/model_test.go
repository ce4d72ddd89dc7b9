package bitmap_test

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"heddle/server/command/cmdtest"

	"pgregory.net/rapid"
)

// bitModel holds strings as texts of 0 and 1, a multiple of eight long.
type bitModel map[string]string

func (m bitModel) grow(key string, bits int) {
	if n := (bits + 7) / 8 * 8; n > len(m[key]) {
		m[key] += strings.Repeat("0", n-len(m[key]))
	}
}

func (m bitModel) put(key string, at int, bits string) {
	m.grow(key, at+len(bits))
	s := m[key]
	m[key] = s[:at] + bits + s[at+len(bits):]
}

func (m bitModel) field(key string, at, n int) string {
	s := m[key]
	out := ""
	for i := at; i < at+n; i++ {
		if i < len(s) {
			out += s[i : i+1]
		} else {
			out += "0"
		}
	}
	return out
}

func (m bitModel) op(name, dest string, keys []string) {
	size := 0
	for _, k := range keys {
		size = max(size, len(m[k]))
	}
	out := make([]byte, size)
	for i := range out {
		ones := 0
		for _, k := range keys {
			if s := m[k]; i < len(s) && s[i] == '1' {
				ones++
			}
		}
		set := map[string]bool{"and": ones == len(keys), "or": ones > 0, "xor": ones%2 == 1, "not": ones == 0}[name]
		out[i] = '0'
		if set {
			out[i] = '1'
		}
	}
	if size == 0 {
		delete(m, dest)
		return
	}
	m[dest] = string(out)
}

func (m bitModel) bytes(key string) string {
	s := m[key]
	b := make([]byte, len(s)/8)
	for i := range b {
		n, _ := strconv.ParseUint(s[8*i:8*i+8], 2, 8)
		b[i] = byte(n)
	}
	return string(b)
}

func number(bits string, signed bool) *big.Int {
	n, _ := new(big.Int).SetString(bits, 2)
	if signed && bits[0] == '1' {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(bits))))
	}
	return n
}

func colon(v any) string { return fmt.Sprintf(":%v\r\n", v) }

func (m bitModel) step(t *rapid.T) (argv []string, reply string) {
	keys := rapid.SampledFrom([]string{"a", "b", "c"})
	key := keys.Draw(t, "key")
	at := rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(131_000, 131_200)).Draw(t, "at")
	switch name := rapid.SampledFrom([]string{"setbit", "getbit", "bitcount", "bitpos", "bitop", "field", "put"}).Draw(t, "command"); name {
	case "setbit":
		bit := rapid.SampledFrom([]string{"0", "1"}).Draw(t, "bit")
		old := m.field(key, at, 1)
		m.put(key, at, bit)
		return []string{name, key, strconv.Itoa(at), bit}, colon(old)
	case "getbit":
		return []string{name, key, strconv.Itoa(at)}, colon(m.field(key, at, 1))
	case "bitcount":
		from, to := min(at, len(m[key])), min(at+rapid.IntRange(1, 400).Draw(t, "length"), len(m[key]))
		return []string{name, key, strconv.Itoa(at), strconv.Itoa(to - 1), "bit"}, colon(strings.Count(m[key][from:max(from, to)], "1"))
	case "bitpos":
		return []string{name, key, "1"}, colon(strings.Index(m[key], "1"))
	case "bitop":
		op := rapid.SampledFrom([]string{"and", "or", "xor", "not"}).Draw(t, "operation")
		src := rapid.SliceOfN(keys, 1, 3).Draw(t, "sources")
		if op == "not" {
			src = src[:1]
		}
		m.op(op, key, src)
		return append([]string{name, op, key}, src...), colon(len(m[key]) / 8)
	case "field":
		n, signed := rapid.IntRange(1, 63).Draw(t, "bits"), rapid.Bool().Draw(t, "signed")
		kind := map[bool]string{true: "i", false: "u"}[signed]
		return []string{"bitfield_ro", key, "get", kind + strconv.Itoa(n), strconv.Itoa(at)}, "*1\r\n" + colon(number(m.field(key, at, n), signed))
	}
	bits := rapid.StringMatching(`[01]{1,63}`).Draw(t, "bits")
	old := m.field(key, at, len(bits))
	m.put(key, at, bits)
	return []string{"bitfield", key, "set", "u" + strconv.Itoa(len(bits)), strconv.Itoa(at), number(bits, false).String()},
		"*1\r\n" + colon(number(old, false))
}

func TestAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := cmdtest.New(t, families()...)
		m := bitModel{}
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			argv, want := m.step(rt)
			if got := e.Argv(argv...).Raw(); got != want {
				rt.Fatalf("%q: got %q, want %q", argv, got, want)
			}
		}
		for key := range m {
			v := m.bytes(key)
			if got := e.Argv("get", key).Raw(); got != fmt.Sprintf("$%d\r\n%s\r\n", len(v), v) {
				rt.Fatalf("%s: got %.80q, want %.80q", key, got, v)
			}
		}
	})
}
