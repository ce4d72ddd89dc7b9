package admin_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/server/command/cmdtest"
	admin "heddle/server/command/server"
)

// section is a part of INFO with the names of its fields.
type section struct {
	title  string
	fields []string
}

// readSections reads "# Title" lines with the fields that follow each.
func readSections(text string) []section {
	var out []section
	for _, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		name, _, _ := strings.Cut(line, ":")
		switch {
		case strings.HasPrefix(line, "# "):
			out = append(out, section{title: line[2:]})
		case name != "" && len(out) > 0:
			last := &out[len(out)-1]
			last.fields = append(last.fields, name)
		}
	}
	return out
}

func readGolden(t *testing.T, name string) []section {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return readSections(string(text))
}

// everything is INFO everything of a server with two workers.
func everything(t *testing.T) []section {
	w := newWorld()
	w.fake.facts.Server.Listeners = []admin.ListenerFacts{{Name: "tcp", Port: 6379}}
	w.fake.facts.Clients.PerThread = []int64{1, 0}
	_, text, _ := strings.Cut(cmdtest.New(t, w.families...).Do("info everything").Raw(), "\r\n")
	return readSections(text)
}

// dynamic sections have fields for what happened.
var dynamic = []string{"Commandstats", "Errorstats", "Latencystats", "Keyspace", "Cron"}

// TestInfoAsRedis: the sections and fields of Redis 7.2.6, in its order; others
// may stand between.
func TestInfoAsRedis(t *testing.T) {
	ours := everything(t)
	at := 0
	for _, want := range readGolden(t, "info-redis-7.2.6.fields") {
		for at < len(ours) && ours[at].title != want.title {
			at++
		}
		if at == len(ours) {
			t.Fatalf("section %s is missing, or not in its place", want.title)
		}
		if slices.Contains(dynamic, want.title) {
			continue
		}
		got := slices.DeleteFunc(slices.Clone(ours[at].fields), func(f string) bool { return !slices.Contains(want.fields, f) })
		if !slices.Equal(got, want.fields) {
			t.Errorf("section %s\ngot  %v\nwant %v", want.title, got, want.fields)
		}
	}
}

// TestInfoAsKeyDB: the fields of KeyDB 6.3.4, each in its section.
func TestInfoAsKeyDB(t *testing.T) {
	ours := map[string][]string{}
	for _, s := range everything(t) {
		ours[s.title] = append(ours[s.title], s.fields...)
	}
	for _, want := range readGolden(t, "info-keydb-6.3.4.fields") {
		if slices.Contains(dynamic, want.title) {
			continue
		}
		for _, f := range want.fields {
			if !slices.Contains(ours[want.title], f) {
				t.Errorf("section %s lacks %s", want.title, f)
			}
		}
	}
}

// TestInfoFieldsAreTrue compares the golden files with the records they were
// taken from, where those are at hand.
func TestInfoFieldsAreTrue(t *testing.T) {
	for golden, record := range map[string]string{
		"info-redis-7.2.6.fields": "info-fields-redis-7.2.6.txt",
		"info-keydb-6.3.4.fields": "info-fields-keydb-6.3.4.txt",
	} {
		want, err := os.ReadFile(filepath.Join("../../../../shared/reference/oracle", record))
		if err != nil {
			t.Skip("the records are not here")
		}
		if got, err := os.ReadFile(filepath.Join("testdata", golden)); err != nil || string(got) != string(want) {
			t.Errorf("%s is not what %s says: %v", golden, record, err)
		}
	}
}
