# Every target is one line of work; .ci/run is what CI runs. `make help` lists
# them, docs/proof.md says which one holds which claim.

GO      ?= go
BIN     := bin
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo 0.1.0)
FUZZ    ?= 30s
SHARED  := $(or $(RINGTRAIN_SHARED),../shared)

.PHONY: help build demo house quick check check-long long fmt vet lint test race race-long cross manifests cases silence faults attacks chaos kills soak simulate everywhere wire interop kubernetes quality bench bench-peers gobench fuzz goldens generate release wheel clean

# The suite runs go test, lists what failed and counts. A test that is skipped
# must be in .ci/skips. HAVE=mnist: MNIST is here, no test may miss it. FRESH=-count=1:
# no result of an earlier run counts.
HAVE   ?=
FRESH  ?=
COUNTS ?=
SUITE  := $(GO) run ./.ci/suite -have '$(HAVE)' -counts "$(COUNTS)"

# vet is a target of its own. A test without the debugger's tables is linked in half the time.
FLAGS := -vet=off -ldflags=-w

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## the one static binary, bin/ringtrain
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN)/ringtrain ./cmd/ringtrain

release: ## binaries, a package of Debian, a wheel for Python and a container image of linux/amd64 and arm64, with checksums, in dist
	$(GO) run ./.ci/release -version $(VERSION) -time $$(git log -1 --format=%ct)

wheel: ## a wheel for Python of this machine, in dist: the static binary and the module that starts it
	$(GO) run ./.ci/release -wheel -version $(VERSION) -time $$(git log -1 --format=%ct)

demo: build ## train MNIST (or drawn digits) on four ranks, evaluate, export
	@sh cmd/ringtrain/demo.sh $(BIN)/ringtrain $(BIN)/demo

house: ## product lines, files of each folder, and the functions of a gradient's way
	@$(GO) run ./.ci/house -list

quick: fmt ## what a minute tells: packages of arithmetic, formats and the ring
	$(SUITE) -- $(FLAGS) -short $(QUICK) ./.ci/suite

# The compiler of the suites has more memory. A path with a blank in it cannot be in GOFLAGS.
quick check check-long long vet lint test race race-long cross manifests interop: export GOFLAGS := $(shell $(GO) env GOFLAGS) $(if $(word 2,$(CURDIR)),,-toolexec=$(CURDIR)/.ci/tool)

# Two at once: whole jobs mostly wait, and building and the race detector do not. vet goes
# first, for what it builds the others need.
PAIRS := $(MAKE) --no-print-directory -j2 --output-sync=target

check: fmt vet ## all that must be green before a commit
	$(PAIRS) test lint race

check-long: ## what make check leaves out: long tests, all parameters, more under the race detector, another architecture
	$(PAIRS) long cross race-long $(if $(wildcard .ci/manifests/go.mod),manifests) $(if $(wildcard $(SHARED)/cases/run),silence)

long: # the tests of .ci/skips that leave something out under -short, in full
	$(SUITE) -long -- $(FLAGS) -count=1 -timeout 15m

fmt:
	@test -z "$$(gofmt -l .)" || { gofmt -d .; exit 1; }

vet:
	$(GO) vet ./... ./.ci/suite ./.ci/house ./.ci/release

lint: ## staticcheck; it takes two thirds of the time with more memory, 0.6 GiB
	GOGC=400 $(GO) tool staticcheck ./... ./.ci/suite ./.ci/house ./.ci/release

# A test that leaves something out under -short says "long:", and check-long runs it in full.
test: ## all tests but the long ones
	$(SUITE) -- $(FLAGS) -short $(FRESH) ./... ./.ci/suite ./.ci/house ./.ci/release

QUICK := ./export/... ./input ./input/column ./input/convert ./input/idx ./input/image ./input/libsvm ./input/synth ./input/tfrecord ./model ./model/internal/... ./model/job ./model/optimizer ./model/tensor ./ring ./ring/bucket ./ring/codec \
	./ring/cost ./ring/internal/... ./ring/link/internal/... ./ring/link/memlink

