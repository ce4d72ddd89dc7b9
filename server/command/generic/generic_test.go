package generic_test

import (
	"testing"

	"heddle/server/command"
	"heddle/server/command/bitmap"
	"heddle/server/command/cmdtest"
	"heddle/server/command/connection"
	"heddle/server/command/generic"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
)

func families() []command.Family {
	limit := func() int64 { return 512 << 20 }
	return []command.Family{
		generic.Family(), str.Family(limit), bitmap.Family(limit), transactions.Family(),
		connection.Family(connection.Deps{Version: "7.0.15", Databases: 16}),
	}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }
