package docs

import (
	"strings"
	"testing"

	"heddle/resp"
)

func TestFind(t *testing.T) {
	l := New()
	set, err := l.Find("set")
	if err != nil || set == nil || set.Since != "1.0.0" || len(set.Arguments) != 5 {
		t.Fatalf("set: %+v, %v", set, err)
	}
	client, err := l.Find("client")
	if err != nil || client.Subcommands["client|setinfo"] == nil || client.Subcommands["client|list"] == nil {
		t.Fatal("the files were not joined")
	}
	rank, err := l.Find("zrank")
	if err != nil || len(rank.Arguments) != 3 || rank.Arguments[2].Token != "WITHSCORE" || len(rank.History) != 1 || rank.Since != "2.0.0" {
		t.Fatalf("zrank was not extended: %+v, %v", rank, err)
	}
	info, err := l.Find("xinfo")
	if s := info.Subcommands["xinfo|stream"]; err != nil || s.Summary == "" || len(s.History) != 3 || s.History[2][0] != "7.2.0" {
		t.Fatalf("xinfo|stream was not extended: %+v, %v", s, err)
	}
	if d, err := l.Find("nosuch"); d != nil || err != nil {
		t.Fatal(d, err)
	}
}

func TestReply(t *testing.T) {
	key := 0
	d := &Doc{
		Summary: "S", Since: "1", Group: "g", DocFlags: []string{"deprecated"}, History: [][2]string{{"2", "h"}},
		Arguments:   []Argument{{Name: "key", Type: "key", KeySpecIndex: &key, Flags: []string{"optional"}}},
		Subcommands: map[string]*Doc{"a|b": {Summary: "B"}, "a|c": {Summary: "C"}},
	}
	w := resp.NewWriter(nil)
	w.SetProto(3)
	Reply(w, d, func(sub string) bool { return sub == "a|b" })
	want := "%7|$7|summary|$1|S|$5|since|$1|1|$5|group|$1|g|$9|doc_flags|~1|+deprecated|" +
		"$7|history|~1|*2|$1|2|$1|h|" +
		"$9|arguments|*1|%4|$4|name|$3|key|$4|type|$3|key|$14|key_spec_index|:0|$5|flags|~1|+optional|" +
		"$11|subcommands|%1|$3|a|b|%1|$7|summary|$1|B|"
	if got := strings.ReplaceAll(string(w.Bytes()), "\r\n", "|"); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}
