package difftest

// Elements of equal weight are told apart by their bytes but with ALPHA and BY, where
// their order is left to chance, as that of a set is which is not sorted.
const sortGroup = `
20 SORT <key> [ LIMIT <few> <few> ] [ ASC | DESC ] @fixed
14 SORT <key> [ LIMIT <few> <few> ] [ DESC ] ALPHA [ GET # ] @fixed
14 SORT <key> BY ( w:* | h:*->f ) [ LIMIT <few> <few> ] [ DESC ] [ GET # GET ( w:* | h:*->f | k:* | w:1 ) ] @fixed
14 SORT <key> [ BY ( w:* | h:*->f ) ] [ GET ( w:* | h:*->f | # ) ] [ LIMIT <few> <few> ] STORE <key> @fixed
8 SORT <key> ALPHA [ DESC ] STORE <key> @fixed
8 SORT <key> BY nosort STORE <key> @fixed
4 SORT <key> ( LIMIT <few> <few> | GET # | ASC | DESC | STORE <key> | <word> )+ @fixed
10 SORT_RO <key> [ LIMIT <few> <few> ] [ DESC ] @fixed
3 SORT_RO <key> ( GET # | ALPHA | STORE <key> | LIMIT 1 )+ @fixed
14 RPUSH <key> ( <few> | 1.5 | a | w:1 | -7 | 300 )+ @fixed
14 SADD <key> ( <few> | 17 | 1.5 | -7 | 300 )+ @fixed
10 ZADD <key> 1 <few> 2 <few> 3 17 @fixed
8 SET ( w:1 | w:2 | w:3 | w:17 | w:-7 ) <few> @fixed
2 SET w:1 abc @fixed
8 HSET ( h:1 | h:2 | h:3 | h:17 | h:-7 ) f <few> @fixed
8 DEL ( <key> | w:1 | h:2 )
4 OBJECT ENCODING <key>
`
