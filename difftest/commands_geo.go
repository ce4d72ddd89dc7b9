package difftest

// Places lie all over the world, near its edges, and close together. Distances are not
// stored, but in text cases: one in ten thousand differs in its last digit, as sines do.
const geoGroup = `
60 GEOADD <gkey> ( <lon> <lat> <gmember> )+
40 GEOADD <gkey> ( <lon> <lat> <gmember> )*
12 GEOADD <gkey> [ NX | XX ] [ CH ] ( <lon> <lat> <gmember> )+
3 GEOADD <gkey> ( NX | XX | CH | <word> )+ <lon> <lat> <gmember>
3 GEOADD <key> <lon> <lat> <gmember>
20 GEODIST <gkey> <gmember> <gmember> [ <unit> ]
2 GEODIST <key> <gmember> <gmember> [ <unit> ] [ <unit> ]
14 GEOHASH <gkey> ( <gmember> )+
14 GEOPOS <gkey> ( <gmember> )+
2 GEOPOS <key>
20 GEOSEARCH <gkey> FROMLONLAT <lon> <lat> BYRADIUS <length> <unit> [ ASC | DESC ] [ COUNT <small> [ ANY ] ] [ WITHCOORD ] [ WITHDIST ] [ WITHHASH ]
20 GEOSEARCH <gkey> FROMMEMBER <gmember> BYRADIUS <length> <unit> [ ASC | DESC ] [ COUNT <small> [ ANY ] ] [ WITHDIST ]
20 GEOSEARCH <gkey> FROMLONLAT <lon> <lat> BYBOX <length> <length> <unit> [ ASC | DESC ] [ COUNT <small> [ ANY ] ] [ WITHDIST ]
20 GEOSEARCH <gkey> FROMMEMBER <gmember> BYBOX <length> <length> <unit> [ ASC | DESC ] [ COUNT <small> [ ANY ] ] [ WITHDIST ] [ WITHHASH ]
4 GEOSEARCH <gkey> ( FROMMEMBER <gmember> | FROMLONLAT <lon> <lat> | BYRADIUS <length> <unit> | BYBOX <length> <length> <unit> | ASC | DESC | COUNT <small> | ANY | WITHDIST | WITHCOORD | WITHHASH | STOREDIST | <word> )+
3 GeoSearch <gkey> ( FROMMEMBER <gmember> | ASC ASC ) ( BYRADIUS <length> <unit> | DESC DESC ) [ WITHDIST ] [ ANY ] [ ASC ]
12 GEOSEARCHSTORE <gkey> <gkey> FROMLONLAT <lon> <lat> BYRADIUS <length> <unit> [ COUNT <small> [ ANY ] ]
8 GEOSEARCHSTORE <gkey> <gkey> FROMMEMBER <gmember> BYBOX <length> <length> <unit> [ ASC | DESC ]
2 GEOSEARCHSTORE <key> <gkey> FROMMEMBER <gmember> BYRADIUS <length> <unit> [ WITHDIST | STORE <key> ]
14 GEORADIUS <gkey> <lon> <lat> <length> <unit> [ WITHCOORD ] [ WITHDIST ] [ WITHHASH ] [ COUNT <small> [ ANY ] ] [ ASC | DESC ]
8 GEORADIUS <gkey> <lon> <lat> <length> <unit> [ ASC | DESC ] STORE <gkey> [ STORE <key> ]
14 GEORADIUSBYMEMBER <gkey> <gmember> <length> <unit> [ WITHCOORD ] [ WITHDIST ] [ WITHHASH ] [ COUNT <small> [ ANY ] ] [ ASC | DESC ]
8 GEORADIUSBYMEMBER <gkey> <gmember> <length> <unit> STORE <gkey>
8 GEORADIUS_RO <gkey> <lon> <lat> <length> <unit> [ WITHDIST ] [ COUNT <small> [ ANY ] ] [ ASC | STORE <gkey> ]
8 GEORADIUSBYMEMBER_RO <gkey> <gmember> <length> <unit> [ WITHDIST ] [ COUNT <small> [ ANY ] ] [ DESC | STOREDIST <gkey> ]
2 GEORADIUS <gkey> <lon> <lat> 0 m STOREDIST <gkey>
3 ZADD <gkey> <score> <gmember>
10 ZRANGE <gkey> 0 -1 WITHSCORES
6 ZREM <gkey> ( <gmember> )+
4 DEL <gkey>
3 OBJECT ENCODING <gkey>
2 SET <gkey> <val>
`
