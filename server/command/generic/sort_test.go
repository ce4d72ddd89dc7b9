package generic_test

import (
	"testing"

	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/generic"
	hashes "heddle/server/command/hash"
	lists "heddle/server/command/list"
	sets "heddle/server/command/set"
	"heddle/server/command/sortedset"
	str "heddle/server/command/string"
)

func collections() []command.Family {
	return []command.Family{
		generic.Family(), hashes.Family(), sets.Family(), sortedset.Family(), str.Family(func() int64 { return 512 << 20 }), lists.Family(),
	}
}

func TestCollections(t *testing.T) {
	cmdtest.Files(t, "testdata/collections/*.txt", collections)
}

func TestSortEffects(t *testing.T) {
	e := cmdtest.New(t, collections()...)
	e.Do("rpush l 3 1 2")
	e.Do("sort l store d").Want(":3\r\n")
	e.Events("new l", "rpush l", "new d", "sortstore d")
	e.Propagated("rpush l 3 1 2", "rpush d 1 2 3")
	e.Do("sort l by nosort get # get x_* store d").Want(":6\r\n")
	e.Propagated("del d", `rpush d 3 "" 1 "" 2 ""`)
	e.Do("sort nokey store d").Want(":0\r\n")
	e.Do("sort nokey store d").Want(":0\r\n")
	e.Propagated("del d")
	e.Do("sort l")
	e.Do("sort_ro l")
	e.Propagated()
}
