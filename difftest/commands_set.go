package difftest

const setGroup = `
60 SADD <key> ( <member> )*
24 SREM <key> ( <member> )*
12 SCARD <key>
16 SISMEMBER <key> <member>
10 SMISMEMBER <key> ( <member> )+
20 SMEMBERS <key> @unordered
14 SMOVE <key> <key> <member>
10 SPOP <key> @taken
8 SPOP <key> ( 0 | 1 | 2 | 3 | 7 | 30 | 200 | 1000000 | 9223372036854775807 ) @taken
2 SPOP <key> ( -1 | abc | 9223372036854775808 | 1 2 ) @fixed
6 SRANDMEMBER <key> @drawn
8 SRANDMEMBER <key> ( -3 | -1 | 0 | 1 | 2 | 5 | 40 | -40 | 200 | -1100 | 1000000 | 9223372036854775807 ) @drawn @fixed
2 SRANDMEMBER <key> ( abc | -9223372036854775808 | 9223372036854775808 | 1 2 ) @fixed
14 SINTER ( <key> )+ @unordered
14 SUNION ( <key> )+ @unordered
14 SDIFF ( <key> )+ @unordered
12 SINTERCARD ( 1 <key> | 2 <key> <key> | 3 <key> <key> <key> | <small> ( <key> )+ ) [ LIMIT <small> ]
2 SINTERCARD ( 1 <key> | 2 <key> <key> | 3 <key> <key> <key> | <small> ( <key> )+ ) ( LIMIT <small> | LIMIT | <word> )+
10 SINTERSTORE <key> ( <key> )+
10 SUNIONSTORE <key> ( <key> )+
10 SDIFFSTORE <key> ( <key> )+
8 SSCAN <key> 0 COUNT 1000000 [ MATCH ( * | m:* | 1* | ? | *[05] ) ] @scanned @fixed
3 SSCAN <key> ( 0 | <int> ) ( MATCH | COUNT | <small> | <word> )+ @shape
4 OBJECT ENCODING <key>
6 DEL <key>
2 COPY <key> <key> REPLACE
2 RENAME <key> <key>
2 TYPE <key>
`
