// Package config knows every directive of redis.conf and keydb.conf in one
// table: its name, type, default and range, whether CONFIG SET may change it,
// and what has no effect yet. It reads files and command lines as redis-server
// does, answers CONFIG GET and CONFIG SET, and rewrites the file.
//
// Values are atomics: whoever needs one often keeps a handle (IntVar, BoolVar,
// StringVar) and loads it; whoever must act on a change registers OnChange, or
// OnApply when acting may fail.
package config

import (
	"strconv"
	"strings"
)

// Kind is how the value of a directive is written.
type Kind uint8

// The kinds of values.
const (
	Bool    Kind = iota // yes or no
	Enum                // one of several words
	Int                 // a decimal number
	Memory              // a number of bytes, with a unit if need be: 64mb
	Percent             // Memory, or a percentage: 5%
	Octal               // a file mode: 755
	String              // one word, may be empty
	List                // several words, with rules of their own
)

// Flag says how a directive may be used.
type Flag uint16

// The flags.
const (
	Immutable   Flag = 1 << iota // CONFIG SET is refused
	Protected                    // CONFIG SET needs enable-protected-configs
	Hidden                       // CONFIG GET shows it only under its exact name
	Sensitive                    // the value is not for logs and MONITOR
	DenyLoading                  // CONFIG SET is refused while loading
	Unsigned                     // a number of 64 bits without sign
	KeyDB                        // a directive of KeyDB, not of Redis
	Partial                      // it has effect, but Note says what differs
)

// Directive is everything known of one directive. The table of them is never
// changed after it is built.
type Directive struct {
	Name     string
	Aliases  []string
	Kind     Kind
	Default  string
	Min, Max int64
	Words    []Word // of an Enum
	Flags    Flag
	// Note says why the directive has no effect yet, or what differs from
	// Redis. Empty: it does what Redis documents.
	Note string

	list  *listRules
	check func(string) error // of a String
	clamp func(int64) int64  // of a number, after the range check
}

// Inert reports whether the directive is known but has no effect.
func (d *Directive) Inert() bool { return d.Note != "" && d.Flags&Partial == 0 }

// Word is a word of an Enum and the number it stands for.
type Word struct {
	Name string
	Num  int64
}

// value is the state of a directive: a number for all kinds that are numbers
// at heart, words for the rest. It is never changed, only replaced.
type value struct {
	num   int64
	words []string
}

// listRules make a List directive: parse turns arguments into the new value,
// given the old one and whether this is the first line about it in a file.
type listRules struct {
	parse func(old []string, args []string, in source) ([]string, error)
	num   func(words []string) int64
	// asSaid: the number is that of the arguments, which may say more than what is
	// shown of them: Redis keeps the n of "AKEn", and shows "AKE".
	asSaid bool
	// single: CONFIG SET does not split the value at spaces.
	single bool
	lines  func(words []string) [][]string
	// fixed: there are always as many lines as in the default.
	fixed bool
}

// source says where a value comes from.
type source struct {
	file  bool // a file or the command line, rather than CONFIG SET
	first bool // the first line about the directive in this load
}

// argError is what is wrong with a value, in Redis' words.
type argError string

func (e argError) Error() string { return string(e) }

const (
	errArgCount argError = "wrong number of arguments"
	errBool     argError = "argument must be 'yes' or 'no'"
	errInt      argError = "argument couldn't be parsed into an integer"
	errMemory   argError = "argument must be a memory value"
	errPercent  argError = "argument must be a memory or percent value"
	errOver100  argError = "percentage argument must be less or equal to 100"
	errOctal    argError = "argument couldn't be parsed as an octal number"
)

// split takes the one argument of a List apart that stands for several.
func (d *Directive) split(args []string) []string {
	if d.Kind == List && !d.list.single && len(args) == 1 {
		return splitWords(args[0])
	}
	return args
}

// parse reads the value of d from args.
func (d *Directive) parse(old value, args []string, in source) (value, error) {
	if d.Kind == List {
		w, err := d.list.parse(old.words, args, in)
		if err != nil {
			return old, err
		}
		v := value{words: w}
		switch {
		case d.list.num == nil:
		case d.list.asSaid:
			v.num = d.list.num(args)
		default:
			v.num = d.list.num(w)
		}
		return v, nil
	}
	if len(args) != 1 {
		return old, errArgCount
	}
	return d.parseOne(args[0])
}

func (d *Directive) parseOne(arg string) (v value, err error) {
	switch d.Kind {
	case Bool:
		v.num, err = parseBool(arg)
	case Enum:
		v.num, err = d.parseEnum(arg)
	case String:
		if d.check != nil {
			err = d.check(arg)
		}
		v.words = []string{arg}
	default:
		v.num, err = d.parseNumber(arg)
	}
	return v, err
}

