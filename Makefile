# Every target is one line of work; CI runs `make check`, then `make interop`.
# `make help` lists them.

GO      ?= go
BIN     := bin
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo 0.1.0)
FUZZ    ?= 30s

.PHONY: help build demo check fmt vet lint test race cross cases faults chaos soak simulate everywhere interop bench gobench fuzz generate clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## the one static binary, bin/ringtrain
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN)/ringtrain ./cmd/ringtrain

demo: build ## train MNIST (or drawn digits) on four ranks, evaluate, export
	@sh cmd/ringtrain/demo.sh $(BIN)/ringtrain $(BIN)/demo

check: fmt vet lint test race cross ## all that must be green before a commit
	@echo "make check: all is well"

fmt:
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }

vet:
	$(GO) vet ./...

lint: ## staticcheck, and the floors of the house
	$(GO) tool staticcheck ./...
	$(GO) test -count=1 -run TestImportsPointDown ./cmd/ringtrain

test: ## all tests
	$(GO) test -vet=off ./...

# The packages where goroutines meet, and a choice of the end-to-end tests. The
# race detector would sleep a second at the end of each process.
RACE_PACKAGES := ./bench ./input ./input/tfrecord ./model/train ./ring ./ring/bucket ./ring/codec ./ring/launch \
	./ring/link/... ./ring/port ./ring/rendezvous ./ring/ringtest
RACE_E2E := ^Test(Imports|Events|SameDigest|StoppedAndResumed|WaysToStart|KilledRank|FaultOfOneRank|SignalToOneRank)

race: ## the tests again, under the race detector
	GORACE=atexit_sleep_ms=0 $(GO) test -vet=off -race -short $(RACE_PACKAGES)
	GORACE=atexit_sleep_ms=0 $(GO) test -vet=off -race -short -run '$(RACE_E2E)' ./cmd/ringtrain

cross: # another architecture compiles too; its bodies, which are Go alone, pass here
	GOARCH=arm64 $(GO) vet ./...
	$(GO) test -tags noasm ./ring/internal/vec ./ring/codec

# The cases of the requirements that take long. Those in parallel mostly wait.
CASES := ^Test(S[0-9]|R[0-9]|L[0-9])
SOAK  ?= 1000000
CHAOS ?= 5m
EVERYWHERE := ^Test(SSHHostfile|InteropSlurmHosts|Interop(OpenMPI|MPICH)(Hosts)?|InteropTorchrun|InteropTFConfig|EtcdMNIST)$$

cases: ## the cases of the requirements, S1 to L4, in their short form
	RINGTRAIN_CASES=1 $(GO) test -vet=off -count=1 -v -parallel 4 -timeout 20m -run '$(CASES)' ./cmd/ringtrain

faults: ## what a fault costs, and a start, beside torchrun and mpirun: the README's tables
	RINGTRAIN_FAULTS=1 $(GO) test -vet=off -count=1 -v -timeout 40m -run '^Test(Faults|Speed)' ./cmd/ringtrain

chaos: ## random faults on four hosts (CHAOS=5m, RINGTRAIN_CHAOS_SEED=…)
	RINGTRAIN_CHAOS=$(CHAOS) $(GO) test -vet=off -count=1 -v -timeout 2h -run '^TestChaos$$' ./cmd/ringtrain

soak: ## a million steps on 20 ranks (SOAK=…), and S13 a hundred times
	RINGTRAIN_SOAK=$(SOAK) RINGTRAIN_CASES_FULL=1 $(GO) test -vet=off -count=1 -v -timeout 3h -run '^Test(L1|S13)' ./cmd/ringtrain

simulate: ## a million lives of a rendezvous
	RINGTRAIN_SIMULATE=1000000 $(GO) test -vet=off -count=1 -v -timeout 3h -run '^TestSimulation$$' ./ring/rendezvous

everywhere: ## mnist over ssh, srun, mpirun, mpiexec, torchrun, TF_CONFIG and etcd: one digest (after make interop, as root)
	RINGTRAIN_MNIST=1 RINGTRAIN_NETNS=1 INTEROP=1 $(GO) test -vet=off -count=1 -v -timeout 30m -run '$(EVERYWHERE)' ./cmd/ringtrain

interop: build ## real TensorFlow and real mpirun against the binary
	@bash .ci/interop

bench: build ## tables in their short form, beside other libraries on the same work
	$(BIN)/ringtrain bench allreduce -np 2 --budget 50ms
	$(BIN)/ringtrain bench allreduce -np 4 --levels flat --budget 50ms --codec none,bf16,int8 --min 128KiB
	$(BIN)/ringtrain bench link -np 2
	$(BIN)/ringtrain bench codec
	$(BIN)/ringtrain bench peers --short
	-$(BIN)/ringtrain bench peers --short --hosts 4

gobench: ## Go benchmarks, for benchstat
	$(GO) test -run '^$$' -bench . -benchtime 200ms ./...

fuzz: ## every fuzz test, 30 s each (FUZZ=…)
	@for p in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
		echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZ) $$p || exit 1; done; done

generate: ## generated code anew; needs protoc (CI checks that it is current)
	$(GO) generate ./...

clean: ## remove what was built
	rm -rf $(BIN)
