package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Title is the place in memory where the command line stands, which the list of
// processes shows. It is written through /proc/self/mem: that needs neither
// privileges nor unsafe code. A title that needs more room goes on where the
// environment stands; the system shows that. Texts of os.Args point into the
// place, so they must not be used any more after Set; the Go runtime has copied
// the environment.
type Title struct {
	at   int64
	room int
}

// FindTitle finds the place.
func FindTitle() (Title, error) {
	b, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return Title{}, err
	}
	return parseStat(string(b))
}

// The fields of /proc/self/stat that tell where command line and environment
// stand, counted from 1.
const (
	statArgStart = 48
	statEnvEnd   = 51
)

// parseStat takes the place out of /proc/self/stat. The second field, a name in
// parentheses, may hold anything.
func parseStat(stat string) (Title, error) {
	const afterName = 3
	end := strings.LastIndexByte(stat, ')')
	fields := strings.Fields(stat[end+1:])
	if end < 0 || len(fields) <= statEnvEnd-afterName {
		return Title{}, fmt.Errorf("/proc/self/stat has no place of the command line")
	}
	var at [4]int64 // begin and end of the command line, of the environment
	for i := range at {
		at[i], _ = strconv.ParseInt(fields[statArgStart-afterName+i], 10, 64)
	}
	if at[0] <= 0 || at[1] <= at[0] {
		return Title{}, fmt.Errorf("/proc/self/stat hides the place of the command line")
	}
	if at[2] == at[1] && at[3] > at[2] {
		at[1] = at[3]
	}
	return Title{at: at[0], room: int(at[1] - at[0])}, nil
}

// Set writes a title. What does not fit is left out, word by word; the first
// word is cut if need be.
func (t Title) Set(title string) error {
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer mem.Close()
	buf := make([]byte, t.room)
	copy(buf, fit(title, t.room-1))
	if _, err := mem.WriteAt(buf, t.at); err != nil {
		return err
	}
	return nil
}

// fit cuts a title to room bytes, between words if possible.
func fit(title string, room int) string {
	if len(title) <= room {
		return title
	}
	if i := strings.LastIndexByte(title[:room+1], ' '); i > 0 {
		return title[:i]
	}
	return title[:room]
}
