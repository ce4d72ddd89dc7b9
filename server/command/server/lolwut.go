package admin

import (
	"strings"

	"heddle/server/command"
)

// lolwutSpec: LOLWUT [VERSION version [columns [rows]]]
func (f *family) lolwutSpec() *command.Spec {
	return &command.Spec{
		Name: "lolwut", Arity: -1, Flags: command.Fast | command.Reads, Group: group, Control: f.lolwut,
	}
}

// Bounds of a piece of cloth.
const (
	clothColumnsMax = 200
	clothRowsMax    = 100
)

// lolwut shows a piece of cloth: a heddle lifts every warp thread whose turn it
// is, and the weft passes below. The draft, which thread is tied to which
// shaft and in which order the shafts rise, is drawn at random, so that no two
// pieces are alike. Version 1 shows no art.
func (f *family) lolwut(c *command.Call, s command.Session) error {
	version, columns, rows := int64(2), int64(64), int64(16)
	if c.Args.Len() > 1 && c.Args.Word("version") {
		for _, n := range []*int64{&version, &columns, &rows} {
			if c.Args.More() {
				*n = c.Args.Int()
			}
		}
	}
	if err := c.Args.Err(); err != nil {
		return err
	}
	art := ""
	if version != 1 {
		columns, rows = min(max(columns, 1), clothColumnsMax), min(max(rows, 1), clothRowsMax)
		art = weave(uint64(f.d.Server.Micros()), int(columns), int(rows)) + "\n"
	}
	facts := f.facts(s)
	text := art + "Redis ver. " + facts.Server.Version + ", woven by Heddle " + facts.Server.HeddleVersion + "\n"
	c.Reply.Verbatim("txt", []byte(text))
	return nil
}

// weave draws cloth of a random four-shaft draft.
func weave(seed uint64, columns, rows int) string {
	next := func(n int) int { // xorshift: art needs no better
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return int(seed % uint64(n))
	}
	seed |= 1
	const shafts = 4
	period := 4 + next(9)
	threading := make([]int, period) // shaft of each warp thread
	for i := range threading {
		threading[i] = (i + next(2)) % shafts
	}
	lifts := make([]int, 3+next(6)) // shafts that rise for each weft, a bit each
	for i := range lifts {
		lifts[i] = 1 + next(1<<shafts-2)
	}
	var b strings.Builder
	for y := range rows {
		lift := lifts[mirror(y, len(lifts))]
		for x := range columns {
			if lift>>threading[mirror(x, period)]&1 == 1 {
				b.WriteString("│")
			} else {
				b.WriteString("━")
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// mirror maps i to 0, 1 .. n-1, n-1 .. 1, 0, 0 and so on: point draw.
func mirror(i, n int) int {
	if i %= 2 * n; i >= n {
		return 2*n - 1 - i
	}
	return i
}
