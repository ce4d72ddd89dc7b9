package difftest

import (
	"strconv"
	"strings"
)

// Lists grow, for they are to pass all the sizes at which their form changes; now
// and then one is cut.
const listGroup = `
40 LPUSH <lkey> ( <lval> )+
40 RPUSH <lkey> ( <lval> )+
10 RPUSH <lkey> <lval> <lval> <lval> <lval> <lval> <lval> <lval> <lval> <lval> <lval> <lval> <lval> <lval> <lval> <lval> <lval>
6 LPUSHX <lkey> ( <lval> )+
6 RPUSHX <lkey> ( <lval> )+
22 LPOP <lkey>
22 RPOP <lkey>
6 LPOP <lkey> <small>
6 RPOP <lkey> <small>
14 LLEN <lkey>
24 LINDEX <lkey> <lindex>
20 LSET <lkey> <lindex> <lval>
10 LRANGE <lkey> <index> <index>
10 LRANGE <lkey> <lindex> <lindex>
3 LRANGE <lkey> 0 -1
6 LTRIM <lkey> <small> -1
4 LTRIM <lkey> 0 <lindex>
2 LTRIM <lkey> <lindex> <lindex>
14 LREM <lkey> <small> <lval>
3 LREM <lkey> <int> <lval>
20 LINSERT <lkey> ( BEFORE | AFTER ) <lval> <lval>
2 LINSERT <lkey> <word> <lval> <lval>
20 LPOS <lkey> <lval> [ RANK <small> ] [ COUNT <small> ] [ MAXLEN <small> ]
4 LPOS <lkey> <lval> ( RANK <int> | COUNT <int> | MAXLEN <int> | <word> <small> )+
20 LMOVE <lkey> <lkey> ( LEFT | RIGHT ) ( LEFT | RIGHT )
10 RPOPLPUSH <lkey> <lkey>
2 LMOVE <lkey> <lkey> ( LEFT | <word> ) ( RIGHT | <word> )
10 LMPOP 1 <lkey> ( LEFT | RIGHT ) [ COUNT <small> ]
8 LMPOP 2 <lkey> <lkey> ( LEFT | RIGHT ) [ COUNT <small> ]
3 LMPOP <small> ( <lkey> )+ ( LEFT | RIGHT | <word> ) [ COUNT <small> ]
6 BLPOP <lkey> <lkey> 0.001 @fixed
6 BRPOP <lkey> 0.001 @fixed
6 BLMOVE <lkey> <lkey> ( LEFT | RIGHT ) ( LEFT | RIGHT ) 0.001 @fixed
4 BRPOPLPUSH <lkey> <lkey> 0.001 @fixed
6 BLMPOP 0.001 2 <lkey> <lkey> ( LEFT | RIGHT ) [ COUNT <small> ] @fixed
2 BLPOP <lkey> ( -1 | abc | -0.5 | nan ) @fixed
2 BLMPOP 0.001 <small> ( <lkey> )+ ( LEFT | RIGHT ) @fixed
2 DEL <lkey>
2 COPY <lkey> <lkey> REPLACE
2 RENAME <lkey> <lkey>
2 SET <lkey> <val>
3 TYPE <lkey>
1 CONFIG SET list-max-listpack-size ( -2 | -1 | 3 | 128 | -5 ) @fixed
`

// lkey draws keys that mostly hold lists.
func (g *Generator) lkey() []byte {
	if g.rng.Intn(20) == 0 {
		return g.key()
	}
	return strconv.AppendInt([]byte("l:"), int64(g.rng.Intn(6)), 10)
}

// lval draws elements: few different ones, so that they are found again, of all
// the ways to be stored.
func (g *Generator) lval() []byte {
	switch g.rng.Intn(16) {
	case 0:
		return g.val()
	case 1, 2:
		return g.integer()
	case 3:
		return strconv.AppendInt([]byte("Some Text, "), int64(g.rng.Intn(10)), 10)
	case 4:
		return []byte(strings.Repeat("x", g.rng.Intn(90)))
	case 5:
		return []byte(pick(g.rng, []string{"\x00", "\xff\xfe", "12", "-3", "4208", "1052783", "1052784"}))
	}
	return strconv.AppendInt([]byte("element:"), g.skewed(200), 10)
}

// lindex draws an index of a list that may be long.
func (g *Generator) lindex() []byte {
	return g.edgeOr(20, edgeInts, func() int64 { return g.skewed(800) * int64(1-2*g.rng.Intn(2)) })
}
