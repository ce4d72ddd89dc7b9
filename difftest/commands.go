package difftest

// groups are the templates of the command groups, by the name that -groups
// takes.
func groups() map[string]string {
	return map[string]string{
		"string":       stringGroup,
		"bitmap":       bitmapGroup,
		"hash":         hashGroup,
		"hyperloglog":  hyperloglogGroup,
		"sortedset":    sortedsetGroup,
		"geo":          geoGroup,
		"list":         listGroup,
		"generic":      genericGroup,
		"connection":   connectionGroup,
		"transactions": transactionGroup,
		"server":       serverGroup,
		"set":          setGroup,
		"sort":         sortGroup,
		"stream":       streamGroup,
	}
}

const stringGroup = `
60 SET <key> <val>
20 SET <key> <val> ( NX | XX | GET | NX GET | XX GET | KEEPTTL | KEEPTTL GET )
15 SET <key> <val> [ NX | XX | GET ] ( EX <sec> | PX <ms> | EXAT <latersec> | PXAT <laterms> ) [ NX | XX | GET | KEEPTTL | PX <ms> ]
4 SET <key> <val> <word>
60 GET <key>
8 GETDEL <key>
12 GETEX <key> [ EX <sec> | PX <ms> | EXAT <latersec> | PXAT <laterms> | PERSIST ]
3 GETEX <key> ( PERSIST | EX <sec> | <word> ) ( PERSIST | PX <ms> | <word> )
10 GETSET <key> <val>
10 SETNX <key> <val>
6 SETEX <key> <sec> <val>
6 PSETEX <key> <ms> <val>
14 MGET ( <key> )+
10 MSET ( <key> <val> )+
8 MSETNX ( <key> <val> )+
20 APPEND <key> <val>
12 STRLEN <key>
20 GETRANGE <key> <index> <index>
5 SUBSTR <key> <index> <index>
14 SETRANGE <key> <offset> <val>
20 INCR <key>
12 DECR <key>
16 INCRBY <key> <int>
10 DECRBY <key> <int>
20 INCRBYFLOAT <key> <float>
8 LCS <key> <key> [ LEN ]
8 LCS <key> <key> [ IDX ] [ MINMATCHLEN <small> ] [ WITHMATCHLEN ]
3 LCS <key> <key> ( IDX | LEN | WITHMATCHLEN | MINMATCHLEN <small> | <word> )+
`

const bitmapGroup = `
25 SETBIT <key> <bitoffset> <bit>
20 GETBIT <key> <bitoffset>
14 BITCOUNT <key>
14 BITCOUNT <key> <index> <index> [ BYTE | BIT ]
4 BITCOUNT <key> <index> [ <index> <index> ] [ <word> ]
16 BITPOS <key> <bit> [ <index> ]
14 BITPOS <key> <bit> <index> <index> [ BYTE | BIT ]
14 BITOP ( AND | OR | XOR ) <key> ( <key> )+
6 BITOP NOT <key> <key>
3 BITOP ( AND | NOT | <word> ) ( <key> )+
20 BITFIELD <key> ( GET <fieldtype> <fieldoffset> | SET <fieldtype> <fieldoffset> <int> | INCRBY <fieldtype> <fieldoffset> <int> | OVERFLOW ( WRAP | SAT | FAIL | <word> ) )+
4 BITFIELD <key>
8 BITFIELD_RO <key> ( GET <fieldtype> <fieldoffset> )+
3 BITFIELD_RO <key> ( GET <fieldtype> <fieldoffset> | SET <fieldtype> <fieldoffset> <int> | OVERFLOW WRAP )+
`

const genericGroup = `
20 DEL ( <key> )+
8 UNLINK ( <key> )+
14 EXISTS ( <key> )+
10 TOUCH ( <key> )+
10 TYPE <key>
12 EXPIRE <key> <sec> [ NX | XX | GT | LT ]
8 PEXPIRE <key> <ms> [ NX | XX | GT | LT ]
10 EXPIREAT <key> <atsec> [ NX | XX | GT | LT ]
8 PEXPIREAT <key> <atms> [ NX | XX | GT | LT ]
3 EXPIREAT <key> <atsec> ( NX | XX | GT | LT | <word> )+
12 TTL <key> @second @fixed
12 PTTL <key> @milliseconds @fixed
10 EXPIRETIME <key> @second
10 PEXPIRETIME <key> @milliseconds
12 PERSIST <key> @fixed
4 KEYS <pattern> @unordered
6 SCAN ( 0 | <int> ) [ MATCH <pattern> ] [ COUNT <count> ] [ TYPE ( string | list | nosuchtype ) ] @shape
3 SCAN 0 ( MATCH | COUNT | <word> )+ @shape
4 RANDOMKEY @shape
12 RENAME <key> <key>
10 RENAMENX <key> <key>
12 COPY <key> <key> [ DB <db> ] [ REPLACE ]
4 COPY <key> <key> ( DB <db> | REPLACE | <word> )+
10 MOVE <key> <db>
10 RESTORE <key> 0 <payload> [ REPLACE ] [ ABSTTL ] [ FREQ <count> ]
6 RESTORE <key> <ms> <payload> [ REPLACE ]
4 RESTORE <key> <atms> <payload> ABSTTL [ REPLACE ]
4 RESTORE <key> 0 <payload> ( REPLACE | ABSTTL | IDLETIME 0 | FREQ <count> | <word> )+
1 RESTORE-ASKING <key> 0 <payload> [ REPLACE ]
10 OBJECT ENCODING <key>
4 OBJECT REFCOUNT <key>
4 OBJECT IDLETIME <key> @idle
4 OBJECT FREQ <key>
2 OBJECT ( <word> | ENCODING <key> <key> | IDLETIME )
`

