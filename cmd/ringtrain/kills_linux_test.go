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
)

// The test kills and stops ranks under the launcher at random, about one per second; the
// launcher restarts them:
//
//	make kills                         a hundred runs
//	RINGTRAIN_KILLS=5 RINGTRAIN_KILLS_SEED=7 go test -run TestKills -v ./cmd/ringtrain
//
// Each run must succeed with the digest of an undisturbed one.

const (
	killsRestarts = 100
	killsLease    = 2 * time.Second
	mostKills     = 60 // per run: a long stop also uses a restart
)

// A killing is a run under random kills.
type killing struct {
	*box
	r            *rand.Rand
	np           int
	kills, stops int
	first        time.Duration // time from the start to the first fault
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
	fmt.Println("| seed | ranks | job | kills | stops | restarts used | generations | took |\n| --- | --- | --- | --- | --- | --- | --- | --- |")
	for i := range runs {
		s := seed + uint64(i)
		t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) { newKilling(t, s).run(t, s) })
	}
}

func newKilling(t *testing.T, seed uint64) *killing {
	r := rand.New(rand.NewPCG(seed, 0))
	return &killing{box: newBox(t).lasting(3 * time.Minute), r: r, np: 2 + r.IntN(4), first: time.Duration(r.IntN(500)) * time.Millisecond}
}

// job is a job of some seconds.
func (k *killing) job(seed uint64) (name string, line []string) {
	if seed%2 == 0 {
		return "linear", longLinear(400_000, "--set", "checkpoint.dir=ckpt", "--set", "checkpoint.every=1s")
	}
	return "mnist", []string{
		"mnist", "--json", "--set", "input.synthetic=true", "--set", "train.steps=30000", "--set", "log.every=1000",
		"--set", "checkpoint.dir=ckpt", "--set", "checkpoint.every=1s", "--set", "export.savedmodel=",
	}
}

func (k *killing) run(t *testing.T, seed uint64) {
	name, job := k.job(seed)
	want := newBox(t).must(0, append([]string{"run", "-np", strconv.Itoa(k.np)}, job...)...).digest(t)
	began := time.Now()
	p := k.start(append([]string{"run", "-np", strconv.Itoa(k.np), "--restarts", strconv.Itoa(killsRestarts), "--lease", killsLease.String()}, job...)...)
	pause(k.first)
	for running(p) && k.kills+k.stops < mostKills {
		k.disturb()
		pause(time.Duration(200+k.r.IntN(1300)) * time.Millisecond)
	}
	e := p.wait()
	left, generations := restartsLeft(e.stderr), strings.Count(e.stdout, `"event":"generation"`)
	fmt.Printf("| %d | %d | %s | %d | %d | %d | %d | %v |\n", seed, k.np, name, k.kills, k.stops, killsRestarts-left, generations+1, time.Since(began).Round(100*time.Millisecond))
	if e.code != 0 {
		t.Fatalf("ended with %d and %q, %d restarts were left\n%s", e.code, e.last(), left, e.stderr)
	}
	if got := e.digest(t); got != want {
		t.Errorf("digest %s, want %s of an undisturbed run\n%s", got, want, e.stderr)
	}
	if k.kills+k.stops == 0 {
		t.Error("no rank was killed or stopped: nothing is shown")
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

// disturb kills a rank, or stops it for a while, sometimes for longer than the lease.
func (k *killing) disturb() {
	pid := k.anyRank()
	switch {
	case pid == 0: // all are being started
	case k.r.IntN(4) > 0:
		k.kills++
		syscall.Kill(pid, syscall.SIGKILL) // an error means that it has ended
	default:
		k.stops++
		syscall.Kill(pid, syscall.SIGSTOP)
		pause(time.Duration(k.r.IntN(int(2 * killsLease))))
		syscall.Kill(pid, syscall.SIGCONT)
	}
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
