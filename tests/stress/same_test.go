package stress

import (
	"fmt"
	"math/rand"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/difftest"
	"heddle/tests/testserver"
)

// side is one of two servers and the connections to it.
type side struct {
	conns []net.Conn
	ids   []string // CLIENT ID of each

	mu  sync.Mutex
	got []string // what each received since it last sent
}

func open(t *testing.T, addr string, n int) *side {
	t.Helper()
	s := &side{got: make([]string, n)}
	for i := range n {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		s.conns = append(s.conns, c)
		go s.receive(i, c)
	}
	return s
}

func (s *side) receive(i int, c net.Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := c.Read(buf)
		s.mu.Lock()
		s.got[i] += string(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// send sends a line to one.
func (s *side) send(i int, line string) {
	s.mu.Lock()
	s.got[i] = ""
	s.mu.Unlock()
	fmt.Fprintf(s.conns[i], "%s\r\n", line)
}

// read returns what came for each.
func (s *side) read() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

// identify asks for the numbers of the connections.
func (s *side) identify(t *testing.T) {
	t.Helper()
	for i := range s.conns {
		s.send(i, "CLIENT ID")
	}
	whole := func(reply string) bool { return strings.HasSuffix(reply, "\n") }
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		got := s.read()
		if !slices.ContainsFunc(got, func(g string) bool { return !whole(g) }) {
			for _, g := range got {
				s.ids = append(s.ids, strings.TrimSpace(strings.TrimPrefix(g, ":")))
			}
			break
		}
		if time.Now().After(end) {
			t.Fatalf("CLIENT ID is not answered: %q", got)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.got {
		s.got[i] = "idle"
	}
}

// What is not the same: of several streams Redis 7.0 gives a blocked client only the
// one that was written first, Redis 7.2 and we all that have something. So the readers
// here wait for one. And of several keys that SWAPDB makes ready Redis serves any first.

// blockers and others are commands with k, s, x for keys of three kinds; # is a number
// that grows.
const blockers = `BLPOP k 0|BLPOP k k k 0|BRPOP k k 0|BLMOVE k k LEFT RIGHT 0|BRPOPLPUSH k k 0|BLMPOP 0 2 k k LEFT COUNT 2|BZPOPMIN s s 0|BZPOPMAX s 0|BZMPOP 0 2 s s MIN COUNT 2
XREAD COUNT 2 BLOCK 0 STREAMS x $|XREAD BLOCK 0 STREAMS x $|XREADGROUP GROUP g c BLOCK 0 STREAMS x >|XREADGROUP GROUP g c COUNT 1 BLOCK 0 STREAMS x >`

const others = `RPUSH k v#|RPUSH k v# w#|LPUSH k v#|LPOP k|DEL k|DEL s x|RENAME k k|RENAME s s|COPY k k REPLACE|SET k v|SET x v|ZADD s # m#|ZADD s # m# 1# n#|ZPOPMIN s|ZUNIONSTORE s 2 s s
XADD x # f v#|XADD x # f v#|XGROUP CREATE x g 0 MKSTREAM|XGROUP DESTROY x g|DEL x|RENAME x x|FLUSHALL|LMOVE k k LEFT LEFT|LTRIM k 1 0|LLEN k|ZCARD s|TYPE k|EXISTS k|SADD k a`

func spell(rng *rand.Rand, line string, number *int) string {
	words := strings.Fields(line)
	for i, w := range words {
		switch {
		case i > 0 && (w == "k" || w == "s" || w == "x"):
			kind := w
			if rng.Intn(15) == 0 {
				kind = []string{"k", "s", "x"}[rng.Intn(3)]
			}
			words[i] = kind + fmt.Sprint(rng.Intn(3))
		case strings.Contains(w, "#"):
			*number++
			words[i] = strings.Replace(w, "#", fmt.Sprint(*number), 1)
		}
	}
	return strings.Join(words, " ")
}

// TestSameAsRedis plays random steps of clients, many of whom are blocked, to us and to
// redis-server: everybody gets the same, in each step.
func TestSameAsRedis(t *testing.T) {
	theirs := testserver.RunRedis(t, testserver.Options{})
	ours := start(t)
	base := *seed
	if base == 0 {
		base = time.Now().UnixNano()
	}
	t.Logf("seed %d", base)
	steps := 0
	for begin := time.Now(); time.Since(begin) < *length && !t.Failed(); base++ {
		steps += same(t, theirs.Addr, ours.Addr, rand.New(rand.NewSource(base)), 150)
	}
	t.Logf("%d steps", steps)
}

// same plays one game of steps.
func same(t *testing.T, theirs, ours string, rng *rand.Rand, steps int) int {
	const players = 8
	sides := [2]*side{open(t, theirs, players+1), open(t, ours, players+1)}
	blocked := map[int]bool{}
	var log []string
	number := 0
	for _, s := range sides {
		s.identify(t)
	}
	play(sides, players, 0, "FLUSHALL")
	block, other := strings.Split(strings.ReplaceAll(blockers, "\n", "|"), "|"), strings.Split(strings.ReplaceAll(others, "\n", "|"), "|")
	for n := range steps {
		who, lines := players, []string{spell(rng, other[rng.Intn(len(other))], &number)}
		victim := rng.Intn(players)
		switch r := rng.Intn(20); {
		case r < 8 && !blocked[victim]:
			who, lines[0] = victim, spell(rng, block[rng.Intn(len(block))], &number)
		case r < 12:
			for range 1 + rng.Intn(3) {
				lines = append(lines, spell(rng, other[rng.Intn(len(other))], &number))
			}
			lines = append(append([]string{"MULTI"}, lines...), "EXEC")
		case r == 13:
			lines[0] = "CLIENT UNBLOCK @ " + []string{"TIMEOUT", "ERROR"}[rng.Intn(2)]
		}
		log = append(log, fmt.Sprintf("%d: %s", who, strings.Join(lines, " ; ")))
		if !play(sides, who, victim, strings.Join(lines, "\r\n")) || who < players && !arrived(t, sides, who) {
			t.Errorf("step %d\n%s", n, strings.Join(log, "\n"))
			a, b := sides[0].read(), sides[1].read()
			for i := range players + 1 {
				if a, b := a[i], b[i]; a != b {
					t.Errorf("client %d:\nredis  %q\nheddle %q", i, a, b)
				}
			}
			return n
		}
		for i, g := range sides[0].read()[:players] {
			blocked[i] = g == ""
		}
	}
	for _, s := range sides {
		for _, c := range s.conns {
			c.Close()
		}
	}
	return steps
}

// arrived waits until both servers have taken what a player sent: it is answered, or
// the player is blocked.
func arrived(t *testing.T, sides [2]*side, who int) bool {
	for _, s := range sides {
		admin, err := difftest.Dial(s.conns[0].RemoteAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer admin.Close()
		for end := time.Now().Add(patience); s.read()[who] == ""; {
			r, err := admin.Do("CLIENT", "LIST", "ID", s.ids[who])
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(r.Text), " flags=b ") {
				break
			}
			if time.Now().After(end) {
				return false
			}
		}
	}
	return true
}

// play has one connection send lines to both servers, and waits until all that comes
// is the same; false when that does not happen.
func play(sides [2]*side, who, victim int, lines string) bool {
	for _, s := range sides {
		s.send(who, strings.Replace(lines, "@", s.ids[victim], 1))
	}
	quiet := 0
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(300 * time.Microsecond) {
		a, b := sides[0].read(), sides[1].read()
		pending := who == len(a)-1 && !strings.HasSuffix(a[who], "\n")
		if pending || !slices.Equal(a, b) {
			quiet = 0
		} else if quiet++; quiet == 3 {
			return true
		}
	}
	return false
}
