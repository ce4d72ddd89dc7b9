package difftest

// Half of the commands go to keys that only hashes are at, which grow, so that all
// encodings and the ways between them are met.
const hashGroup = `
50 HSET ( <hashkey> | <key> ) ( <field> <fval> )+
12 HSET <hashkey> ( <field> <fval> )+ [ <field> ]
8 HMSET ( <hashkey> | <key> ) ( <field> <fval> )+
10 HSETNX ( <hashkey> | <key> ) <field> <fval>
24 HGET ( <hashkey> | <key> ) <field>
12 HMGET ( <hashkey> | <key> ) ( <field> )+
14 HDEL ( <hashkey> | <key> ) ( <field> )+
8 HEXISTS ( <hashkey> | <key> ) <field>
8 HSTRLEN ( <hashkey> | <key> ) <field>
10 HLEN ( <hashkey> | <key> )
10 HGETALL ( <hashkey> | <key> ) @pairs
6 HKEYS ( <hashkey> | <key> ) @unordered
6 HVALS ( <hashkey> | <key> ) @unordered
24 HINCRBY ( <hashkey> | <key> ) <field> <int>
20 HINCRBYFLOAT ( <hashkey> | <key> ) <field> <float>
5 HRANDFIELD ( <hashkey> | <key> ) @drawn
8 HRANDFIELD ( <hashkey> | <key> ) <few> [ WITHVALUES ] @drawn @fixed
3 HRANDFIELD ( <hashkey> | <key> ) ( 1000000 | 4611686018427387903 ) [ WITHVALUES ] @drawn @fixed
3 HRANDFIELD <hashkey> ( abc | -9223372036854775808 | 9223372036854775808 ) [ WITHVALUES ] @fixed
2 HRANDFIELD <hashkey> ( 4611686018427387904 | -4611686018427387904 ) WITHVALUES @fixed
2 HRANDFIELD <hashkey> ( 3 | -3 ) ( <word> | WITHVALUES <word> ) @fixed
8 HSCAN ( <hashkey> | <key> ) 0 COUNT 1000000 [ MATCH ( * | f:* | ? | *[1-5] ) ] @scanned @fixed
3 HSCAN ( <hashkey> | <key> ) ( 0 | <int> ) ( MATCH | COUNT | <small> | <word> )+ @shape
6 OBJECT ENCODING <hashkey>
4 DEL <hashkey>
3 COPY <hashkey> <hashkey> REPLACE
2 RENAME <hashkey> <hashkey>
1 TYPE <hashkey>
2 CONFIG SET hash-max-listpack-entries ( 0 | 4 | 20 | 128 | 512 ) @fixed
2 CONFIG SET hash-max-listpack-value ( 0 | 5 | 20 | 64 | 10000 ) @fixed
`
