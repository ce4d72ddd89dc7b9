package all_test

import (
	"strings"
	"testing"
	"time"

	"heddle/server/command"
	"heddle/server/command/bitmap"
	"heddle/server/command/cmdtest"
	"heddle/server/command/connection"
	"heddle/server/command/generic"
	"heddle/server/command/geo"
	hashes "heddle/server/command/hash"
	"heddle/server/command/hyperloglog"
	lists "heddle/server/command/list"
	sets "heddle/server/command/set"
	"heddle/server/command/sortedset"
	streams "heddle/server/command/stream"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
)

// fuzzWords are arguments worth trying: keys, numbers at the edges, option
// words.
var fuzzWords = strings.Fields(`k l m n 0 1 -1 2 7 10 63 64 100 -100 4294967295 4294967296 9223372036854775807 -9223372036854775808 1e300
	nan inf 0.1 abc get set nx xx gt lt ex px exat pxat keepttl persist db replace match count type string withscores
	len idx minmatchlen withmatchlen and or xor not lshift rshift bit byte overflow wrap sat fail incrby i8 u63 i64 u64 #1 #0
	encoding refcount idletime freq help on off skip yes no id addr user write all timeout error
	left right before after limit rev bylex byscore weights aggregate sum min max store fields fnx fxx rank maxlen minid ~ = ( [a [c (1 (5 + - * $ >
	1-1 0-1 5-* streams group block noack mkstream entriesread justid force retrycount nomkstream create setid destroy stream groups consumers full
	frommember fromlonlat bybox byradius m km asc desc any 13.3 38.1 2.5 by alpha nosort nokey nokey*`)

// fuzzFamilies are the families that need nothing of a server.
func fuzzFamilies() []command.Family {
	limit := func() int64 { return 1 << 20 }
	return []command.Family{
		transactions.Family(), connection.Family(connection.Deps{Version: "7.2.6", Databases: 16}),
		generic.Family(), str.Family(limit), bitmap.Family(limit),
		hashes.Family(), hyperloglog.Family(), sets.Family(), lists.Family(), sortedset.Family(), streams.Family(), geo.Family(),
	}
}

// FuzzCommands runs command streams read from the input: none panics, each
// answers exactly once (checked builds see to that), and the keyspace stays
// sound. Per command the input has a byte for its name, one for the number of
// arguments, and one for each argument: a word of the list, or, above it, that
// many bytes that follow.
func FuzzCommands(f *testing.F) {
	table, err := command.NewTable(fuzzFamilies()...)
	if err != nil {
		f.Fatal(err)
	}
	specs := table.All()
	for i := range specs {
		f.Add([]byte{byte(i), 1, 0, byte(i), 2, 0, 5, byte(i), 3, 0, 5, 20, byte(i), 4, 0, 1, 5, 6, byte(i), 0})
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		stuck := time.AfterFunc(10*time.Second, func() { panic("a command does not end") })
		defer stuck.Stop()
		e := cmdtest.NewWith(t, []cmdtest.Option{cmdtest.WithShards(4)}, fuzzFamilies()...)
		for len(in) > 1 && !e.Closing() && !e.Blocked() {
			args := strings.Split(specs[int(in[0])%len(specs)].FullName(), "|")
			n := int(in[1] % 12)
			in = in[2:]
			for ; n > 0 && len(in) > 0; n-- {
				var arg string
				arg, in = fuzzArg(in)
				args = append(args, arg)
			}
			e.Argv(args...)
		}
	})
}

func fuzzArg(in []byte) (string, []byte) {
	c := int(in[0])
	in = in[1:]
	if c < len(fuzzWords) {
		return fuzzWords[c], in
	}
	n := min(c-len(fuzzWords), len(in))
	return string(in[:n]), in[n:]
}
