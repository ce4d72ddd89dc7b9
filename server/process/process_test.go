package process

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary stand in for the server where a test needs a
// process of its own.
func TestMain(m *testing.M) {
	if run := helpers[os.Getenv("PROCESS_TEST")]; run != nil {
		run()
		return
	}
	os.Exit(m.Run())
}

var helpers = map[string]func(){
	"title": func() {
		t, err := FindTitle()
		if err == nil {
			err = t.Set("heddle-server *:6379 more words, and many more of them so that it is long")
		}
		b, _ := os.ReadFile("/proc/self/cmdline")
		fmt.Printf("%v %s %s", err, strings.TrimRight(string(b), "\x00"), os.Getenv("PROCESS_TEST"))
	},
	"daemon": func() {
		out := os.Getenv("OUT")
		if !IsDaemon() {
			_, err := Daemonize("/", "from stdin")
			fmt.Print(err)
			return
		}
		in := make([]byte, 100)
		n, _ := os.Stdin.Read(in)
		wd, _ := os.Getwd()
		sid, _, _ := syscall.Syscall(syscall.SYS_GETSID, 0, 0, 0)
		text := fmt.Sprintf("%s %s %v %q %v", in[:n], wd, int(sid) == os.Getpid(), os.Getenv(daemonEnv), os.Args[1:])
		_ = os.WriteFile(out+".tmp", []byte(text), 0o600)
		_ = os.Rename(out+".tmp", out)
	},
}

func helper(t *testing.T, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "PROCESS_TEST="+name, "OUT="+filepath.Join(t.TempDir(), "out"))
	return cmd
}

func TestTitle(t *testing.T) {
	for _, arg := range []string{"", strings.Repeat("x", 300)} {
		out, err := helper(t, "title", arg).CombinedOutput()
		if err != nil || string(out) != "<nil> heddle-server *:6379 more words, and many more of them so that it is long title" {
			t.Errorf("%v %s", err, out)
		}
	}
	f := func(title string, room int, want string) {
		t.Helper()
		if got := fit(title, room); got != want {
			t.Errorf("fit(%q, %d) = %q", title, room, got)
		}
	}
	f("a bc def", 8, "a bc def")
	f("a bc def", 7, "a bc")
	f("a bc def", 4, "a bc")
	f("a bc def", 3, "a")
	f("abcdef", 3, "abc")
	if _, err := parseStat("1 (a) b) S 1 2"); err == nil {
		t.Error("a short stat was taken")
	}
}

func TestDaemonize(t *testing.T) {
	cmd := helper(t, "daemon", "a", "b c")
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "<nil>" {
		t.Fatalf("%v %s", err, out)
	}
	path := strings.TrimPrefix(cmd.Env[len(cmd.Env)-1], "OUT=")
	var got []byte
	for range 200 {
		if got, err = os.ReadFile(path); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if string(got) != `from stdin / true "" [a b c]` {
		t.Errorf("the daemon saw %s, %v", got, err)
	}
}

func TestNotify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.sock")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	s, err := DetectSupervisor("auto", os.Getenv)
	if err != nil || s != Systemd || s.Ready() != nil || s.Stopping() != nil {
		t.Fatal(s, err)
	}
	var got []string
	buf := make([]byte, 200)
	for range 2 {
		n, err := l.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(buf[:n]))
	}
	if got[0] != "STATUS=Ready to accept connections\nREADY=1\n" || got[1] != "STOPPING=1\n" {
		t.Errorf("%q", got)
	}
}

func TestDetectSupervisor(t *testing.T) {
	f := func(word, env string, want Supervisor, fails bool) {
		t.Helper()
		got, err := DetectSupervisor(word, func(name string) string {
			if name == env {
				return "x"
			}
			return ""
		})
		if got != want || (err != nil) != fails {
			t.Errorf("%s with %s: %v, %v", word, env, got, err)
		}
	}
	f("no", "NOTIFY_SOCKET", Unsupervised, false)
	f("auto", "", Unsupervised, false)
	f("auto", "UPSTART_JOB", Upstart, false)
	f("upstart", "UPSTART_JOB", Upstart, false)
	f("systemd", "NOTIFY_SOCKET", Systemd, false)
	f("systemd", "UPSTART_JOB", Unsupervised, true)
	f("upstart", "", Unsupervised, true)
}

func TestOOMScore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "score")
	if err := os.WriteFile(path, []byte("10\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newOOMScore(path)
	f := func(mode OOMMode, value int, want string) {
		t.Helper()
		if err := s.Apply(mode, value); err != nil {
			t.Error(err)
		}
		if b, _ := os.ReadFile(path); strings.TrimSpace(string(b)) != want {
			t.Errorf("mode %d with %d leaves %s, want %s", mode, value, b, want)
		}
	}
	f(OOMOff, 5, "10")
	f(OOMRelative, 5, "15")
	f(OOMAbsolute, 5, "5")
	f(OOMAbsolute, 2000, "1000")
	f(OOMOff, 5, "10")
	if newOOMScore(filepath.Join(path, "x")).Apply(OOMAbsolute, 1) == nil {
		t.Error("no error")
	}
}

func TestParseCPUs(t *testing.T) {
	f := func(list string, want ...int) {
		t.Helper()
		got, err := ParseCPUs(list)
		if !slices.Equal(got, want) || (err != nil) != (want == nil) {
			t.Errorf("ParseCPUs(%q) = %v, %v", list, got, err)
		}
	}
	f("0", 0)
	f("0,2-4", 0, 2, 3, 4)
	f("1-6:2,9", 1, 3, 5, 9)
	f("")
	f("a")
	f("3-1")
	f("1:0")
	f("0-99999")
}

func TestSignals(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan string, 3)
	done := make(chan struct{})
	signals := CatchSignals()
	go func() {
		defer close(done)
		signals.Watch(ctx, func(name string) { got <- name })
	}()
	for i, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGINT} {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		want := []string{"SIGINT", "SIGTERM", "SIGINT"}[i]
		select {
		case s := <-got:
			if s != want {
				t.Errorf("got %s, want %s", s, want)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("no signal")
		}
	}
	cancel()
	<-done
}

func TestMachine(t *testing.T) {
	if u := ReadUsage(); u.RSS < 1<<20 || u.PeakRSS < u.RSS || u.User+u.System <= 0 {
		t.Errorf("%+v", u)
	}
	if m := ReadMemory(); m.Total < 1<<20 || m.Available <= 0 || m.Available > m.Total {
		t.Errorf("%+v", m)
	}
	if n := SystemName(); !strings.HasPrefix(n, "Linux ") {
		t.Error(n)
	}
	if c := CheckSystem(1 << 40); c[1].Warn == "" {
		t.Errorf("%+v", c)
	}
	allowed, lines, err := RaiseFiles(10, FilesReserved(1, 2))
	if allowed != 10 || lines != nil || err != nil {
		t.Error(allowed, lines, err)
	}
	if FilesReserved(2, 9) != 32 || FilesReserved(4, 2) != 42 {
		t.Error("FilesReserved")
	}
	if Procs(1) != 4 || Procs(8) != 11 {
		t.Error("Procs")
	}
}
