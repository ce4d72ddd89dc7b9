package all

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"heddle/config"
	"heddle/server/command"
	"heddle/server/command/connection"
	"heddle/server/command/docs"
	admin "heddle/server/command/server"
)

// table builds the table of all commands; no handler is run.
func table(t *testing.T) *command.Table {
	t.Helper()
	var table *command.Table
	table, err := command.NewTable(Families(Deps{
		MaxBulk:    func() int64 { return 512 << 20 },
		Connection: connection.Deps{Version: config.RedisVersion, Databases: 16},
		Server:     admin.Deps{Table: func() *command.Table { return table }},
	})...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// info is what COMMAND INFO says of a command, as the golden files hold it:
// sets are sorted.
type info struct {
	Name     string    `json:"name"`
	Arity    int       `json:"arity"`
	Flags    []string  `json:"flags"`
	First    int       `json:"first"`
	Last     int       `json:"last"`
	Step     int       `json:"step"`
	ACL      []string  `json:"acl"`
	Tips     []string  `json:"tips"`
	KeySpecs []keySpec `json:"key_specs"`
	Sub      []info    `json:"subcommands,omitempty"`
}

type keySpec struct {
	Begin search   `json:"begin_search"`
	Find  search   `json:"find_keys"`
	Flags []string `json:"flags"`
	Notes string   `json:"notes,omitempty"`
}

type search struct {
	Type string         `json:"type"`
	Spec map[string]any `json:"spec"`
}

// sorted returns a sorted copy, nil of nothing.
func sorted(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	out := slices.Clone(list)
	slices.Sort(out)
	return out
}

func describe(s *command.Spec) info {
	first, last, step := s.LegacyRange()
	i := info{
		Name: s.FullName(), Arity: s.Arity, Flags: sorted(s.FlagNames()), First: first, Last: last, Step: step,
		ACL: sorted(s.Categories()), Tips: s.Tips,
	}
	for k := range s.Keys {
		i.KeySpecs = append(i.KeySpecs, describeKeys(&s.Keys[k]))
	}
	for _, sub := range s.Sub {
		i.Sub = append(i.Sub, describe(sub))
	}
	return i
}

func describeKeys(k *command.KeySpec) keySpec {
	out := keySpec{Flags: sorted(k.Flags.Names()), Notes: k.Notes}
	if k.Unknown {
		out.Begin = search{"unknown", map[string]any{}}
		out.Find = out.Begin
		return out
	}
	out.Begin = search{"index", map[string]any{"index": float64(k.Begin)}}
	if k.Keyword != "" {
		out.Begin = search{"keyword", map[string]any{"keyword": k.Keyword, "startfrom": float64(k.StartFrom)}}
	}
	out.Find = search{"range", map[string]any{
		"lastkey": float64(k.Last), "keystep": float64(k.Step), "limit": float64(k.Limit),
	}}
	if k.NumKeys {
		out.Find = search{"keynum", map[string]any{
			"keynumidx": float64(k.NumIdx), "firstkey": float64(k.First), "keystep": float64(k.Step),
		}}
	}
	return out
}

// normal brings what may be absent or in any order into one form, and drops
// what Redis does not have.
func (i info) normal() info {
	i.Flags, i.ACL, i.Tips = sorted(i.Flags), sorted(i.ACL), sorted(i.Tips)
	for k := range i.KeySpecs {
		i.KeySpecs[k].Flags = sorted(i.KeySpecs[k].Flags)
	}
	if len(i.KeySpecs) == 0 {
		i.KeySpecs = nil
	}
	var subs []info
	for _, s := range i.Sub {
		if !slices.Contains(ownSubcommands, s.Name) {
			subs = append(subs, s.normal())
		}
	}
	slices.SortFunc(subs, func(a, b info) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	i.Sub = subs
	return i
}

// ownSubcommands are those of KeyDB that Redis' containers do not have.
var ownSubcommands = []string{"object|lastmodified"}

// ownCommands are KeyDB's, whose facts are fewer and from before key specs.
var ownCommands = []string{"expdel", "keydb.mexists", "expiremember", "expirememberat", "pexpirememberat"}

// memberCommands are Redis', but take a member, too, as in KeyDB.
var memberCommands = []string{"ttl", "pttl", "persist"}

// otherCommands are KeyDB's, too, but declared in another way: KeyDB does not say
// that HRENAME has a key, nor that a word may go before that of NHGET, and takes
// NHSET for a command that reads. It spells MVCCRESTORE in capitals. HEDDLE.BACKUP is
// this server's own.
var otherCommands = []string{"keydb.mvccrestore", "keydb.hrename", "keydb.nhset", "keydb.nhget", "heddle.backup"}

// readInfos reads a golden file, a command a line.
func readInfos(t *testing.T, path string) map[string]info {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string]info{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var i info
		if err := json.Unmarshal(lines.Bytes(), &i); err != nil {
			t.Fatal(err)
		}
		all[i.Name] = i.normal()
	}
	return all
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func compare(t *testing.T, golden map[string]info) {
	t.Helper()
	for _, s := range table(t).Commands() {
		if slices.Contains(ownCommands, s.Name) || slices.Contains(otherCommands, s.Name) || s.Flags&command.Undocumented != 0 {
			continue
		}
		want, known := golden[s.Name]
		if !known {
			t.Errorf("%s: not in the golden file", s.Name)
			continue
		}
		if slices.Contains(memberCommands, s.Name) {
			want.Arity = -want.Arity
		}
		diff(t, describe(s).normal(), want)
	}
}

// diff reports what differs between two commands, subcommands one by one.
func diff(t *testing.T, got, want info) {
	t.Helper()
	subs := map[string]info{}
	for _, s := range want.Sub {
		subs[s.Name] = s
	}
	for _, s := range got.Sub {
		w, ok := subs[s.Name]
		if !ok {
			t.Errorf("%s: unknown to Redis", s.Name)
			continue
		}
		delete(subs, s.Name)
		diff(t, s, w)
	}
	got.Sub, want.Sub = nil, nil
	if g, w := text(t, got), text(t, want); g != w {
		t.Errorf("%s\ngot  %s\nwant %s", got.Name, g, w)
	}
}

// TestCommandsAsRedis holds what COMMAND tells against Redis 7.2.6.
// Hash fields that expire came with 7.4 and, what is described in the documentation
// only, with 8.0.
func TestCommandsAsRedis(t *testing.T) {
	golden := readInfos(t, "testdata/redis-7.2.6.jsonl")
	maps.Copy(golden, readInfos(t, "testdata/redis-7.4.1.jsonl"))
	maps.Copy(golden, readInfos(t, "testdata/redis-8.0.jsonl"))
	compare(t, golden)
}

// TestCommandsAsKeyDB holds KeyDB's commands against KeyDB 6.3.4.
func TestCommandsAsKeyDB(t *testing.T) {
	golden := readInfos(t, "testdata/keydb-6.3.4.jsonl")
	for _, name := range ownCommands {
		got, want := describe(table(t).Lookup([]byte(name))).normal(), golden[name]
		got.KeySpecs, got.Tips, want.Tips = nil, nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %s\nwant %s", name, text(t, got), text(t, want))
		}
	}
}

// TestNothingIsMissing holds that every command and subcommand that the golden files
// know is here, or on the list of those that are not, with the reason.
func TestNothingIsMissing(t *testing.T) {
	here := map[string]bool{}
	for _, s := range table(t).All() {
		here[s.FullName()] = true
	}
	later := readLater(t)
	known := map[string]bool{}
	for _, file := range []string{"redis-7.2.6", "redis-7.4.1", "redis-8.0", "keydb-6.3.4"} {
		for _, i := range readInfos(t, "testdata/"+file+".jsonl") {
			known[i.Name] = true
			for _, s := range i.Sub {
				known[s.Name] = known[s.Name] || here[i.Name] // else its container is missing
			}
		}
	}
	for name, need := range known {
		name = strings.ToLower(name)
		if _, listed := later[name]; need && !here[name] && !listed {
			t.Errorf("%s: neither here nor in testdata/later.txt", name)
		}
	}
	for name := range later {
		if here[name] {
			t.Errorf("%s: here by now, take it off testdata/later.txt", name)
		}
	}
}

// readLater reads the list of commands that are not here: names and reasons.
func readLater(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("testdata/later.txt")
	if err != nil {
		t.Fatal(err)
	}
	later := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, reason, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if _, twice := later[name]; !ok || reason == "" || twice {
			t.Errorf("testdata/later.txt: %q", line)
		}
		later[name] = reason
	}
	return later
}

// TestGoldenFilesAreTrue compares the golden files with the records they were
// taken from, where those are at hand.
func TestGoldenFilesAreTrue(t *testing.T) {
	for golden, record := range map[string]string{
		"testdata/redis-7.2.6.jsonl": "commands-redis-7.2.6.jsonl",
		"testdata/redis-7.4.1.jsonl": "commands-redis-7.4.1.jsonl",
		"testdata/keydb-6.3.4.jsonl": "commands-keydb-6.3.4.jsonl",
	} {
		path := filepath.Join("../../../../shared/reference/oracle", record)
		if _, err := os.Stat(path); err != nil {
			t.Skip("the records are not here")
		}
		all := readInfos(t, path)
		for name, i := range readInfos(t, golden) {
			if !reflect.DeepEqual(i, all[name]) {
				t.Errorf("%s: %s is not what %s says", golden, name, record)
			}
		}
	}
}

// TestDocs checks that every command that COMMAND lists has documentation.
func TestDocs(t *testing.T) {
	library := docs.New()
	for _, s := range table(t).All() {
		if s.Flags&command.Undocumented != 0 {
			continue
		}
		top := s
		if s.Parent() != nil {
			top = s.Parent()
		}
		d, err := library.Find(top.Name)
		if err != nil {
			t.Fatal(err)
		}
		if d != nil && top != s {
			d = d.Subcommands[s.FullName()]
		}
		if d == nil || d.Summary == "" || d.Group != s.Group {
			t.Errorf("%s: docs missing, or of another group than %q", s.FullName(), s.Group)
		}
	}
}
