package difftest

// Members are few, so that commands meet them; sets become large in the eyes of
// Redis at changing sizes. Keys of kind lexkey hold members with equal scores only: where
// they differ, what ranges by bytes find in a skip list depends on chance.
const sortedsetGroup = `
60 ZADD <zkey> ( <score> <zmember> )+
40 ZADD <zkey> [ NX | XX ] [ GT | LT ] [ CH ] ( <score> <zmember> )+
14 ZADD <zkey> [ NX | XX ] [ GT | LT ] [ CH ] INCR <score> <zmember>
4 ZADD <zkey> ( NX | XX | GT | LT | CH | INCR | <word> )+ <score> <zmember>
8 ZADD <key> ( <score> <zmember> )+
20 ZINCRBY <zkey> <score> <zmember>
3 ZINCRBY <key> <score> <zmember>
16 ZREM <zkey> ( <zmember> )+
2 ZREM <key> ( <zmember> )+
10 ZCARD <zkey>
12 ZSCORE <zkey> <zmember>
8 ZMSCORE <zkey> ( <zmember> )+
14 ZRANK <zkey> <zmember> @fixed
14 ZREVRANK <zkey> <zmember> @fixed
14 ZCOUNT <zkey> <scorebound> <scorebound>
24 ZRANGE <zkey> <index> <index> [ REV ] [ WITHSCORES ]
16 ZRANGE <zkey> <scorebound> <scorebound> BYSCORE [ REV ] [ LIMIT <small> <small> ] [ WITHSCORES ]
8 ZRANGE <lexkey> <lexbound> <lexbound> BYLEX [ REV ] [ LIMIT <small> <small> ]
6 ZRANGE <lexkey> <lexbound> <lexbound> ( BYLEX | BYSCORE | REV | LIMIT <small> <small> | WITHSCORES | <word> )+
12 ZREVRANGE <zkey> <index> <index> [ WITHSCORES ]
14 ZRANGEBYSCORE <zkey> <scorebound> <scorebound> [ WITHSCORES ] [ LIMIT <small> <small> ]
14 ZREVRANGEBYSCORE <zkey> <scorebound> <scorebound> [ LIMIT <small> <small> ] [ WITHSCORES ]
3 ZRANGEBYSCORE <key> <scorebound> <scorebound>
12 ZRANGESTORE <zkey> <zkey> <index> <index> [ REV ]
8 ZRANGESTORE <zkey> <zkey> <scorebound> <scorebound> BYSCORE [ REV ] [ LIMIT <small> <small> ]
2 ZRANGESTORE <key> <key> <index> <index>
6 ZREMRANGEBYRANK <zkey> <index> <index>
6 ZREMRANGEBYSCORE <zkey> <scorebound> <scorebound>
10 ZPOPMIN <zkey> [ <small> ]
10 ZPOPMAX <zkey> [ <small> ]
2 ZPOPMIN <key> [ <small> ] [ <small> ]
8 ZMPOP 2 <zkey> <zkey> ( MIN | MAX ) [ COUNT <small> ]
2 ZMPOP <small> <zkey> ( MIN | MAX | <word> ) [ COUNT <small> ] [ COUNT <small> ]
4 BZPOPMIN <zkey> <zkey> 0.005 @fixed
4 BZPOPMAX <key> <zkey> 0.005 @fixed
4 BZMPOP 0.005 2 <zkey> <zkey> ( MIN | MAX ) [ COUNT <small> ] @fixed
2 BZMPOP ( -1 | abc | 0.001 | "" ) 1 <zkey> ( MIN | <word> ) [ COUNT <small> ] @fixed
6 ZRANDMEMBER <zkey> @drawn @fixed
6 ZRANDMEMBER <zkey> <drawn> @drawn @fixed
4 ZRANDMEMBER <zkey> <drawn> WITHSCORES @drawn @fixed
2 ZRANDMEMBER <zkey> <drawn> ( <word> | WITHSCORES <word> ) @fixed
8 ZSCAN <zkey> 0 COUNT 100000 [ MATCH ( m* | *1* | <pattern> ) ] @scanpairs @fixed
2 ZSCAN <zkey> ( abc | 0 COUNT 0 | 0 COUNT <word> | 0 TYPE zset | 0 <word> ) @fixed
8 ZUNION 2 <zkey> <zkey> [ WEIGHTS <score> <score> ] [ AGGREGATE ( SUM | MIN | MAX ) ] [ WITHSCORES ]
8 ZINTER 2 <zkey> <zkey> [ WEIGHTS <score> <score> ] [ AGGREGATE ( SUM | MIN | MAX ) ] [ WITHSCORES ]
6 ZUNION 3 <zkey> <zkey> <key> [ WITHSCORES ]
6 ZINTER 3 <zkey> <zkey> <zkey> [ WITHSCORES ]
6 ZDIFF 2 <zkey> <zkey> [ WITHSCORES ]
3 ZDIFF 3 <zkey> <zkey> <key> [ WITHSCORES ]
3 ZUNION <small> <zkey> <zkey> ( WEIGHTS <score> <score> | AGGREGATE ( SUM | MIN | MAX | <word> ) | WITHSCORES | <word> )+
8 ZINTERCARD 2 <zkey> <zkey> [ LIMIT <small> ]
8 ZUNIONSTORE <zkey> 2 <zkey> <zkey> [ WEIGHTS <score> <score> ] [ AGGREGATE ( SUM | MIN | MAX ) ]
8 ZINTERSTORE <zkey> 2 <zkey> <zkey> [ WEIGHTS <score> <score> ] [ AGGREGATE ( SUM | MIN | MAX ) ]
4 ZDIFFSTORE <zkey> 2 <zkey> <zkey>
2 ZUNIONSTORE <key> <small> <key> <zkey> [ <word> ]
30 ZADD <lexkey> ( 0 <zmember> )+ @fixed
12 ZRANGEBYLEX <lexkey> <lexbound> <lexbound> [ LIMIT <small> <small> ]
12 ZREVRANGEBYLEX <lexkey> <lexbound> <lexbound> [ LIMIT <small> <small> ]
10 ZLEXCOUNT <lexkey> <lexbound> <lexbound>
5 ZREMRANGEBYLEX <lexkey> <lexbound> <lexbound>
8 OBJECT ENCODING ( <zkey> | <lexkey> )
4 DEL ( <zkey> | <lexkey> )
4 COPY <zkey> ( <zkey> | <key> ) REPLACE
4 RENAME <zkey> <zkey>
3 SET <zkey> <val>
3 CONFIG SET zset-max-listpack-entries ( 0 | 4 | 16 | 128 | 512 ) @fixed
2 CONFIG SET zset-max-listpack-value ( 0 | 8 | 64 | 300 ) @fixed
`
