package sortedset_test

import (
	"testing"

	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/generic"
	sets "heddle/server/command/set"
	"heddle/server/command/sortedset"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
)

func families() []command.Family {
	return []command.Family{
		sortedset.Family(), sets.Family(), str.Family(func() int64 { return 512 << 20 }), generic.Family(), transactions.Family(),
	}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }

func env(t *testing.T) *cmdtest.Env {
	t.Helper()
	return cmdtest.New(t, families()...)
}
