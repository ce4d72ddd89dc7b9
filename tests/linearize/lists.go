package linearize

import (
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"
)

// listOp is an operation on one or two lists. The kinds are commands in lower case;
// those that block end with a timeout too short to matter.
type listOp struct {
	kind     string // rpush, lpush, lpop, rpop, blpop, brpop, lmove, blmove, lrange
	from, to int    // lists; blpop and brpop wait for both, in this order
	arg      string
}

// nLists is how many lists they know.
const nLists = 3

// listState is the lists, their elements joined by commas.
type listState [nLists]string

// listModel describes lists. A command that blocks takes its element at one moment
// like any other, and answers nil only if there was a moment when it found nothing.
func listModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return listState{} },
		Step: func(state, input, output any) (bool, any) {
			return stepLists(state.(listState), input.(listOp), output.(string))
		},
	}
}

func stepLists(s listState, o listOp, output string) (bool, any) {
	switch o.kind {
	case "rpush":
		s[o.from] = join(s[o.from], o.arg)
		return output == length(s[o.from]), s
	case "lpush":
		s[o.from] = join(o.arg, s[o.from])
		return output == length(s[o.from]), s
	case "lrange":
		return output == s[o.from], s
	case "blpop", "brpop":
		key, value, found := strings.Cut(output, ":")
		if !found {
			return output == "(nil)" && s[o.from] == "" && s[o.to] == "", s
		}
		at, _ := strconv.Atoi(key)
		taken := s.take(at, o.kind == "blpop")
		return taken != "" && taken == value && (at == o.from || at == o.to), s
	}
	taken := s.take(o.from, o.kind == "lpop")
	if taken == "" {
		return output == "(nil)", s
	}
	if o.kind == "lmove" || o.kind == "blmove" { // from the right to the left
		s[o.to] = join(taken, s[o.to])
	}
	return output == taken, s
}

// take removes an element from an end of a list; "" if that is empty.
func (s *listState) take(i int, left bool) (taken string) {
	switch list := s[i]; {
	case left:
		taken, s[i], _ = strings.Cut(list, ",")
	case strings.Contains(list, ","):
		at := strings.LastIndexByte(list, ',')
		taken, s[i] = list[at+1:], list[:at]
	default:
		taken, s[i] = list, ""
	}
	return taken
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}

func length(list string) string {
	if list == "" {
		return "0"
	}
	return strconv.Itoa(strings.Count(list, ",") + 1)
}
