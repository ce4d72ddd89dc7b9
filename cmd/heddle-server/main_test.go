package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be the server, so that tests run the program as
// its users do.
func TestMain(m *testing.M) {
	if os.Getenv("HEDDLE_TEST_RUN") != "" {
		main()
	}
	os.Exit(m.Run())
}

// serverProcess is a server under test.
type serverProcess struct {
	t    *testing.T
	cmd  *exec.Cmd
	port int
	out  syncBuffer
	done chan int
}

// syncBuffer is a buffer that a process writes to while a test reads it.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func program(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "HEDDLE_TEST_RUN=1")
	cmd.Dir = t.TempDir()
	return cmd
}

// startServer starts a server on a free port of 127.0.0.1 and waits for it.
func startServer(t *testing.T, stdin string, args ...string) *serverProcess {
	t.Helper()
	p := &serverProcess{t: t, port: freePort(t), done: make(chan int, 1)}
	args = append(args, "--port", strconv.Itoa(p.port), "--bind", "127.0.0.1")
	if stdin != "" {
		args = append(args, "-")
	}
	p.cmd = program(t, args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if stdin != "" {
		p.cmd.Stdin = strings.NewReader(stdin)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = p.cmd.Wait(); p.done <- p.cmd.ProcessState.ExitCode() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	p.waitFor("Ready to accept connections")
	return p
}

func (p *serverProcess) waitFor(text string) {
	p.t.Helper()
	for range 500 {
		if strings.Contains(p.out.String(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.t.Fatalf("the log does not say %q:\n%s", text, p.out.String())
}

// exit waits for the end and returns the exit code.
func (p *serverProcess) exit() int {
	p.t.Helper()
	select {
	case code := <-p.done:
		return code
	case <-time.After(10 * time.Second):
		p.t.Fatalf("the server does not end:\n%s", p.out.String())
		return -1
	}
}

// client is a connection that sends inline commands.
type client struct {
	t *testing.T
	c net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, network, addr string) *client {
	t.Helper()
	c, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return &client{t, c, bufio.NewReader(c)}
}

func (p *serverProcess) dial() *client {
	p.t.Helper()
	return dial(p.t, "tcp", fmt.Sprintf("127.0.0.1:%d", p.port))
}

// do sends a line and returns the reply, elements separated by blanks.
func (c *client) do(line string) string {
	c.t.Helper()
	if _, err := io.WriteString(c.c, line+"\r\n"); err != nil {
		c.t.Fatal(err)
	}
	return c.read()
}

func (c *client) read() string {
	c.t.Helper()
	line, err := c.r.ReadString('\n')
	if err != nil {
		return err.Error()
	}
	line = strings.TrimRight(line, "\r\n")
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '$':
		if n < 0 {
			return "(nil)"
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(c.r, b); err != nil {
			c.t.Fatal(err)
		}
		return string(b[:n])
	case '*':
		var parts []string
		for range n {
			parts = append(parts, c.read())
		}
		return strings.Join(parts, " ")
	}
	return line[1:]
}

func (c *client) want(line, want string) {
	c.t.Helper()
	if got := c.do(line); got != want {
		c.t.Errorf("%s: %q, want %q", line, got, want)
	}
}

func TestServesAndStops(t *testing.T) {
	p := startServer(t, "", "--server-threads", "2", "--pidfile", "x.pid", "--save", "")
	c := p.dial()
	c.want("set a 1", "OK")
	c.want("incr a", "2")
	b, err := os.ReadFile(filepath.Join(p.cmd.Dir, "x.pid"))
	if err != nil || strings.TrimSpace(string(b)) != strconv.Itoa(p.cmd.Process.Pid) {
		t.Errorf("pid file %q, %v", b, err)
	}
	cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.cmd.Process.Pid))
	if got := strings.TrimRight(string(cmdline), "\x00"); got != fmt.Sprintf("%s 127.0.0.1:%d", os.Args[0], p.port) {
		t.Errorf("title %q", got)
	}
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGPIPE} {
		_ = p.cmd.Process.Signal(s)
	}
	c.want("get a", "2")
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	log := p.out.String()
	at := 0
	for _, want := range []string{"2 workers", "Listening on 127.0.0.1:", "Received SIGTERM scheduling shutdown...", "# User requested shutdown...",
		"* Removing the pid file.", "# Redis is now ready to exit, bye bye..."} {
		i := strings.Index(log[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or in the wrong place:\n%s", want, log)
		}
		at += i
	}
	if _, err := os.Stat(filepath.Join(p.cmd.Dir, "x.pid")); err == nil {
		t.Error("the pid file is still there")
	}
}

func TestShutdownCommand(t *testing.T) {
	p := startServer(t, "")
	// A folder in the place of the file lets the save fail.
	if err := os.Mkdir(filepath.Join(p.cmd.Dir, "dump.rdb"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := p.dial()
	c.want("shutdown save", "ERR Errors trying to SHUTDOWN. Check logs.")
	c.want("shutdown abort", "ERR No shutdown in progress.")
	c.want("set still here", "OK")
	if got := c.do("shutdown nosave"); got != "EOF" {
		t.Errorf("SHUTDOWN answers %q", got)
	}
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestSecondSIGINTEndsAtOnce(t *testing.T) {
	p := startServer(t, "", "--server-threads", "1", "--enable-debug-command", "yes")
	c := p.dial()
	if _, err := io.WriteString(c.c, "debug sleep 30\r\n"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	p.waitFor("Received SIGINT scheduling shutdown...")
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	if code := p.exit(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	p.waitFor("You insist... exiting now.")
}

func TestSoftShutdownWaitsForClients(t *testing.T) {
	p := startServer(t, "", "--soft-shutdown", "yes")
	c := p.dial()
	c.want("set a 1", "OK")
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.waitFor("Soft shutdown: waiting for 1 clients")
	c.want("get a", "1")
	c.want("shutdown abort", "OK")
	p.waitFor("Shutdown manually aborted.")
	late := p.dial()
	late.want("get a", "1")
	late.c.Close()
	c.want("shutdown soft", "OK")
	time.Sleep(100 * time.Millisecond)
	c.want("get a", "1")
	c.c.Close()
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestConfigAtRunTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.conf")
	if err := os.WriteFile(path, []byte("# mine\nhz 20\nrename-command flushall wipe\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startServer(t, "timeout 77\n", path, "--maxmemory", "1gb")
	c := p.dial()
	c.want("config get hz timeout maxmemory", "hz 20 timeout 77 maxmemory 1073741824")
	c.want("config set requirepass secret", "OK")
	p.dial().want("ping", "NOAUTH Authentication required.")
	other := freePort(t)
	c.want(fmt.Sprintf("config set hz 30 port %d", other), "OK")
	d := dial(t, "tcp", fmt.Sprintf("127.0.0.1:%d", other))
	d.want("auth secret", "OK")
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	c.want(fmt.Sprintf("config set hz 40 port %d", busy.Addr().(*net.TCPAddr).Port),
		"ERR CONFIG SET failed (possibly related to argument 'port') - Unable to listen on this port. Check server logs.")
	c.want("config set bind 192.0.2.1", "ERR CONFIG SET failed (possibly related to argument 'bind') - Failed to bind to specified addresses.")
	c.want("config set tls-port 7777", "ERR CONFIG SET failed (possibly related to argument 'tls-port') - Unable to update TLS configuration. Check server logs.")
	c.want("config get hz port", fmt.Sprintf("hz 30 port %d", other))
	d = dial(t, "tcp", fmt.Sprintf("127.0.0.1:%d", other))
	d.want("auth secret", "OK")
	d.want("flushall", "ERR unknown command 'flushall', with args beginning with: ")
	d.want("wipe", "OK")
	c.want("config rewrite", "OK")
	b, _ := os.ReadFile(path)
	for _, want := range []string{"# mine\nhz 30\nrename-command flushall wipe\n", "\nport " + strconv.Itoa(other) + "\n", "\nmaxmemory 1gb\n", "\nrequirepass \"secret\"\n", "\nbind 127.0.0.1\n"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the file lacks %q:\n%s", want, b)
		}
	}
}

func TestUnixSocketAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	cmd := program(t, "--port", "0", "--unixsocket", path, "--unixsocketperm", "700")
	var out syncBuffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	p := &serverProcess{t: t, cmd: cmd}
	for range 500 {
		if strings.Contains(out.String(), "now ready to accept connections at "+path) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Fatalf("%v %v\n%s", st, err, out.String())
	}
	dial(t, "unix", path).want("ping", "PONG")
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket's file is still there")
	}
}

func TestDaemon(t *testing.T) {
	port := freePort(t)
	dir := t.TempDir()
	cmd := program(t, "--daemonize", "yes", "--pidfile", dir+"/d.pid", "--logfile", dir+"/d.log", "--bind", "127.0.0.1", "-")
	cmd.Stdin = strings.NewReader(fmt.Sprintf("port %d\n", port))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var pid int
	for range 500 {
		b, _ := os.ReadFile(dir + "/d.log")
		if strings.Contains(string(b), "Ready to accept connections") {
			p, _ := os.ReadFile(dir + "/d.pid")
			pid, _ = strconv.Atoi(strings.TrimSpace(string(p)))
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if pid == 0 {
		t.Fatal("no daemon")
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	c := dial(t, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	c.want("ping", "PONG")
	if got := c.do("shutdown nosave"); got != "EOF" {
		t.Errorf("SHUTDOWN answers %q", got)
	}
}

func TestSystemdIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	// In the foreground although the file says otherwise: systemd looks after it.
	p := startServer(t, "", "--supervised", "systemd", "--daemonize", "yes")
	_ = l.SetReadDeadline(time.Now().Add(10 * time.Second))
	buf := make([]byte, 100)
	n, err := l.Read(buf)
	if err != nil || !strings.Contains(string(buf[:n]), "READY=1\n") {
		t.Fatal(err, string(buf[:n]))
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if n, err = l.Read(buf); err != nil || string(buf[:n]) != "STOPPING=1\n" {
		t.Error(err, string(buf[:n]))
	}
	p.exit()
}

// TestSIGTERMWithinAPipeline wants whole replies, in order, to as many commands as
// were run, and then the end of the connection.
func TestSIGTERMWithinAPipeline(t *testing.T) {
	p := startServer(t, "", "--server-threads", "1")
	c := p.dial()
	const commands = 200_000
	go func() { _, _ = io.WriteString(c.c, strings.Repeat("incr n\r\n", commands)) }()
	n := 0
	for ; n < commands; n++ {
		line, err := c.r.ReadString('\n')
		if err != nil {
			if line != "" {
				t.Errorf("half a reply: %q", line)
			}
			break
		}
		if want := fmt.Sprintf(":%d\r\n", n+1); line != want {
			t.Fatalf("reply %q, want %q", line, want)
		}
		if n == 1000 {
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	if n <= 1000 {
		t.Errorf("only %d replies", n)
	}
	if code := p.exit(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestOOMScoreAtStart(t *testing.T) {
	p := startServer(t, "", "--oom-score-adj", "absolute", "--oom-score-adj-values", "321 1 1")
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", p.cmd.Process.Pid))
	if err != nil || strings.TrimSpace(string(b)) != "321" {
		t.Errorf("score %s, %v", b, err)
	}
	p.dial().want("config set oom-score-adj no", "OK")
}

// TestRefusals are starts that must fail.
func TestRefusals(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	port := busy.Addr().(*net.TCPAddr).Port
	f := func(want string, args ...string) {
		t.Helper()
		out, err := program(t, args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	f("Usage: ./heddle-server", "--help")
	f("no memory test", "--test-memory", "1")
	f("no sentinel mode", "x.conf", "--sentinel")
	f(":C ", "/no/such.conf")
	f("# Fatal error, can't open config file '/no/such.conf': No such file or directory\n", "/no/such.conf")
	f(">>> 'port \"abc\"'\nargument couldn't be parsed into an integer\n(on the command line)\n", "--port", "abc")
	f("Can't open the log file: No such file or directory", "--port", "0", "--logfile", "/no/such/log")
	f("# Configured to not listen anywhere, exiting.", "--port", "0")
	f(">>> 'rename-command \"nosuch\" \"x\"'\nNo such command in rename-command\n", "--rename-command", "nosuch", "x")
	f(">>> 'rename-command \"get\" \"SET\"'\nTarget command name already exists\n", "--rename-command", "get", "SET")
	f(fmt.Sprintf("# Warning: Could not create server TCP listening socket 127.0.0.1:%d: bind: Address already in use", port), "--bind", "127.0.0.1", "--port", strconv.Itoa(port))
	f(fmt.Sprintf("# Failed listening on port %d (TCP), aborting.", port), "--bind", "127.0.0.1", "--port", strconv.Itoa(port))
}

func TestVersion(t *testing.T) {
	out, err := program(t, "-v").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "Redis server v=7.2.") {
		t.Error(err, string(out))
	}
}

// TestShippedFilesServe starts the server with the active lines of redis.conf and
// keydb.conf, the paths moved to where a test may write.
func TestShippedFilesServe(t *testing.T) {
	names, _ := filepath.Glob("../../../shared/reference/conf/*.active.conf")
	names = append(names, "testdata/redis.conf", "testdata/keydb.conf", "../../heddle.conf")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		moved := string(text)
		for _, d := range []string{"/var/lib/redis", "/var/log/redis", "/run/redis", "/var/run"} {
			moved = strings.ReplaceAll(moved, d, dir)
		}
		path := filepath.Join(dir, "x.conf")
		if err := os.WriteFile(path, []byte(moved), 0o600); err != nil {
			t.Fatal(err)
		}
		p := startServer(t, "", path, "--daemonize", "no", "--logfile", "")
		p.dial().want("config get databases", "databases 16")
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		p.exit()
	}
}
