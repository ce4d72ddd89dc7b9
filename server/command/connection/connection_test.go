package connection_test

import (
	"regexp"
	"strings"
	"testing"

	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/connection"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
)

func families() []command.Family {
	return []command.Family{
		transactions.Family(),
		connection.Family(connection.Deps{Version: "7.2.6", Databases: 16}),
		str.Family(func() int64 { return 512 << 20 }),
	}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }

func TestHello(t *testing.T) {
	e := cmdtest.New(t, families()...)
	e.Do("hello").WantText(strings.Join([]string{
		` 1) "server"`, ` 2) "redis"`, ` 3) "version"`, ` 4) "7.2.6"`, ` 5) "proto"`, ` 6) (integer) 2`, ` 7) "id"`, ` 8) (integer) 1`,
		` 9) "mode"`, `10) "standalone"`, `11) "role"`, `12) "master"`, `13) "modules"`, `14) (empty array)`}, "\n"))
	e.Do("hello 3 setname me").WantText(strings.Join([]string{
		`1# "server" => "redis"`, `2# "version" => "7.2.6"`, `3# "proto" => (integer) 3`, `4# "id" => (integer) 1`,
		`5# "mode" => "standalone"`, `6# "role" => "master"`, `7# "modules" => (empty array)`}, "\n"))
	e.Do("client getname").WantText(`"me"`)
	e.Do("get nokey").Want("_\r\n")
	e.Do("hello 2")
	e.Do("get nokey").Want("$-1\r\n")
}

func TestPassword(t *testing.T) {
	e := cmdtest.NewWith(t, []cmdtest.Option{cmdtest.WithPassword("sesame")}, families()...)
	const noAuth = "NOAUTH Authentication required."
	e.Do("ping").WantError(noAuth)
	e.Do("get a b c").WantError("ERR wrong number of arguments for 'get' command")
	e.Do("nosuch").WantError("ERR unknown command 'nosuch', with args beginning with: ")
	e.Do("multi").WantError(noAuth)
	if got := e.Do("hello 3").Raw(); !strings.HasPrefix(got, "-NOAUTH HELLO must be called with the client already authenticated") {
		t.Errorf("HELLO before AUTH: %q", got)
	}
	e.Do("auth nope").WantError("WRONGPASS invalid username-password pair or user is disabled.")
	e.Do("auth default nope").WantError("WRONGPASS invalid username-password pair or user is disabled.")
	e.Do("reset").Want("+RESET\r\n")
	e.Do("auth sesame").OK()
	e.Do("ping").Want("+PONG\r\n")
	e.Do("reset").Want("+RESET\r\n")
	e.Do("ping").WantError(noAuth)
	if got := e.Do("hello 2 auth default sesame setname me").Raw(); !strings.HasPrefix(got, "*14\r\n") {
		t.Errorf("HELLO with AUTH: %q", got)
	}
	e.Do("client getname").WantText(`"me"`)
	c := e.NewClient()
	c.Do("quit").OK()
	if !c.Closing() {
		t.Error("QUIT before AUTH did not close")
	}
}

func TestReplyModes(t *testing.T) {
	e := cmdtest.New(t, families()...)
	e.Do("client reply off").Want("")
	e.Do("ping").Want("")
	e.Do("nosuch").Want("")
	e.Do("multi").Want("")
	e.Do("ping").Want("")
	e.Do("exec").Want("")
	e.Do("client reply skip").Want("")
	e.Do("client reply on").OK()
	e.Do("client reply skip").Want("")
	e.Do("ping").Want("")
	e.Do("ping").Want("+PONG\r\n")
	e.Do("client reply skip").Want("")
	e.Do("client reply on").OK()
	e.Do("ping").Want("+PONG\r\n")
}

var listLine = regexp.MustCompile(`^id=\d+ addr=127\.0\.0\.1:\d+ laddr=127\.0\.0\.1:6379 fd=\d+ name=\S* age=\d+ idle=\d+ flags=\S+ db=\d+ sub=0 psub=0 ssub=0 ` +
	`multi=-?\d+ qbuf=\d+ qbuf-free=\d+ argv-mem=\d+ multi-mem=\d+ rbs=\d+ rbp=\d+ obl=\d+ oll=\d+ omem=\d+ tot-mem=\d+ events=r ` +
	`cmd=\S+ user=default redir=-1 resp=[23] lib-name=\S* lib-ver=\S*$`)

