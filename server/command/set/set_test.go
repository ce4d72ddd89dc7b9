package sets_test

import (
	"testing"

	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/generic"
	sets "heddle/server/command/set"
	str "heddle/server/command/string"
)

func families() []command.Family {
	return []command.Family{sets.Family(), generic.Family(), str.Family(func() int64 { return 512 << 20 })}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }
