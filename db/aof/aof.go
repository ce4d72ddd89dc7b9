// Package aof is the append-only file as Redis 7 keeps it: a folder with a base file, incremental files behind it,
// and a manifest that names them. Store looks after the files, Appender writes the effects of commands, Scanner reads
// them back, Check does the work of redis-check-aof.
package aof
