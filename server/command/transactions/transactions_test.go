package transactions_test

import (
	"testing"

	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/connection"
	"heddle/server/command/generic"
	str "heddle/server/command/string"
	"heddle/server/command/transactions"
)

func families() []command.Family {
	return []command.Family{
		transactions.Family(),
		connection.Family(connection.Deps{Version: "7.0.15", Databases: 16}),
		generic.Family(),
		str.Family(func() int64 { return 512 << 20 }),
	}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }
