package geo_test

import (
	"testing"

	"heddle/server/command"
	"heddle/server/command/cmdtest"
	"heddle/server/command/generic"
	"heddle/server/command/geo"
	"heddle/server/command/sortedset"
	str "heddle/server/command/string"
)

func families() []command.Family {
	return []command.Family{geo.Family(), sortedset.Family(), str.Family(func() int64 { return 512 << 20 }), generic.Family()}
}

func TestFiles(t *testing.T) { cmdtest.Files(t, "testdata/*.txt", families) }

func TestEffectsAndEvents(t *testing.T) {
	e := cmdtest.New(t, families()...)
	f := func(cmd string, effects, events []string) {
		t.Helper()
		e.Do(cmd)
		e.Propagated(effects...)
		e.Events(events...)
	}
	list := func(s ...string) []string { return s }
	f("geoadd g 1 1 a 2 2 b", list("geoadd g 1 1 a 2 2 b"), list("new g", "zadd g"))
	f("geoadd g 1 1 a", nil, nil)
	f("geosearch g frommember a byradius 1 km", nil, nil)
	f("geosearchstore d g frommember a byradius 1 km", list("zadd d 3377822707026402 a"), list("new d", "geosearchstore d"))
	f("georadius g 1 1 1 km store d", list("del d", "zadd d 3377822707026402 a"), list("georadiusstore d"))
	f("georadius g 50 1 1 km store d", list("del d"), list("del d"))
	f("georadius g 50 1 1 km store d", nil, nil)
	f("georadius g 50 1 1 km", nil, nil)
}
