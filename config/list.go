package config

import (
	"math"
	"strconv"
	"strings"
)

// splitWords turns the one argument of CONFIG SET, or of a quoted value in a
// file, into the arguments of a List: split at each single space, as Redis does.
func splitWords(arg string) []string {
	if arg == "" {
		return []string{""}
	}
	return strings.Split(arg, " ")
}

// none reports whether args are the one empty word that stands for nothing.
func none(args []string) bool { return len(args) == 1 && args[0] == "" }

func mustInt(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic("config: value " + s + " was checked to be a number")
	}
	return n
}

// maxBind is how many addresses bind takes.
const maxBind = 16

func parseBind(_ []string, args []string, _ source) ([]string, error) {
	if none(args) {
		return nil, nil
	}
	if len(args) > maxBind {
		return nil, argError("Too many bind addresses specified.")
	}
	return args, nil
}

const errSave argError = "Invalid save parameters"

// parseSave takes pairs of seconds and changes. In a file each line adds a
// pair, the first one after dropping the defaults; CONFIG SET replaces all. A
// line of nothing but the name is like the empty word: no save points.
func parseSave(old, args []string, in source) ([]string, error) {
	if len(args) == 0 || none(args) {
		return nil, nil
	}
	if len(args)%2 != 0 {
		return nil, errSave
	}
	for i := 0; i < len(args); i += 2 {
		sec, err1 := strconv.ParseInt(args[i], 10, 64)
		n, err2 := strconv.ParseInt(args[i+1], 10, 32)
		if err1 != nil || err2 != nil || sec < 1 || n < 0 {
			return nil, errSave
		}
	}
	if in.file && !in.first {
		return append(append([]string(nil), old...), args...), nil
	}
	return args, nil
}

func saveLines(words []string) [][]string {
	if len(words) == 0 {
		return [][]string{{""}}
	}
	return groups(words, 2)
}

func groups(words []string, n int) [][]string {
	var out [][]string
	for i := 0; i+n <= len(words); i += n {
		out = append(out, words[i:i+n])
	}
	return out
}

var outputClassNames = [classes]string{"normal", "slave", "pubsub"}

func outputClass(name string) int {
	switch strings.ToLower(name) {
	case "normal":
		return ClassNormal
	case "slave", "replica":
		return ClassReplica
	case "pubsub":
		return ClassPubSub
	}
	return -1
}

// parseOutputLimits takes groups of class, hard limit, soft limit, seconds.
// Classes that are not named keep their limits.
func parseOutputLimits(old, args []string, _ source) ([]string, error) {
	if (len(args) == 0 || none(args)) && len(old) > 0 {
		return old, nil
	}
	if len(args) == 0 || len(args)%4 != 0 {
		return nil, argError("Wrong number of arguments in buffer limit configuration.")
	}
	out := append([]string(nil), old...)
	if len(out) == 0 {
		out = make([]string, 4*classes)
		for i, name := range outputClassNames {
			copy(out[4*i:], []string{name, "0", "0", "0"})
		}
	}
	for _, g := range groups(args, 4) {
		class := outputClass(g[0])
		if class < 0 {
			return nil, argError("Invalid client class specified in buffer limit configuration.")
		}
		hard, ok1 := ParseMemory(g[1])
		soft, ok2 := ParseMemory(g[2])
		sec, err := strconv.ParseInt(g[3], 10, 32)
		if !ok1 || !ok2 || err != nil || sec < 0 || hard < 0 || soft < 0 {
			return nil, argError("Error in hard, soft or soft_seconds setting in buffer limit configuration.")
		}
		for i, n := range []int64{hard, soft, sec} {
			out[4*class+1+i] = strconv.FormatInt(n, 10)
		}
	}
	return out, nil
}

// limitLines writes a line a class, in the words that configuration files use.
func limitLines(words []string) [][]string {
	var out [][]string
	memory := &Directive{Kind: Memory}
	for _, g := range groups(words, 4) {
		line := []string{g[0], formatMemory(mustInt(g[1]), memory), formatMemory(mustInt(g[2]), memory), g[3]}
		if line[0] == "slave" {
			line[0] = "replica"
		}
		out = append(out, line)
	}
	return out
}

func parseOOMValues(_ []string, args []string, _ source) ([]string, error) {
	if len(args) != 3 {
		return nil, errArgCount
	}
	out := make([]string, 3)
	for i, a := range args {
		n, err := strconv.ParseInt(a, 10, 64)
		if err != nil || n < -2000 || n > 2000 {
			return nil, argError("Invalid oom-score-adj-values, elements must be between -2000 and 2000.")
		}
		out[i] = strconv.FormatInt(n, 10)
	}
	return out, nil
}

func parsePercentiles(_ []string, args []string, _ source) ([]string, error) {
	if none(args) {
		return nil, nil
	}
	out := make([]string, len(args))
	for i, a := range args {
		f, err := strconv.ParseFloat(a, 64)
		if err != nil || math.IsNaN(f) {
			return nil, argError("Invalid latency-tracking-info-percentiles parameters")
		}
		if f < 0 || f > 100 {
			return nil, argError("latency-tracking-info-percentiles parameters should sit between [0.0,100.0]")
		}
		out[i] = strconv.FormatFloat(f, 'g', 17, 64)
		if short := strconv.FormatFloat(f, 'g', -1, 64); len(short) < len(out[i]) {
			out[i] = short
		}
	}
	return out, nil
}

// The bits of shutdown-on-sigint and shutdown-on-sigterm, as the numbers of
// those directives.
const (
	ShutdownSave   = 1 << 0
	ShutdownNoSave = 1 << 1
	ShutdownNow    = 1 << 2
	ShutdownForce  = 1 << 3
)

var shutdownWords = []Word{{"default", 0}, {"save", ShutdownSave}, {"nosave", ShutdownNoSave}, {"now", ShutdownNow}, {"force", ShutdownForce}}

func shutdownBits(words []string) (bits int64, ok bool) {
	d := Directive{Words: shutdownWords}
	for _, w := range words {
		n, err := d.parseEnum(w)
		if err != nil {
			return 0, false
		}
		bits |= n
	}
	return bits, true
}

func parseShutdown(_ []string, args []string, _ source) ([]string, error) {
	bits, ok := shutdownBits(args)
	if !ok || len(args) == 0 {
		d := Directive{Words: shutdownWords}
		_, err := d.parseEnum("")
		return nil, err
	}
	if bits&ShutdownSave != 0 && bits&ShutdownNoSave != 0 {
		return nil, argError("shutdown options SAVE and NOSAVE can't be used simultaneously")
	}
	var out []string
	for _, w := range shutdownWords {
		if bits&w.Num != 0 {
			out = append(out, w.Name)
		}
	}
	if out == nil {
		out = []string{"default"}
	}
	return out, nil
}

func shutdownNum(words []string) int64 {
	bits, _ := shutdownBits(words)
	return bits
}

// The letters of notify-keyspace-events in the order in which they are shown.
// The number of the directive has one bit a letter, at the letter's place here.
const (
	notifyTypes  = "g$lshzxetd"
	notifyPlaces = "nKEm"
	notifyAll    = notifyTypes + notifyPlaces
)

// NotifyBit returns the bit of a letter of notify-keyspace-events in the
// directive's number; 0 for other letters.
func NotifyBit(letter byte) int64 {
	if i := strings.IndexByte(notifyAll, letter); i >= 0 {
		return 1 << i
	}
	return 0
}

const notifyTypeBits = 1<<len(notifyTypes) - 1

func notifyNum(words []string) int64 {
	var bits int64
	if len(words) == 0 {
		return 0
	}
	for i := 0; i < len(words[0]); i++ {
		if words[0][i] == 'A' {
			bits |= notifyTypeBits
		}
		bits |= NotifyBit(words[0][i])
	}
	return bits
}

func parseNotify(_ []string, args []string, _ source) ([]string, error) {
	if len(args) == 0 {
		return nil, nil
	}
	if len(args) != 1 {
		return nil, errArgCount
	}
	if strings.Trim(args[0], "A"+notifyAll) != "" {
		return nil, argError("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
	}
	bits := notifyNum(args)
	var b strings.Builder
	letters := notifyAll
	if bits&notifyTypeBits == notifyTypeBits {
		b.WriteByte('A')
		letters = "KEm"
	}
	for i := 0; i < len(letters); i++ {
		if bits&NotifyBit(letters[i]) != 0 {
			b.WriteByte(letters[i])
		}
	}
	if b.Len() == 0 {
		return nil, nil
	}
	return []string{b.String()}, nil
}

// parseReplicaOf takes a host and a port, or no one. Lines of a file add up;
// when loading ends, all but the last are dropped unless multi-master is on.
func parseReplicaOf(old, args []string, in source) ([]string, error) {
	if len(args) == 0 || none(args) {
		return nil, nil
	}
	if len(args) != 2 {
		return nil, errArgCount
	}
	if strings.EqualFold(args[0], "no") && strings.EqualFold(args[1], "one") {
		return nil, nil
	}
	port, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil || port < 0 || port > 65535 {
		return nil, argError("Invalid master port")
	}
	if in.file && !in.first {
		return append(append([]string(nil), old...), args...), nil
	}
	return args, nil
}

// parseAffinity takes yes, no, true, false, or the first CPU counted from 1.
func parseAffinity(_ []string, args []string, _ source) ([]string, error) {
	if len(args) != 1 {
		return nil, errArgCount
	}
	switch strings.ToLower(args[0]) {
	case "yes", "true":
		return []string{"yes"}, nil
	case "no", "false":
		return []string{"no"}, nil
	}
	n, err := strconv.ParseUint(args[0], 10, 16)
	if err != nil || n == 0 {
		return nil, argError("argument must be 'yes', 'no' or the number of the first CPU, from 1")
	}
	return []string{strconv.FormatUint(n, 10)}, nil
}

// affinityNum is 0 for no, else the first CPU counted from 1.
func affinityNum(words []string) int64 {
	switch {
	case len(words) == 0 || words[0] == "no":
		return 0
	case words[0] == "yes":
		return 1
	}
	return mustInt(words[0])
}

// parseNames takes any words, none if empty.
func parseNames(_ []string, args []string, _ source) ([]string, error) {
	if len(args) == 0 || none(args) {
		return nil, nil
	}
	return args, nil
}