# The packages where goroutines meet, and a choice of the end-to-end tests. The
# race detector would sleep a second at the end of each process.
RACE      := ./ring/bucket ./ring/link/memlink ./ring/link/shmlink
RACE_LONG := ./bench ./input ./input/tfrecord ./model/train ./ring/codec ./ring/join ./ring/launch/... \
	./ring ./ring/link/internal/... ./ring/link/tcplink ./ring/port ./ring/rendezvous ./ring/rendezvous/state ./ring/ringtest
RACE_E2E  := ^Test(Imports|Events|SameDigest|StoppedAndResumed|WaysToStart|KilledRank|FaultOfOneRank|SignalToOneRank)

race: ## buckets and links, and the ring over them, under the race detector
	GORACE=atexit_sleep_ms=0 $(SUITE) -- $(FLAGS) -race -short $(FRESH) $(RACE)

race-long: # the other packages where goroutines meet, and whole jobs
	GORACE=atexit_sleep_ms=0 $(SUITE) -- $(FLAGS) -count=1 -race -short $(RACE_LONG)
	GORACE=atexit_sleep_ms=0 $(SUITE) -- $(FLAGS) -count=1 -race -short -run '^Test(Run|Close|SameBits)' ./model/kernel ./export/interpreter
	GORACE=atexit_sleep_ms=0 $(SUITE) -- $(FLAGS) -count=1 -race -short -run '$(RACE_E2E)' ./cmd/ringtrain

cross: # another architecture compiles too; its bodies, which are Go alone, pass here
	GOARCH=arm64 $(GO) vet '-gcflags=all=-N -l' ./... # it is only compiled: without optimizing, in less time
	! GOARCH=arm64 $(GO) build -gcflags=-S ./model/kernel ./model/optimizer ./ring/internal/vec ./ring/codec 2>&1 | grep -E '\bFN?M(ADD|SUB)[SD]\b' # a product fused with a sum has other bits
	$(SUITE) -- $(FLAGS) -tags noasm ./ring/internal/vec ./ring/codec ./model/kernel ./model/optimizer ./input/internal/pixel

manifests: # deploy's manifests in Kubernetes' own types, which a module of its own has
	$(GO) build -o $(BIN)/suite ./.ci/suite
	cd .ci/manifests && $(GO) vet ./... && ../../$(BIN)/suite -skips ../skips -counts "$(COUNTS)" -- -vet=off -count=1 ./...

# The cases of the requirements that take long. Those in parallel mostly wait.
CASES := ^Test(S[0-9]|R[0-9]|L[0-9])
SOAK  ?= 1000000
CHAOS ?= 5m
KILLS ?= 100
EVERYWHERE := ^Test(SSHHostfile|InteropSlurmHosts|Interop(OpenMPI|MPICH)(Hosts)?|InteropTorchrun|InteropTFConfig)$$

cases: ## the cases of the requirements, S1 to L4, in their short form
	RINGTRAIN_CASES=1 $(GO) test -vet=off -count=1 -v -parallel 4 -timeout 20m -run '$(CASES)' ./cmd/ringtrain

# A check works in a copy of its folder, as another user too. A copy of a read-only folder would be read-only.
silence: build ## the cases of the shared folder: nothing goes wrong in silence
	rm -rf $(BIN)/cases && cp -r $(SHARED)/cases $(BIN)/cases && chmod -R u+w $(BIN)/cases && RINGTRAIN=$(BIN)/ringtrain $(BIN)/cases/run

faults: ## what a fault costs, and a start, beside torchrun and mpirun: the tables of docs/when-it-breaks.md
	RINGTRAIN_FAULTS=1 $(GO) test -vet=off -count=1 -v -timeout 2h -run '^Test(Faults|Speed)' ./cmd/ringtrain

attacks: ## strangers, men in the middle and other users against jobs, in full (as root; RINGTRAIN_ATTACKS_SEED=…)
	RINGTRAIN_ATTACKS=1 $(GO) test -vet=off -count=1 -v -timeout 1h -run '^TestAttack' ./cmd/ringtrain

chaos: ## random faults of ranks, hosts and paths on four hosts (CHAOS=5m, RINGTRAIN_CHAOS_SEED=…)
	RINGTRAIN_CHAOS=$(CHAOS) $(GO) test -vet=off -count=1 -v -timeout 2h -run '^TestChaos$$' ./cmd/ringtrain

