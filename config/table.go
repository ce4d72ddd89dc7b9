package config

import "slices"

// Table returns all directives, in the order of the sections of the
// configuration file.
func Table() []*Directive {
	return slices.Concat(generalTable(), networkTable(), clientTable(), memoryTable(),
		persistenceTable(), typesTable(), replicationTable(), clusterTable(), securityTable(),
		tlsTable(), observeTable(), keydbTable(), flashTable(), debugTable())
}

// Ranges of C types, which bound what Redis' directives take.
const (
	maxInt32  = 1<<31 - 1
	minInt32  = -1 << 31
	maxUint32 = 1<<32 - 1
	maxInt64  = 1<<63 - 1
)

func yesNo(name string, on bool, flags Flag, note string) *Directive {
	def := "no"
	if on {
		def = "yes"
	}
	return &Directive{Name: name, Kind: Bool, Default: def, Flags: flags, Note: note}
}

func number(name, def string, lo, hi int64, flags Flag, note string) *Directive {
	return &Directive{Name: name, Kind: Int, Default: def, Min: lo, Max: hi, Flags: flags, Note: note}
}

func memory(name, def string, lo, hi int64, flags Flag, note string) *Directive {
	return &Directive{Name: name, Kind: Memory, Default: def, Min: lo, Max: hi, Flags: flags, Note: note}
}

func text(name, def string, flags Flag, note string) *Directive {
	return &Directive{Name: name, Kind: String, Default: def, Flags: flags, Note: note}
}

// oneOf makes an Enum whose numbers count from 0 in the order of words.
func oneOf(name, def string, flags Flag, note string, words ...string) *Directive {
	d := &Directive{Name: name, Kind: Enum, Default: def, Flags: flags, Note: note}
	for i, w := range words {
		d.Words = append(d.Words, Word{w, int64(i)})
	}
	return d
}

func list(name, def string, rules listRules, flags Flag, note string) *Directive {
	return &Directive{Name: name, Kind: List, Default: def, list: &rules, Flags: flags, Note: note}
}

// also gives a directive further names.
func (d *Directive) also(names ...string) *Directive {
	d.Aliases = names
	return d
}

func (d *Directive) clamped(f func(int64) int64) *Directive {
	d.clamp = f
	return d
}

func (d *Directive) checked(f func(string) error) *Directive {
	d.check = f
	return d
}

// Why directives have no effect yet; docs/compatibility.md shows the texts.
const (
	noReplication = "there is no replication so far; it will apply to replicas and their primary"
	noCluster     = "there is no cluster mode so far"
	noTLS         = "there is no TLS so far"
	noACL         = "there are no ACL users besides default so far"
	noScripts     = "there are no scripts so far"
	noFlash       = "there is no flash tier so far"
	noTracking    = "there is no client-side caching so far"
	noModules     = "there are no modules; a server in Go cannot load them"
	noFork        = "snapshots do not fork here, so there is nothing to set"
	noJemalloc    = "memory does not come from jemalloc here"
)