// HELLO with options is not garbled: Redis 7.0 carries out the options before a
// mistake, Redis 7.2 and we none of them.
const connectionGroup = `
6 PING [ <val> ]
4 ECHO <val>
14 SELECT <db>
4 HELLO 2 @hello
5 HELLO 3 @hello
3 HELLO ( 1 | 4 | abc | <int> ) @hello
2 HELLO ( 2 | 3 ) AUTH default <word> @hello @fixed
2 HELLO ( 2 | 3 ) SETNAME <word> @hello @fixed
2 HELLO 3 ( AUTH <word> | SETNAME | AUTH nosuchuser <word> | <word> ) @hello @fixed
3 AUTH <word>
3 AUTH ( default | nosuchuser ) <word>
4 CLIENT SETNAME <word>
4 CLIENT GETNAME
3 CLIENT ID @shape
2 CLIENT INFO @shape @fixed
2 CLIENT LIST [ TYPE ( normal | replica | master | pubsub | <word> ) ] @shape
2 CLIENT LIST ID ( 999999 | 0 | -1 | abc ) @shape
3 CLIENT NO-EVICT ( ON | OFF | <word> ) @fixed
3 CLIENT KILL ( ID 999999 | ADDR 1.2.3.4:5 | LADDR 1.2.3.4:5 | USER nosuchuser | ID abc | TYPE <word> | SKIPME maybe | 1.2.3.4:5 | MAXAGE ) @fixed
2 CLIENT KILL ID 999999 ( TYPE normal | USER default | SKIPME no ) @fixed
3 CLIENT UNBLOCK ( 999999 | abc ) [ TIMEOUT | ERROR | <word> ] @fixed
2 CLIENT UNPAUSE @fixed
2 CLIENT PAUSE ( abc | -1 | 0 maybe ) @fixed
2 CLIENT GETREDIR @fixed
2 CLIENT TRACKINGINFO @fixed
2 CLIENT CACHING ( YES | NO | MAYBE ) @fixed
2 CLIENT REPLY ( ON | MAYBE ) @fixed
2 CLIENT <word> @fixed
2 RESET @fixed
1 QUIT @fixed @closes
2 NOSUCHCOMMAND <word> <val>
2 GET
2 SET <key>
`

const transactionGroup = `
30 MULTI @fixed
24 EXEC @fixed
5 DISCARD @fixed
12 WATCH ( <key> )+
4 UNWATCH
`

const serverGroup = `
6 DBSIZE
1 FLUSHDB [ SYNC | ASYNC | <word> ]
1 FLUSHALL [ SYNC | ASYNC | <word> ]
5 SWAPDB <db> <db>
3 TIME @shape
3 MEMORY USAGE <key> [ SAMPLES <small> ] @usage
1 MEMORY <word> @fixed
3 LASTSAVE @shape
3 ROLE
2 COMMAND COUNT @shape
4 COMMAND GETKEYS ( GET <key> | SET <key> <val> | MSET ( <key> <val> )+ | MGET ( <key> )+ | COPY <key> <key> | BITOP AND <key> ( <key> )+ | PING x | LCS <key> <key> | GET <key> <key> | NOSUCH <key> | OBJECT ENCODING <key> ) @fixed
4 COMMAND GETKEYSANDFLAGS ( GET <key> | SET <key> <val> | SET <key> <val> GET | MSET <key> <val> | RENAME <key> <key> | COPY <key> <key> | BITFIELD <key> GET u8 0 | BITFIELD <key> SET u8 0 1 | GETEX <key> | PING x ) @fixed
1 COMMAND <word> @fixed
3 CONFIG GET ( maxmemory-samples | hz | maxmemory-policy | lfu-* | proto-max-bulk-len | nosuchparameter | maxmemory | *-threshold | timeout | databases ) @pairs
2 CONFIG GET hz timeout <word> @pairs
3 CONFIG SET ( maxmemory-samples 0 | maxmemory-samples abc | maxmemory-policy nosuchpolicy | hz abc | nosuchparameter 1 | databases 3 | maxmemory -1 | maxmemory abc | proto-max-bulk-len 10 | timeout -1 ) @fixed
2 CONFIG SET ( timeout 0 timeout 0 | lfu-decay-time 1 nosuch 2 | hz 10 lfu-log-factor 10 | maxmemory 0b lfu-log-factor abc ) @fixed
1 CONFIG RESETSTAT @fixed
1 CONFIG <word> @fixed
1 INFO [ server | clients | memory | stats | cpu | keyspace | nosuchsection | everything ] @shape @fixed
1 INFO ( keyspace | nosuchsection ) @info @fixed
1 DEBUG SLEEP 0 @fixed
`
