package hashes_test

import (
	"testing"

	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/generic"
	hashes "heddle/server/command/hash"
	str "heddle/server/command/string"
)

func families() []command.Family {
	return []command.Family{
		hashes.Family(), generic.Family(), str.Family(func() int64 { return 512 << 20 }), cmdtest.Lists(),
	}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }

func env(t *testing.T) *cmdtest.Env {
	t.Helper()
	return cmdtest.New(t, families()...)
}
