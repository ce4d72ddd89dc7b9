# Everything a developer types. `make run` serves on port 6379, `make test` checks.
GO     ?= go
BIN    := bin/heddle-server
PKGS   ?= ./...
VERSION_FLAGS = -X main.commit=$(shell git rev-parse --short=8 HEAD 2>/dev/null) -X main.dirty=$(shell git status --porcelain 2>/dev/null | head -c1 | wc -c)

# Differential test: random commands per run, worker counts, seed (0: by the clock).
N       ?= 100000
WORKERS ?= 1,2,8
SEED    ?= 0
# Redis' Tcl suite: the units to run, "all" for every unit there is. The default are those whose commands we have.
UNITS   ?= unit/type/incr unit/bitfield unit/protocol unit/quit unit/limits unit/info-command unit/type/string unit/bitops \
	unit/querybuf unit/keyspace unit/expire unit/scan unit/multi unit/other unit/introspection unit/maxmemory \
	unit/type/list unit/type/list-2 unit/type/list-3 unit/type/set unit/type/zset unit/type/hash unit/type/stream unit/type/stream-cgroups \
	unit/sort unit/geo unit/hyperloglog unit/pubsub unit/pubsubshard \
	unit/aofrw unit/dump unit/shutdown integration/aof integration/aof-multi-part integration/rdb integration/corrupt-dump integration/corrupt-dump-fuzzer \
	integration/convert-zipmap-hash-on-load integration/convert-ziplist-hash-on-load integration/convert-ziplist-zset-on-load integration/logging integration/shutdown
# Benchmarks against other servers; see benchmarks/compare.
BENCH   ?=
FUZZTIME ?= 10s

.PHONY: all build run test test-plain test-race lint diff redis-suite bench gobench fuzz clean

all: build

# The static server binary.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(VERSION_FLAGS)' -o $(BIN) ./cmd/heddle-server

# Start the server: make run ARGS="--port 7000".
run: build
	$(BIN) $(ARGS)

# All tests, with the invariants of checked builds.
test:
	$(GO) test -tags invariants -timeout 9m $(PKGS)

# Tests without them, as the server ships: all, or those that RUN names.
test-plain:
	$(GO) test -timeout 9m -run '$(RUN)' $(PKGS)

test-race:
	$(GO) test -race $(FLAGS) -timeout 15m $(PKGS)

lint:
	scripts/lint

# Random commands to Heddle and to redis-server, replies compared byte for byte.
diff: build
	$(GO) run ./difftest/cmd/difftest -heddle $(BIN) -n $(N) -workers $(WORKERS) -seed $(SEED)

# Redis' own test suite with Heddle in the place of its server.
redis-suite: build
	scripts/redis-suite $(UNITS)

# Heddle beside other servers: make bench BENCH="-turns 5 -keys 10000000".
bench: build
	$(GO) run ./benchmarks/compare -heddle $(BIN) $(BENCH)

# Go benchmarks beside the code.
gobench:
	$(GO) test -run '^$$' -bench . -benchmem $(PKGS)

# Every fuzz target in turn for FUZZTIME each.
fuzz:
	scripts/fuzz $(FUZZTIME)

clean:
	rm -rf bin
