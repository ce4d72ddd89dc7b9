package rdb

// Versions of files: what redis-server 7.0, 7.2 and 7.4 write.
const (
	Version70 = 10
	Version72 = 11
	Version74 = 12
)

// Opcodes: what a byte at the beginning of an entry means when it is no type.
// Seen in files of Redis 7.4 and of KeyDB; the numbers below 244 are types.
const (
	opSlotInfo      = 244 // Valkey, Redis 8: slot, keys, expires
	opFunction      = 245 // a library of functions: its code
	opFunctionPreGA = 246 // the same in release candidates of 7.0, with other fields
	opModuleAux     = 247 // data of a module that belongs to no key
	opIdle          = 248 // LRU: seconds since last access, a length
	opFreq          = 249 // LFU: the logarithmic counter, a byte
	opAux           = 250 // a name and a value, strings
	opResizeDB      = 251 // keys and keys that expire, lengths
	opExpireMillis  = 252 // Unix time in ms, 8 bytes little endian
	opExpireSeconds = 253 // Unix time in seconds, 4 bytes little endian
	opSelectDB      = 254 // number of the database, a length
	opEOF           = 255
)

// Types of values, with the first version of Redis that wrote them.
const (
	typeString           = 0
	typeList             = 1  // strings
	typeSet              = 2  // strings
	typeZSet             = 3  // members with scores as text
	typeHash             = 4  // fields and values
	typeZSet2            = 5  // 4.0: members with scores as binary doubles
	typeModulePreGA      = 6  // 4.0 candidates; cannot be skipped
	typeModule2          = 7  // 4.0: module id, then typed parts to an end mark
	typeHashZipmap       = 9  // 2.6 read, 2.4 wrote
	typeListZiplist      = 10 // 2.4
	typeSetIntset        = 11 // 2.4
	typeZSetZiplist      = 12 // 2.4
	typeHashZiplist      = 13 // 2.6
	typeListQuicklist    = 14 // 3.2: ziplists
	typeStream           = 15 // 5.0
	typeHashListpack     = 16 // 7.0
	typeZSetListpack     = 17 // 7.0
	typeListQuicklist2   = 18 // 7.0: listpacks and plain nodes
	typeStream2          = 19 // 7.0: with first id, deleted id, entries added
	typeSetListpack      = 20 // 7.2
	typeStream3          = 21 // 7.2: with active times of consumers
	typeHashMetaPreGA    = 22 // 7.4 candidates: field TTLs as absolute times
	typeHashListpackExGA = 23 // 7.4 candidates
	typeHashMeta         = 24 // 7.4: the first deadline, then fields with offsets from it
	typeHashListpackEx   = 25 // 7.4: the first deadline, then a listpack of field, value, deadline
)

// Kinds of nodes in a quicklist 2.
const (
	nodePlain  = 1 // one element, as it is
	nodePacked = 2 // a listpack
)
