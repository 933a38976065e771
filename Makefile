# Everything a developer runs. `make test` needs Go alone; tests on a real Apache
# Kafka skip, with a reason, where Java or Maven is missing.

GO ?= go

GOLANGCI_VERSION := v2.15.0
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/sluice
GOLANGCI := $(CACHE)/golangci-lint-$(GOLANGCI_VERSION)/golangci-lint

# The race detector needs cgo, and so a C compiler; without one Go says 0 here.
RACE := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
GOBUILD := CGO_ENABLED=0 $(GO) build -buildvcs=false -trimpath -ldflags '-s -w -X main.version=$(VERSION)'
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
FUZZTIME ?= 30s
N ?= 100000
SEED ?= 1
BENCH ?= -size M -runs 3
BENCH_BUDGET ?= -size XL -compression zstd

.PHONY: all build test lint format-check dist bench bench-budget fuzz fuzz-sql soak clean

all: lint test build

build: ## bin/sluice, one static binary
	$(GOBUILD) -o bin/sluice ./cmd/sluice

test:
	@$(if $(RACE),true,echo "make test: no C compiler, so the tests run without the race detector")
	$(GO) test $(RACE) -timeout 20m ./...
	@# At their full size, which the detector would make twentyfold slower.
	$(if $(RACE),$(GO) test -timeout 10m ./engine/state)
	@$(if $(RACE),cd internal/duckoracle && $(GO) test $(RACE) -timeout 10m ./...,echo "make test: no C compiler, so random queries are not held to DuckDB")

lint: format-check $(GOLANGCI)
	$(GO) vet ./...
	@cd internal/duckoracle && $(GO) mod tidy -diff || { echo "internal/duckoracle: run go mod tidy there"; exit 1; }
	$(GOLANGCI) run --allow-parallel-runners ./...

format-check:
	@bad="$$(gofmt -l .)"; \
	if [ -n "$$bad" ]; then echo "not formatted; run gofmt -w on:"; echo "$$bad"; exit 1; fi

$(GOLANGCI):
	GOBIN=$(dir $@) GOFLAGS= $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)

SHA256 := $(or $(shell command -v sha256sum),shasum -a 256)

dist: build ## bin/dist: a static binary for each platform, completions and manual pages, and the checksums of all
	@rm -rf bin/dist && mkdir -p bin/dist/completions
	@set -e; for p in $(PLATFORMS); do f=sluice-$(VERSION)-$${p%/*}-$${p#*/}; echo "build $$f"; \
		GOOS=$${p%/*} GOARCH=$${p#*/} $(GOBUILD) -o bin/dist/$$f ./cmd/sluice; done
	@set -e; for s in bash zsh fish powershell; do bin/sluice completion $$s >bin/dist/completions/sluice.$$s; done
	@bin/sluice man bin/dist/man
	@cd bin/dist && find . -type f ! -name SHA256SUMS | sort | xargs $(SHA256) >SHA256SUMS && $(SHA256) -c SHA256SUMS >/dev/null

bench: ## the figures of docs/performance.md, on a real Kafka; BENCH='-size S -runs 1' for a short look
	$(GO) run ./internal/benchrun $(BENCH)

bench-budget: ## state of ten times workload M within 256 MB, on a real Kafka: needs 20 GB of disk and patience; BENCH_BUDGET='-size M -budget 32mb' for less
	$(GO) run ./internal/benchrun -jobs budget -runs 1 $(BENCH_BUDGET)

fuzz-sql: ## N random queries held to DuckDB, from SEED on; needs a C compiler
	cd internal/duckoracle && $(GO) run . -n $(N) -seed $(SEED) -out .

fuzz: ## every fuzz test for FUZZTIME
	@set -e; for pkg in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "fuzz $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; done

SOAK ?= 10m
KILLS ?= 100

soak: ## KILLS crashes of one job, and a job under steady load for SOAK, on a real Kafka
	SLUICE_KILLS=$(KILLS) SLUICE_SOAK=$(SOAK) $(GO) test -count 1 -v -timeout 120m -run '^(TestKills|TestSoak)$$' ./internal/e2e

clean:
	rm -rf bin
