package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/ringtest/netns"
)

// The test kills and stops ranks under the launcher at random, resets their connections and
// makes their network dark, about once per second; the launcher restarts the killed ones:
//
//	make kills                         a hundred runs
//	RINGTRAIN_KILLS=5 RINGTRAIN_KILLS_SEED=7 go test -run TestKills -v ./cmd/ringtrain
//
// Each run must succeed with the digest of an undisturbed one, and no rank may be lost by a reset
// or in the dark. A run has a network namespace of its own.

const (
	killsRestarts = 100
	killsLease    = 2 * time.Second
	maxDark       = time.Second
	maxFaults     = 60 // per run
)

// A killing is a run under random kills.
type killing struct {
	*box
	r     *rand.Rand
	np    int
	host  netns.Host
	first time.Duration // time from the start to the first fault

	kills, stops, resets, darks int
}

// TestKills verifies that a run under random kills succeeds with the right digest.
func TestKills(t *testing.T) {
	runs, err := strconv.Atoi(os.Getenv("RINGTRAIN_KILLS"))
	if err != nil {
		t.Skip("takes minutes: set RINGTRAIN_KILLS=100, as make kills does")
	}
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("RINGTRAIN_KILLS_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("seed %d (RINGTRAIN_KILLS_SEED), run i has seed+i", seed)
	fmt.Println("| seed | ranks | job | kills | stops | resets | dark | lost | restarts used | generations | took |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for i := range runs {
		s := seed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) { newKilling(t, s).run(t, s) })
	}
}

func newKilling(t *testing.T, seed uint64) *killing {
	r := rand.New(rand.NewPCG(seed, 0))
	return &killing{
		box: newBox(t).lasting(3 * time.Minute), r: r, np: 2 + r.IntN(4), first: time.Duration(r.IntN(500)) * time.Millisecond,
		host: newHosts(t, 1, "")[0],
	}
}

// job is a job of some seconds.
func (k *killing) job(seed uint64) (name string, line []string) {
	if seed%2 == 0 {
		return "linear", longLinear(400_000, "--set", "checkpoint.dir=ckpt", "--set", "checkpoint.every=1s")
	}
	return "mnist", []string{
		"mnist", "--json", "--set", "input.synthetic=true", "--set", "train.steps=30000", "--set", "log.every=1000",
		"--set", "checkpoint.dir=ckpt", "--set", "checkpoint.every=1s", "--set", "export.savedmodel=",
		"--set", "allreduce.levels=flat", "--set", "allreduce.link=tcp",
	}
}

func (k *killing) run(t *testing.T, seed uint64) {
	name, job := k.job(seed)
	want := newBox(t).must(0, append([]string{"run", "-np", strconv.Itoa(k.np)}, job...)...).digest(t)
	began := time.Now()
	line := k.host.Command(append([]string{self(k.box), "run", "-np", strconv.Itoa(k.np), "--restarts", strconv.Itoa(killsRestarts), "--lease", killsLease.String()}, job...)...)
	p := k.startProgram(line[0], line[1:]...)
	pause(k.first)
	for running(p) && k.kills+k.stops+k.resets+k.darks < maxFaults {
		k.disturb(p)
		pause(time.Duration(200+k.r.IntN(1300)) * time.Millisecond)
	}
	e := p.wait()
	left, v := restartsLeft(e.stderr), new(turmoil).judge(parsed(e.stdout))
	fmt.Printf("| %d | %d | %s | %d | %d | %d | %d | %d | %d | %d | %v |\n", seed, k.np, name, k.kills, k.stops, k.resets, k.darks,
		len(v.lost), killsRestarts-left, len(v.generations)+1, time.Since(began).Round(100*time.Millisecond))
	if len(v.lost) > k.kills+k.stops {
		t.Errorf("%d ranks were lost by %d kills and %d stops: %v", len(v.lost), k.kills, k.stops, v.generations)
	}
	// A kill behind a rank's last word changes nothing but the exit code.
	late := e.code == 137 && strings.Count(e.stdout+e.stderr, "digest="+want) == k.np
	if e.code != 0 && !late {
		t.Fatalf("ended with %d and %q, %d restarts were left\n%s", e.code, e.last(), left, e.stderr)
	}
	if got := e.digest(t); got != want {
		t.Errorf("digest %s, want %s of an undisturbed run\n%s", got, want, e.stderr)
	}
	if k.kills+k.stops+k.resets+k.darks == 0 {
		t.Error("nothing was disturbed: nothing is shown")
	}
	k.nothingLeft(5*time.Second, nil)
}

func running(p *testProcess) bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// disturb kills a rank, or stops it for a while, sometimes for longer than the lease. Or it resets
// connections, or makes the network dark for less than the lease.
func (k *killing) disturb(p *testProcess) {
	pid := k.anyRank()
	switch kind := k.r.IntN(6); {
	case pid == 0: // all are being started
	case kind == 0:
		k.resets++
		k.reset(p)
	case kind == 1:
		k.darks++
		onHost(k, k.host, "tc qdisc replace dev lo root bfifo limit 1") // no packet fits
		pause(time.Duration(k.r.IntN(int(maxDark))))
		onHost(k, k.host, "tc qdisc del dev lo root")
	case kind < 5:
		k.kills++
		syscall.Kill(pid, syscall.SIGKILL) // an error means that it has ended
	default:
		k.stops++
		syscall.Kill(pid, syscall.SIGSTOP)
		pause(time.Duration(k.r.IntN(int(2 * killsLease))))
		syscall.Kill(pid, syscall.SIGCONT)
	}
}

// reset resets all connections, or those to the rendezvous alone.
func (k *killing) reset(p *testProcess) {
	filter := ""
	if events := parsed(p.stdout.String()); len(events) > 0 && k.r.IntN(2) == 0 {
		_, port, _ := strings.Cut(events[0].text("rendezvous"), ":")
		filter = "dport = :" + port
	}
	resetConnections(k, filter, k.host) // there may be none: ranks are being started
}

// anyRank returns the process of a living rank, 0 if there is none.
func (k *killing) anyRank() int {
	byRank := map[int]int{}
	for pid, env := range k.processes() {
		for rank := range k.np {
			if bytes.Contains(env, []byte("\x00RINGTRAIN_RANK="+strconv.Itoa(rank)+"\x00")) {
				byRank[rank] = pid
			}
		}
	}
	for _, rank := range k.r.Perm(k.np) {
		if pid, ok := byRank[rank]; ok {
			return pid
		}
	}
	return 0
}

var leftPattern = regexp.MustCompile(`\((\d+) restarts? left\)`)

// restartsLeft returns the last number of remaining restarts that the launcher printed.
func restartsLeft(said string) int {
	all := leftPattern.FindAllStringSubmatch(said, -1)
	if len(all) == 0 {
		return killsRestarts
	}
	n, _ := strconv.Atoi(all[len(all)-1][1])
	return n
}