// list returns the lines of CLIENT LIST by name of the connection.
func list(t *testing.T, c *cmdtest.Client, cmd string) map[string]string {
	t.Helper()
	_, body, _ := strings.Cut(c.Do(cmd).Raw(), "\r\n")
	lines := map[string]string{}
	for _, l := range strings.Split(strings.TrimSuffix(body, "\n\r\n"), "\n") {
		if !listLine.MatchString(l) {
			t.Fatalf("%s: line %q", cmd, l)
		}
		name := l[strings.Index(l, "name=")+5:]
		lines[name[:strings.IndexByte(name, ' ')]] = l
	}
	return lines
}

func TestClientList(t *testing.T) {
	e := cmdtest.New(t, families()...)
	b, c := e.NewClient(), e.NewClient()
	e.Do("client setname first")
	b.Do("client setname second")
	b.Do("select 3")
	b.Do("client setinfo lib-name lib")
	b.Do("multi")
	b.Do("set a b")
	c.RESP3().Do("client setname third")
	e.Advance(5000)
	l := list(t, e.Client, "client list")
	check := func(name string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(l[name]+" ", " "+w+" ") {
				t.Errorf("%s: %q lacks %s", name, l[name], w)
			}
		}
	}
	check("first", "cmd=client|list", "flags=N", "idle=0", "age=5", "multi=-1", "db=0")
	check("second", "cmd=set", "flags=x", "idle=5", "multi=1", "db=3", "lib-name=lib", "resp=2")
	check("third", "cmd=client|setname", "resp=3", "flags=N")
	if l := list(t, e.Client, "client list id 2 3"); len(l) != 2 || l["first"] != "" {
		t.Errorf("CLIENT LIST ID 2 3: %q", l)
	}
	l = list(t, e.Client, "client info")
	check("first", "cmd=client|info", "idle=0", "qbuf=26", "argv-mem=10")
	e.Do("client no-evict on")
	e.Do("client no-touch on")
	l = list(t, e.Client, "client info")
	check("first", "flags=eT")
}

func TestClientKill(t *testing.T) {
	e := cmdtest.New(t, families()...)
	b, c := e.NewClient(), e.NewClient()
	e.Do("client kill id 2").Want(":1\r\n")
	if !b.Killed() || c.Killed() {
		t.Error("the wrong client was closed")
	}
	b.Close()
	e.Do("client kill 127.0.0.1:50003").OK()
	if !c.Killed() {
		t.Error("CLIENT KILL addr did nothing")
	}
	c.Close()
	c.Close()
	e.Do("client kill type normal").Want(":0\r\n")
	if e.Closing() {
		t.Error("closed itself in spite of SKIPME's default")
	}
	e.Do("client kill skipme no").Want(":1\r\n")
	if !e.Closing() {
		t.Error("did not close itself")
	}
}

func TestQuitInPipeline(t *testing.T) {
	e := cmdtest.New(t, families()...)
	e.Pipeline([]string{"ping"}, []string{"quit"}, []string{"ping"}).Want("+PONG\r\n+OK\r\n")
	if !e.Closing() {
		t.Error("QUIT did not close")
	}
}

func TestMonitor(t *testing.T) {
	e := cmdtest.NewWith(t, []cmdtest.Option{cmdtest.WithPassword("p")}, families()...)
	m := e.NewClient()
	e.Do("auth p")
	m.Do("auth p")
	m.Do("monitor").OK()
	line := func(words string) string { return "+1700000000.000000 [0 127.0.0.1:50001] " + words + "\r\n" }
	e.Do(`set k "a\n\x01\"\\"`)
	m.Received().Want(line(`"set" "k" "a\n\x01\"\\"`))
	e.Do("auth p")
	m.Received().Want(line(`"auth" "(redacted)"`))
	e.Do("hello 2 auth default p setname x")
	m.Received().Want(line(`"hello" "2" "auth" "(redacted)" "(redacted)" "setname" "x"`))
	e.Do("client list")
	e.Do("nosuch")
	e.Do("get")
	m.Received().Want("")
	e.Do("multi")
	e.Do("incr n")
	m.Received().Want(line(`"multi"`))
	e.Do("exec")
	m.Received().Want(line(`"incr" "n"`) + line(`"exec"`))
	m.Do("ping").Want("+PONG\r\n+1700000000.000000 [0 127.0.0.1:50002] \"ping\"\r\n")
	m.Do("reset").Want("+RESET\r\n")
	e.Do("ping")
	m.Received().Want("")
}
