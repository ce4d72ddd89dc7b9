// Package rdb reads and writes the files in which Redis keeps a keyspace, and
// the payloads of DUMP and RESTORE, which are one value of such a file.
//
// A file is "REDIS" and four digits of version, then entries that begin with an
// opcode, then an end mark and eight bytes of checksum:
//
//	REDIS0011
//	FA name value        facts about the file, strings
//	F5 code              a library of functions
//	FE db                the keys that follow are of this database
//	FB keys expires      how many there will be
//	FC ms | FD s         when the next key expires
//	F8 s | F9 byte       how long it was idle, or how often it was used
//	type key value       a key; types are below
//	FF                   the end
//	crc                  of all that is above, little endian; zeros for none
//
// What the bytes mean is told by the public description of the format (the page
// "Redis RDB File Format" and those of listpack and LZF), and by files that
// servers of many versions wrote. Everything here is written from those.
package rdb
