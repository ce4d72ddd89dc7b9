package lists_test

import (
	"strconv"
	"testing"
)

// BenchmarkGrow pushes to lists that grow from nothing to 250 elements.
func BenchmarkGrow(b *testing.B) {
	for _, name := range []string{"lpush", "rpush"} {
		b.Run(name, func(b *testing.B) {
			const lists, most = 4000, 250
			args := make([][][]byte, lists)
			for i := range args {
				args[i] = argv(name + " list:" + strconv.Itoa(i) + " element:123456")
			}
			e := newBench(b)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n == lists*most {
					b.StopTimer()
					e = newBench(b)
					n = 0
					b.StartTimer()
				}
				e.run(args[n%lists])
				n++
			}
		})
	}
}
