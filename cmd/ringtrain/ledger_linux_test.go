package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The records of these tests have one distinct id each. The learning rate is so small
// that scores stay at a half, so a weight moves by learnt whenever its record is
// learned, up if the label is 1. The weights therefore count what the completed steps
// have learned.
const (
	ledgerSteps   = 293 // steps of an epoch; a prime, so only one checkpoint in 293 is at the end of an epoch
	ledgerRecords = ledgerSteps*16 - 5
	learnt        = 1e-5 / 2
)

const ledgerJob = `
name: ledger
input: {batch: 16, cache: "off"}
loss: {kind: sigmoid, reduction: sum}
optimizer: {name: sgd, learning_rate: 1e-5}
schedule: {kind: constant}
train: {seed: 3}
log: {every: 1000000}
checkpoint: {dir: ckpt, every: 70}
`

// ledgerCases has the sources of the records. All files are longer than a window of
// blocks.
var ledgerCases = []struct {
	name, job string
	line      func(i int, filler string) string
	cache     string // "": none
	made      bool   // before training
}{
	{"libsvm", ledgerLibSVM, libsvmLine, "", false},
	{"csv", ledgerCSV, csvLine, "", false},
	{"cache", ledgerLibSVM, libsvmLine, "parsed", true},
	{"growing-cache", ledgerLibSVM, libsvmLine, "parsed", false},
}

var (
	ledgerLibSVM = strings.Replace(ledgerJob, "input: {", fmt.Sprintf("model: {kind: sparse-linear, features: %d}\ninput: {train: {format: libsvm, files: [train.txt]}, ", ledgerRecords), 1)
	ledgerCSV    = strings.Replace(ledgerJob, "input: {", `model: {kind: sparse-linear}
input: {train: {format: csv, files: [train.txt]}, columns: [{label: {names: [clicked]}}, {ignore: {names: [page]}}, {categorical: {names: [name], vocabulary: auto}}], `, 1)
)

func libsvmLine(i int, filler string) string {
	return fmt.Sprintf("%d %d:1 # %s\n", i%2, i, filler)
}

func csvLine(i int, filler string) string {
	return fmt.Sprintf("%d,\"%s\r\n,\",\"r, %d\"\r\n", i%2, filler, i)
}

// TestKilledAmidEpoch kills all processes of a job by -9 within an epoch and resumes it
// twice from the same checkpoint: with the same number of ranks, where the digest must
// equal the undisturbed run's, and with another number. Both must learn each record once
// per epoch.
func TestKilledAmidEpoch(t *testing.T) {
	filler := strings.Repeat("x", 4<<10)
	for _, tt := range ledgerCases {
		t.Run("from="+tt.name, func(t *testing.T) {
			b := newBox(t)
			var text strings.Builder
			for i := range ledgerRecords {
				text.WriteString(tt.line(i, filler))
			}
			b.write("train.txt", text.String())
			b.write("ledger.yaml", tt.job)
			run := func(ranks, epochs int, more ...string) []string {
				return append([]string{"run", "-np", strconv.Itoa(ranks), "--json", "ledger.yaml", "--set", "train.epochs=" + strconv.Itoa(epochs), "--set", "input.cache=" + orOff(tt.cache)}, more...)
			}
			if tt.made {
				b.must(0, "data", "cache", "ledger.yaml", "--set", "input.cache="+tt.cache)
			}
			saved := b.killAfterCheckpoints(3, run(2, 1_000_000))
			epochs := saved/ledgerSteps + 2 // there may be a later, unreported checkpoint
			if err := os.CopyFS(b.path("other"), os.DirFS(b.path("ckpt"))); err != nil {
				t.Fatal(err)
			}
			resumed := b.must(0, run(2, epochs, "--resume", "must")...)
			wantAmidEpoch(t, resumed, saved)
			b.wantLedger("ckpt", epochs)
			whole := b.must(0, run(2, epochs, "--set", "checkpoint.dir=whole")...)
			if got, want := resumed.digest(t), whole.digest(t); got != want {
				t.Errorf("killed and resumed with digest %s, undisturbed %s", got, want)
			}
			wantAmidEpoch(t, b.must(0, run(3, epochs, "--resume", "must", "--set", "checkpoint.dir=other")...), saved)
			b.wantLedger("other", epochs)
		})
	}
}

func orOff(cache string) string {
	if cache == "" {
		return "off"
	}
	return cache
}

// killAfterCheckpoints starts a job, kills all of its processes by -9 after it has
// reported n checkpoints, and returns the step of the last one.
func (b *box) killAfterCheckpoints(n int, line []string) int {
	b.Helper()
	p := b.start(line...)
	eventually(b, patience, "checkpoints are told", func() bool { return strings.Count(p.stdout.String(), `"event":"checkpoint"`) >= n })
	children := childrenOf(p.cmd.Process.Pid)
	p.signal(syscall.SIGKILL)
	for _, pid := range children {
		syscall.Kill(pid, syscall.SIGKILL) // an error means that it has ended
	}
	e := p.wait()
	b.nothingLeft(patience, children)
	e.stdout = e.stdout[:strings.LastIndexByte(e.stdout, '\n')+1]
	last := 0
	for _, v := range e.events(b) {
		if v.name() == "checkpoint" {
			last = int(v.num("step"))
		}
	}
	return last
}

// wantAmidEpoch verifies that a run resumed within an epoch.
func wantAmidEpoch(t *testing.T, e ended, saved int) {
	t.Helper()
	if step := int(e.only(t, "start").num("restored_step")); step < saved || step%ledgerSteps == 0 {
		t.Errorf("resumed at step %d, want one amid an epoch, from %d", step, saved)
	}
}

// wantLedger verifies that each record was learned once in each epoch, with its label.
func (b *box) wantLedger(dir string, epochs int) {
	b.Helper()
	seen := map[int]bool{}
	for _, w := range b.must(0, "inspect", dir, "--json", "--top", strconv.Itoa(2*ledgerRecords)).events(b) {
		if w.name() != "weight" || w.num("value") == 0 {
			continue
		}
		record := int(w.num("row"))
		if _, name, ok := strings.Cut(w.text("input"), "=r, "); ok {
			record, _ = strconv.Atoi(name)
		}
		times := w.num("value") / learnt * float64(2*(record%2)-1)
		if seen[record] || math.Abs(times-float64(epochs)) > 0.1 {
			b.Fatalf("%s: record %d was learned %.2f times, want once in each of %d epochs: %v", dir, record, times, epochs, w)
		}
		seen[record] = true
	}
	if len(seen) != ledgerRecords {
		b.Errorf("%s: %d records were learned, want %d", dir, len(seen), ledgerRecords)
	}
}
