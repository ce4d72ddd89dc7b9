package lists_test

import (
	"strconv"
	"testing"

	"heddle/server/command/cmdtest"
	lists "heddle/server/command/list"
)

// BenchmarkGrow pushes to lists that grow from nothing to 250 elements.
func BenchmarkGrow(b *testing.B) {
	for _, name := range []string{"lpush", "rpush"} {
		b.Run(name, func(b *testing.B) {
			const keys, most = 4000, 250
			args := make([][][]byte, keys)
			for i := range args {
				args[i] = cmdtest.Argv(name + " list:" + strconv.Itoa(i) + " element:123456")
			}
			e := cmdtest.NewBench(b, lists.Family())
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n == keys*most {
					b.StopTimer()
					e = cmdtest.NewBench(b, lists.Family())
					n = 0
					b.StartTimer()
				}
				e.Run(args[n%keys])
				n++
			}
		})
	}
}
