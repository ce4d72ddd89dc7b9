package difftest

// What is corrupt is changed by one element at a time: with several, Redis keeps
// those that it added before the mistake shows. Values that only these commands
// write take any number.
const hyperloglogGroup = `
60 PFADD <hkey> ( <element> )+
10 PFADD <key> ( <element> | <val> )
4 PFADD <key>
30 PFCOUNT <hkey>
10 PFCOUNT <key>
12 PFCOUNT ( <hkey> | <key> )+
14 PFMERGE <hkey> ( <hkey> )+
6 PFMERGE <key> ( <key> | <hkey> )+
3 PFMERGE <hkey>
12 PFDEBUG ( GETREG | DECODE | ENCODING | TODENSE | <word> ) <hkey>
4 PFDEBUG ( GETREG | DECODE | ENCODING | TODENSE ) <key>
2 PFDEBUG ( GETREG | DECODE | ENCODING | TODENSE ) [ <key> <key> ]
20 GET <hkey>
6 OBJECT ENCODING <hkey>
4 DEL <hkey>
2 COPY <hkey> <key> REPLACE
3 SET <key> <hll>
4 SETRANGE <key> <small> <val>
2 APPEND <key> <val>
2 CONFIG SET hll-sparse-max-bytes ( 0 | 20 | 64 | 300 | 3000 | 16000 ) @fixed
`
