package hyperloglog_test

import (
	"fmt"
	"strings"
	"testing"

	"heddle/db"
	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/generic"
	"heddle/server/command/hyperloglog"
	str "heddle/server/command/string"
)

func families() []command.Family {
	return []command.Family{hyperloglog.Family(), generic.Family(), str.Family(func() int64 { return 512 << 20 })}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }

func TestEffects(t *testing.T) {
	e := cmdtest.New(t, families()...)
	e.Do("pfadd h a b c").Want(":1\r\n")
	e.Events("new h", "pfadd h")
	e.Propagated("pfadd h a b c")
	e.Do("pfadd h a").Want(":0\r\n")
	e.Do("pfadd h").Want(":0\r\n")
	e.Do("pfcount h h").Want(":3\r\n")
	e.Events()
	e.Propagated()
	e.Do("pfcount h").Want(":3\r\n")
	e.Events()
	e.Propagated("pfcount h")
	e.Do("pfcount h").Want(":3\r\n")
	e.Propagated()
	e.Do("pfdebug todense h").Want(":1\r\n")
	e.Do("pfdebug todense h").Want(":0\r\n")
	e.Events()
	e.Propagated("pfdebug todense h")
	e.Do("pfadd d x").Want(":1\r\n")
	e.Do("pfmerge d").Want("+OK\r\n")
	e.Events("new d", "pfadd d", "pfadd d")
	value := e.Do("get d").Text()
	e.Propagated("pfadd d x", "set d "+value+" KEEPTTL")
	e.Do("pfmerge new d").Want("+OK\r\n")
	e.Propagated("set new " + value)
}

// TestGrowth: values are the same whichever way they became, and wake who watches.
func TestGrowth(t *testing.T) {
	e := cmdtest.New(t, families()...)
	e.Keyspace.ChangeSettings(func(s *db.Settings) { s.Limits.HLLSparseBytes = 500 })
	for i := range 400 {
		e.Do(fmt.Sprintf("pfadd one e%d", i))
		e.Do(fmt.Sprintf("pfadd part%d e%d", i%3, i))
		e.Do("pfmerge all part0 part1 part2").Want("+OK\r\n")
		if i%50 == 0 {
			want := e.Do("pfcount one").Text()
			e.Do("pfcount part0 part1 part2").WantText(want)
			e.Do("pfcount all").WantText(want)
		}
	}
	e.Do("pfdebug encoding one").WantText("dense")
	e.Do("pfdebug encoding all").WantText("dense")
	e.Do("pfdebug encoding part0").WantText("sparse")
	if one, all := e.Do("get one").Text(), e.Do("get all").Text(); one != all && one[:40] == all[:40] {
		t.Error("registers differ")
	}
	regs := e.Do("pfdebug getreg part0").Text()
	if n := strings.Count(regs, "\n") + 1; n != 16384 {
		t.Errorf("%d registers", n)
	}
	e.Do("pfdebug encoding part0").WantText("dense")
}
