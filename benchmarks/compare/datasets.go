package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"heddle/benchmarks/target"
)

// dataSet is a number of collections whose memory is compared: the commands that
// make them, and how many elements they have in all.
type dataSet struct {
	name     string
	commands int
	elements int
	make     maker
}

// random is a word of n letters and digits that depends on i alone, so that all
// servers have the same.
func random(i, n int) string {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	r := rand.New(rand.NewPCG(uint64(i), 1))
	b := make([]byte, n)
	for j := range b {
		b[j] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

// bytes16 is a word of 16 bytes of any value that depends on i alone.
func bytes16(i int) string {
	r := rand.New(rand.NewPCG(uint64(i), 2))
	b := make([]byte, 16)
	for j := range b {
		b[j] = byte(r.IntN(256))
	}
	return string(b)
}

// dataSets are the collections that are compared: many small ones, which are
// packed, and one of a million elements of each type.
func dataSets(scale float64) []dataSet {
	million := scaled(1_000_000, scale)
	each := func(name, command, key string, element func(i int) string) dataSet {
		return dataSet{name, million, million, func(out []byte, i int, _ *rand.Rand) []byte { return cmd(out, command, key, element(i)) }}
	}
	// small makes collections of 100, one by one.
	small := func(name, command string, element func(i int) []string) dataSet {
		return dataSet{name, million / 100, million, func(out []byte, i int, _ *rand.Rand) []byte {
			args := []string{command, fmt.Sprintf("%s:%d", strings.ToLower(command), i)}
			for j := range 100 {
				args = append(args, element(j)...)
			}
			return cmd(out, args...)
		}}
	}
	return []dataSet{
		small("hashes of 100 fields", "HSET", func(j int) []string { return []string{name("field:", j), name("value:", j)} }),
		small("hashes of 100 numbers", "HSET", func(j int) []string { return []string{name("field:", j), strconv.Itoa(j * 37)} }),
		small("sorted sets of 100 members", "ZADD", func(j int) []string { return []string{strconv.Itoa(j * 37), name("member:", j)} }),
		small("sets of 100 members", "SADD", func(j int) []string { return []string{name("member:", j)} }),
		small("lists of 100 elements", "RPUSH", func(j int) []string { return []string{name("element:", j)} }),
		{"hash of a million fields", million, million, func(out []byte, i int, _ *rand.Rand) []byte {
			return cmd(out, "HSET", "h", name("field:", i), name("value:", i))
		}},
		{"sorted set of a million members", million, million, func(out []byte, i int, _ *rand.Rand) []byte {
			return cmd(out, "ZADD", "z", strconv.Itoa(i*7919%1_000_003), name("member:", i))
		}},
		each("set of a million members of 16 letters and digits", "SADD", "s", func(i int) string { return random(i, 16) }),
		each("set of a million members of 16 random bytes", "SADD", "s", bytes16),
		each("list of a million elements element:N", "RPUSH", "l", func(i int) string { return name("element:", i) }),
		each("list of a million numbers below a million", "RPUSH", "l", strconv.Itoa),
		each("list of a million words of 16 letters and digits", "RPUSH", "l", func(i int) string { return random(i, 16) }),
		each("list of a million words of 16 random bytes", "RPUSH", "l", bytes16),
		{"stream of a million entries", million, million, func(out []byte, i int, _ *rand.Rand) []byte {
			return cmd(out, "XADD", "x", "*", "sensor", strconv.Itoa(i%1000), "temperature", name("2", i%997))
		}},
	}
}

// footprint is the memory that a data set takes, in bytes for an element: of
// the process, and as the server counts it.
type footprint struct{ rss, used float64 }

// memory compares what collections take. Every data set is filled into a server
// started for it.
func (o options) memory(w io.Writer, kinds []target.Kind) error {
	fmt.Fprintf(w, "\nbytes of memory for an element (of a hash: a field with its value): RSS, and used_memory\n%-52s", "")
	for _, k := range kinds {
		if !k.Floor {
			fmt.Fprintf(w, " %32s", k.Name)
		}
	}
	fmt.Fprintln(w)
	for _, d := range dataSets(o.scale) {
		if !strings.Contains(d.name, o.only) {
			continue
		}
		prints := map[string]footprint{}
		for _, k := range kinds {
			if k.Floor {
				continue
			}
			f, err := o.footprint(k, d)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", d.name, k.Name, err)
			}
			prints[k.Name] = f
		}
		fmt.Fprintf(w, "%-52s", d.name)
		base := prints[o.baseline]
		for _, k := range kinds {
			if f, ok := prints[k.Name]; ok {
				fmt.Fprintf(w, " %7.1f %.2fx %7.1f %.2fx", f.rss, f.rss/base.rss, f.used, f.used/base.used)
			}
		}
		fmt.Fprintln(w)
	}
	return nil
}

func (o options) footprint(k target.Kind, d dataSet) (f footprint, err error) {
	s, err := o.start(k)
	if err != nil {
		return f, err
	}
	defer s.Stop()
	used := s.UsedMemory()
	if err := s.fillBy(d.make, d.commands); err != nil {
		return f, err
	}
	time.Sleep(12 * time.Second) // until what was used while loading is given back
	return footprint{float64(s.RSS()-s.emptyRSS) / float64(d.elements), float64(s.UsedMemory()-used) / float64(d.elements)}, nil
}