kills: ## a hundred runs with random kills, stops, resets and dark paths (KILLS=100, RINGTRAIN_KILLS_SEED=…)
	RINGTRAIN_KILLS=$(KILLS) $(GO) test -vet=off -count=1 -v -timeout 3h -run '^TestKills$$' ./cmd/ringtrain

soak: ## a million steps on 20 ranks (SOAK=…), and S13 a hundred times
	RINGTRAIN_SOAK=$(SOAK) RINGTRAIN_CASES_FULL=1 $(GO) test -vet=off -count=1 -v -timeout 3h -run '^Test(L1|S13)' ./cmd/ringtrain

simulate: ## a million lives of a job and its rendezvous, and broken rules that they must find
	RINGTRAIN_SIMULATE=1000000 $(GO) test -vet=off -count=1 -v -timeout 3h -run '^TestSimulation' ./ring/rendezvous/state

everywhere: ## mnist over ssh, srun, mpirun, mpiexec, torchrun and TF_CONFIG: one digest (after make interop, as root)
	RINGTRAIN_MNIST=1 RINGTRAIN_NETNS=1 INTEROP=1 $(GO) test -vet=off -count=1 -v -timeout 30m -run '$(EVERYWHERE)' ./cmd/ringtrain

wire: ## what auto costs at 1 Gbit/s, and what codecs gain at 100 Mbit/s (as root)
	NETNS_LONG=1 $(GO) test -vet=off -count=1 -v -timeout 1h -run '^Test(AutoCost|MLPOverWire)$$' ./cmd/ringtrain

interop: ## real TensorFlow and real mpirun against the binary of the tests
	@bash .ci/interop

kubernetes: release ## the manifests of deploy on a real Kubernetes of one node (as root; ONLY='kill|drain')
	@bash .ci/kubernetes/run dist/ringtrain-$(VERSION)-image.tar '$(ONLY)'

quality: build ## each preset trained to the quality bars, with time; hours for all (QUALITY='-only softmax,convex')
	RINGTRAIN_DATA=$${RINGTRAIN_DATA:-../shared/data} $(GO) run ./bench/quality $(QUALITY)

bench: build ## tables in their short form, beside other libraries on the same work
	$(BIN)/ringtrain bench allreduce -np 2 --budget 50ms
	$(BIN)/ringtrain bench allreduce -np 4 --levels flat --budget 50ms --codec none,bf16,int8 --min 128KiB
	$(BIN)/ringtrain bench link -np 2
	$(BIN)/ringtrain bench codec
	$(BIN)/ringtrain bench peers --short
	-$(BIN)/ringtrain bench peers --short --hosts 4

bench-peers: build ## examples a second beside PyTorch, TensorFlow, numpy and VW; installs them into .interop/peers (PEERS='--kernels avx2', PEERS=clicks, PEERS=input)
	@bash .ci/bench-peers $(PEERS)

gobench: ## Go benchmarks, for benchstat
	$(GO) test -run '^$$' -bench . -benchtime 200ms ./...

fuzz: ## every fuzz test, 30 s each (FUZZ=…)
	@for p in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
		echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZ) $$p || exit 1; done; done

GOLDENS := model/testdata/layers/make_layers.py model/testdata/networks/make_networks.py model/testdata/clicks/make_clicks.py model/optimizer/testdata/make_goldens.py model/optimizer/testdata/make_adamw.py export/testdata/tensorflow/make_models.py input/testdata/make_records.py export/events/testdata/make_golden.py input/image/testdata/make_golden.py input/column/testdata/make_columns.py input/internal/farmhash/testdata/make_fingerprints.py model/testdata/metrics/make_metrics.py model/train/testdata/features/make_features.py export/interpreter/testdata/make_ops.py export/interpreter/testdata/make_answers.py export/serving/servingpb/testdata/make_fields.py

goldens: ## golden numbers and files of TensorFlow anew (after make interop)
	@for script in $(GOLDENS); do .interop/venv/bin/python $$script $$(dirname $$script) || exit 1; done

generate: ## generated code anew; needs protoc (CI checks that it is current)
	$(GO) generate ./...

clean: ## remove what was built
	rm -rf $(BIN)
