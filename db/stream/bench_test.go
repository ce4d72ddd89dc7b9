package stream

import (
	"fmt"
	"strconv"
	"testing"
)

var usual = Limits{NodeBytes: 4096, NodeEntries: 100}

// fill makes a stream of n entries of one field.
func fill(n int) *Stream {
	s := New()
	pairs := [][]byte{[]byte("field"), nil}
	for i := range n {
		pairs[1] = strconv.AppendInt(append(pairs[1][:0], "value:"...), int64(i), 10)
		s.Append(ID{1_700_000_000_000 + uint64(i/20), uint64(i % 20)}, pairs, usual)
	}
	return s
}

func BenchmarkAppend(b *testing.B) {
	for _, fields := range []int{1, 2, 10} {
		b.Run(fmt.Sprint(fields), func(b *testing.B) {
			var pairs [][]byte
			for i := range fields {
				pairs = append(pairs, fmt.Appendf(nil, "field%d", i), []byte("some value 17"))
			}
			s, i := New(), 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				s.Append(ID{uint64(i / 20), uint64(i)}, pairs, usual)
			}
			b.ReportMetric(float64(s.MemSize())/float64(s.Len()), "B/entry")
		})
	}
}

func BenchmarkAppendTrim(b *testing.B) {
	for _, approximate := range []bool{true, false} {
		b.Run(fmt.Sprintf("approximate=%v", approximate), func(b *testing.B) {
			pairs := [][]byte{[]byte("field"), []byte("some value")}
			s, i := New(), 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				s.Append(ID{uint64(i), 0}, pairs, usual)
				s.TrimTo(Trim{MaxLen: 1000, Approximate: approximate})
			}
		})
	}
}

func BenchmarkRange10(b *testing.B) {
	s := fill(1_000_000)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		i = (i + 7919) % 1_000_000
		it := s.Range(ID{1_700_000_000_000 + uint64(i/20), 0}, MaxID)
		for range 10 {
			e, _ := it.Next()
			for e.Len() > 0 {
				e.Pair()
			}
		}
	}
}

func BenchmarkReverse10(b *testing.B) {
	s := fill(1_000_000)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		i = (i + 7919) % 1_000_000
		it := s.RangeReverse(ID{}, ID{1_700_000_000_000 + uint64(i/20), 0})
		for range 10 {
			e, _ := it.Next()
			for e.Len() > 0 {
				e.Pair()
			}
		}
	}
}

func BenchmarkDelete(b *testing.B) {
	s := fill(1_000_000)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if i = (i + 7919) % 1_000_000; !s.Delete(ID{1_700_000_000_000 + uint64(i/20), uint64(i % 20)}) {
			b.StopTimer()
			s = fill(1_000_000)
			b.StartTimer()
		}
	}
}

func BenchmarkCloneAppend(b *testing.B) {
	s := fill(1_000_000)
	pairs := [][]byte{[]byte("field"), []byte("some value")}
	b.ReportAllocs()
	for b.Loop() {
		s.Clone()
		id, _ := s.LastID().Next()
		s.Append(id, pairs, usual)
	}
}

// BenchmarkDeliverAck gives entries to consumers and has them acknowledged, with a
// million pending.
func BenchmarkDeliverAck(b *testing.B) {
	for _, pending := range []int{0, 1_000_000} {
		b.Run(fmt.Sprint(pending), func(b *testing.B) {
			s := New()
			s.CreateGroup([]byte("g"), ID{}, 0)
			g := s.EditGroup([]byte("g"))
			var numbers []uint64
			for i := range 10 {
				n, _ := s.CreateConsumer(g, fmt.Appendf(nil, "consumer%d", i), 1)
				numbers = append(numbers, n)
			}
			i := uint64(0)
			for ; i < uint64(pending); i++ {
				s.Deliver(g, ID{i, 1}, numbers[i%10], 1)
			}
			b.ReportAllocs()
			for b.Loop() {
				g := s.EditGroup([]byte("g"))
				s.Deliver(g, ID{i, 1}, numbers[i%10], 1)
				if !s.Ack(g, ID{i - uint64(pending), 1}) {
					b.Fatal("not pending")
				}
				i++
			}
		})
	}
}
