package config

// The versions that the server reports: its own, and that of the Redis whose
// behaviour it follows, which clients and tools look at.
const (
	Version      = "0.1.0"
	RedisVersion = "7.2.6"
)
