package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Title is the place in memory where the command line stands, which the list of
// processes shows. It is written through /proc/self/mem: that needs neither
// privileges nor unsafe code. Texts of os.Args point into it, so they must not
// be used any more after Set.
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

// parseStat takes arg_start and arg_end, the 48th and 49th field, out of
// /proc/self/stat. The second field, a name in parentheses, may hold anything.
func parseStat(stat string) (Title, error) {
	const argStart, argEnd, afterName = 48, 49, 3
	end := strings.LastIndexByte(stat, ')')
	fields := strings.Fields(stat[end+1:])
	if end < 0 || len(fields) <= argEnd-afterName {
		return Title{}, fmt.Errorf("/proc/self/stat has no place of the command line")
	}
	from, err1 := strconv.ParseInt(fields[argStart-afterName], 10, 64)
	to, err2 := strconv.ParseInt(fields[argEnd-afterName], 10, 64)
	if err1 != nil || err2 != nil || from <= 0 || to <= from {
		return Title{}, fmt.Errorf("/proc/self/stat hides the place of the command line")
	}
	return Title{at: from, room: int(to - from)}, nil
}

// Set writes a title. What does not fit is left out, word by word; the first
// word is cut if need be. The name of the threads becomes the title's begin.
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

// NameThread names the calling thread in lists of threads.
func NameThread(name string) error {
	return os.WriteFile("/proc/self/task/"+strconv.Itoa(unix.Gettid())+"/comm", []byte(name), 0o644)
}