func parseBool(arg string) (int64, error) {
	switch {
	case strings.EqualFold(arg, "yes"):
		return 1, nil
	case strings.EqualFold(arg, "no"):
		return 0, nil
	}
	return 0, errBool
}

func (d *Directive) parseEnum(arg string) (int64, error) {
	names := make([]string, len(d.Words))
	for i, w := range d.Words {
		if strings.EqualFold(arg, w.Name) {
			return w.Num, nil
		}
		names[i] = w.Name
	}
	return 0, argError("argument(s) must be one of the following: " + strings.Join(names, ", "))
}

func (d *Directive) parseNumber(arg string) (int64, error) {
	n, err := d.readNumber(arg)
	if err != nil {
		return 0, err
	}
	if n < 0 && d.Kind == Percent {
		return n, nil
	}
	if err := d.checkRange(n); err != nil {
		return 0, err
	}
	if d.clamp != nil {
		n = d.clamp(n)
	}
	return n, nil
}

func (d *Directive) readNumber(arg string) (int64, error) {
	switch d.Kind {
	case Memory:
		if n, ok := ParseMemory(arg); ok {
			return n, nil
		}
		return 0, errMemory
	case Percent:
		return parsePercent(arg)
	case Octal:
		n, err := strconv.ParseInt(arg, 8, 64)
		if err != nil {
			return 0, errOctal
		}
		return n, nil
	}
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != arg {
		return 0, errInt
	}
	return n, nil
}

// parsePercent reads a number of bytes, or a percentage as its negative.
func parsePercent(arg string) (int64, error) {
	if p, ok := strings.CutSuffix(arg, "%"); ok {
		n, err := strconv.ParseInt(p, 10, 64)
		switch {
		case err != nil || n < 0:
			return 0, errPercent
		case n > 100:
			return 0, errOver100
		}
		return -n, nil
	}
	n, ok := ParseMemory(arg)
	if !ok || n < 0 {
		return 0, errPercent
	}
	return n, nil
}

func (d *Directive) checkRange(n int64) error {
	if d.Flags&Unsigned != 0 {
		if uint64(n) < uint64(d.Min) || uint64(n) > uint64(d.Max) {
			return argError("argument must be between " + strconv.FormatUint(uint64(d.Min), 10) +
				" and " + strconv.FormatUint(uint64(d.Max), 10) + " inclusive")
		}
		return nil
	}
	if n < d.Min || n > d.Max {
		if d.Kind == Octal {
			return argError("argument must be between " + strconv.FormatInt(d.Min, 8) +
				" and " + strconv.FormatInt(d.Max, 8) + " inclusive")
		}
		return argError("argument must be between " + strconv.FormatInt(d.Min, 10) +
			" and " + strconv.FormatInt(d.Max, 10) + " inclusive")
	}
	return nil
}

// ParseMemory reads a number of bytes with an optional unit: b, k (1000), kb
// (1024), and so on to gb. Numbers above the signed range come out negative,
// as unsigned ones in disguise. An empty text is 0, as it is to Redis.
func ParseMemory(s string) (int64, bool) {
	i := 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	mul, ok := map[string]uint64{
		"": 1, "b": 1, "k": 1000, "kb": 1 << 10, "m": 1000 * 1000, "mb": 1 << 20,
		"g": 1000 * 1000 * 1000, "gb": 1 << 30,
	}[strings.ToLower(s[i:])]
	if !ok {
		return 0, false
	}
	if i == 0 {
		return 0, s == ""
	}
	n, err := strconv.ParseUint(s[:i], 10, 64)
	if err != nil || n > ^uint64(0)/mul {
		return 0, false
	}
	return int64(n * mul), true
}

// args writes v as the arguments of a line.
func (d *Directive) args(v value) []string {
	switch d.Kind {
	case Bool:
		if v.num != 0 {
			return []string{"yes"}
		}
		return []string{"no"}
	case Enum:
		for _, w := range d.Words {
			if w.Num == v.num {
				return []string{w.Name}
			}
		}
		return []string{"unknown"}
	case String, List:
		return v.words
	}
	return []string{d.number(v.num)}
}

func (d *Directive) number(n int64) string {
	switch {
	case d.Kind == Octal:
		return strconv.FormatInt(n, 8)
	case d.Kind == Percent && n < 0:
		return strconv.FormatInt(-n, 10) + "%"
	case d.Flags&Unsigned != 0:
		return strconv.FormatUint(uint64(n), 10)
	}
	return strconv.FormatInt(n, 10)
}

// text writes v as CONFIG GET shows it.
func (d *Directive) text(v value) string { return strings.Join(d.args(v), " ") }
