package difftest

// IDs of entries grow with the batches, so that most XADD succeed and ranges hit what is
// there. XADD with * and times to wait for are not here: their replies depend on the
// clock. How long an entry is idle does too; what is asked for is nothing or much more
// than a test lasts.
const streamGroup = `
40 XADD <skey> <newid> a <sval>
40 XADD <skey> <newid> a <sval> b <sval>
20 XADD <skey> <newid> ( <sfield> <sval> )+
4 XADD <skey> <newid> ( <sfield> <sval> )*
12 XADD <skey> [ NOMKSTREAM ] ( MAXLEN [ = | ~ ] <trimlen> | MINID [ = | ~ ] <sid> | MAXLEN ~ <trimlen> LIMIT <trimlen> | MINID ~ <sid> LIMIT <trimlen> ) <newid> a <sval>
3 XADD <skey> ( MAXLEN | MINID | LIMIT | NOMKSTREAM | ~ | = | <small> | <word> )+ <newid> a b
2 XADD <skey> ( <sid> | <badid> ) a b
10 XTRIM <skey> ( MAXLEN [ = | ~ ] <trimlen> | MINID [ = | ~ ] <sid> )
6 XTRIM <skey> ( MAXLEN | MINID ) ~ ( <trimlen> | <sid> ) LIMIT <trimlen>
2 XTRIM <skey> ( MAXLEN | MINID | LIMIT | ~ | = | <small> | <word> )+
24 XDEL <skey> ( <sid> )+
6 XDEL <skey> ( <sid> )*
2 XDEL <skey> ( <sid> | <badid> )+
10 XLEN <skey>
14 XRANGE <skey> ( - | <bound> ) ( + | <bound> ) [ COUNT <trimlen> ]
12 XREVRANGE <skey> ( + | <bound> ) ( - | <bound> ) [ COUNT <trimlen> ]
2 XRANGE <skey> ( <bound> | <badid> ) ( <bound> | <badid> ) ( COUNT | <small> | <word> )+
2 XREVRANGE <skey> ( <bound> | <badid> ) ( <bound> | <badid> ) ( COUNT | <small> | <word> )+
12 XREAD [ COUNT <trimlen> ] STREAMS <skey> <sid>
4 XREAD [ COUNT <trimlen> ] STREAMS <skey> <skey> <sid> ( <sid> | $ )
2 XREAD [ COUNT 2 ] BLOCK ( 1 | 2 | -1 | abc ) STREAMS <skey> ( <sid> | $ | > ) @fixed
2 XREAD ( COUNT <small> | NOACK | GROUP g c | STREAMS | <word> )+ STREAMS <skey> ( <sid> | <badid> )
20 XREADGROUP GROUP <sgroup> <consumer> [ COUNT <trimlen> ] [ NOACK ] STREAMS <skey> >
8 XREADGROUP GROUP <sgroup> <consumer> [ COUNT <trimlen> ] STREAMS <skey> ( 0 | <sid> )
3 XREADGROUP GROUP <sgroup> <consumer> COUNT 2 STREAMS <skey> <skey> ( > | 0 ) ( > | <sid> )
2 XREADGROUP GROUP <sgroup> <consumer> COUNT 2 BLOCK ( 1 | -1 | abc ) STREAMS <skey> ( > | $ | 0 ) @fixed
2 XREADGROUP ( COUNT <small> | NOACK | GROUP g c | STREAMS | <word> )+ STREAMS <skey> ( > | <badid> )
24 XGROUP CREATE <skey> <sgroup> ( 0 | $ | <sid> ) [ MKSTREAM ] [ ENTRIESREAD <trimlen> ]
6 XGROUP SETID <skey> <sgroup> ( 0 | $ | <sid> ) [ ENTRIESREAD <trimlen> ]
2 XGROUP DESTROY <skey> <sgroup>
5 XGROUP CREATECONSUMER <skey> <sgroup> <consumer>
4 XGROUP DELCONSUMER <skey> <sgroup> <consumer>
2 XGROUP ( CREATE | SETID | DESTROY | DELCONSUMER | <word> ) <skey> <sgroup> ( MKSTREAM | ENTRIESREAD | <badid> | <small> | <word> )+
14 XACK <skey> <sgroup> ( <sid> )+
4 XACK <skey> <sgroup> ( <sid> )*
2 XACK <skey> <sgroup> ( <sid> | <badid> )+
10 XPENDING <skey> <sgroup>
10 XPENDING <skey> <sgroup> [ IDLE ( 0 | 1000000000 ) ] ( - | <bound> ) ( + | <bound> ) <trimlen> [ <consumer> ] @pending
2 XPENDING <skey> <sgroup> ( IDLE | - | + | <badid> | <small> | <word> )+ @pending @fixed
14 XCLAIM <skey> <sgroup> <consumer> ( 0 | 1000000000 ) ( <sid> )+ [ IDLE ( 0 | 2000000000 ) | TIME 1000000000 ] [ RETRYCOUNT <small> ] [ FORCE ] [ JUSTID ] [ LASTID <sid> ] @fixed
2 XCLAIM <skey> <sgroup> <consumer> ( 0 | -1 | abc ) ( <sid> | <badid> | IDLE | TIME | RETRYCOUNT | FORCE | LASTID | -1 )+ @fixed
10 XAUTOCLAIM <skey> <sgroup> <consumer> ( 0 | 1000000000 ) ( 0 | <bound> ) [ COUNT <trimlen> ] [ JUSTID ] @fixed
2 XAUTOCLAIM <skey> <sgroup> <consumer> ( 0 | -1 | abc ) ( <bound> | <badid> ) ( COUNT | JUSTID | <small> | <word> )+ @fixed
10 XINFO STREAM <skey>
8 XINFO STREAM <skey> FULL [ COUNT <trimlen> ]
8 XINFO GROUPS <skey>
6 XINFO CONSUMERS <skey> <sgroup>
2 XINFO ( STREAM | GROUPS | CONSUMERS | <word> ) <skey> ( FULL | COUNT | <small> | <word> )+ @fixed
6 XSETID <skey> <newid> [ ENTRIESADDED <trimlen> ] [ MAXDELETEDID <sid> ]
2 XSETID <skey> ( <sid> | <badid> ) ( ENTRIESADDED | MAXDELETEDID | <small> | <sid> )+
2 DEL <skey>
2 COPY <skey> <skey> REPLACE
1 RENAME <skey> <skey>
1 OBJECT ENCODING <skey>
1 TYPE <skey>
1 SET <skey> <word>
1 CONFIG SET stream-node-max-entries ( 1 | 3 | 10 | 100 | 0 ) @fixed
2 COMMAND GETKEYS ( XREAD STREAMS <skey> 0 | XREADGROUP GROUP g STREAMS COUNT 1 STREAMS <skey> <skey> 1 2 | XREAD COUNT 1 STREAMS a b 1 | XREAD FOO STREAMS a 1 | XADD <skey> 1 a b ) @fixed
`
