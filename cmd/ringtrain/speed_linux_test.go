package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// onlyInFaults skips the test unless figures are requested.
func onlyInFaults(t *testing.T) {
	t.Helper()
	if os.Getenv("RINGTRAIN_FAULTS") == "" {
		t.Skip("takes minutes and prints figures: set RINGTRAIN_FAULTS=1, as make faults does")
	}
}

// TestSpeedFirstStep measures the time from the command to the end of the first step:
// the job mnist on four ranks, alternating with PyTorch's DDP under torchrun, and the
// job linear on 100 ranks. It fails far beyond the bounds.
func TestSpeedFirstStep(t *testing.T) {
	onlyInFaults(t)
	data := shared(t)
	var torch contestant
	for _, c := range contestants() {
		if c.rank == "RANK" {
			torch = c
		}
	}
	own, others := []time.Duration{}, []time.Duration{}
	withTorch := exec.Command("/usr/bin/python3", "-c", "import torch.distributed.run").Run() == nil
	for range 3 {
		b := newBox(t)
		p := b.start("run", "-np", "4", "--json", "mnist", "--data", data, "--set", "train.steps=1", "--set", "checkpoint.dir=", "--set", "export.savedmodel=")
		own = append(own, p.wait().named(t, "step")[0].at().Sub(p.began))
		if !withTorch {
			continue
		}
		b = newBox(t).with("OMP_NUM_THREADS=1").lasting(2 * time.Minute)
		line := torch.line(b, []string{"/usr/bin/python3", absolute(t, "testdata", "ddp.py")})
		p = b.startProgram(line[0], line[1:]...)
		p.await("step 1\n")
		others = append(others, time.Since(p.began))
		b.endAll(p)
	}
	p := newBox(t).lasting(3 * time.Minute).start(append([]string{"run", "-np", "100"}, longLinear(1)...)...)
	many := p.wait().named(t, "step")[0].at().Sub(p.began)
	fmt.Printf("\n| from the command to the end of the first step | median | at most |\n| --- | --- | --- |\n")
	fmt.Printf("| ringtrain, mnist, 4 ranks | %s |\n", spreadOf(own))
	if len(others) > 0 {
		fmt.Printf("| torchrun, DDP, 4 ranks | %s |\n", spreadOf(others))
	}
	fmt.Printf("| ringtrain, linear, 100 ranks | %s |\n\n", spreadOf([]time.Duration{many}))
	if m := own[len(own)/2]; m > 10*time.Second {
		t.Errorf("mnist on 4 ranks: %v, want 10 s at most on any machine", m)
	}
	if many > time.Minute {
		t.Errorf("linear on 100 ranks: %v, want a minute at most on any machine", many)
	}
}

// spreadOf returns median and maximum as cells of a table. It sorts the list.
func spreadOf(list []time.Duration) string {
	slices.Sort(list)
	return fmt.Sprintf("%.2f s | %.2f s", list[len(list)/2].Seconds(), list[len(list)-1].Seconds())
}

// TestSpeedRecovery repeatedly kills each rank of 20 in turn, rank 0 before every five
// others, and measures the time to the next completed step. It fails far beyond the
// bounds.
func TestSpeedRecovery(t *testing.T) {
	onlyInFaults(t)
	var victims []int
	for range 5 {
		for rank := 1; rank < 20; rank++ {
			if rank%5 == 1 {
				victims = append(victims, 0)
			}
			victims = append(victims, rank)
		}
	}
	b := newBox(t).lasting(15 * time.Minute)
	p := b.start(append([]string{"run", "-np", "20", "--restarts", strconv.Itoa(len(victims))}, longLinear(forever, "--set", "log.every=10")...)...)
	p.await(`"event":"step"`)
	var at []time.Time
	for i, rank := range victims {
		pause(2500 * time.Millisecond) // meanwhile steps complete
		pid := b.rankPID(rank)
		at = append(at, time.Now())
		kill(t, pid, syscall.SIGKILL)
		p.await(fmt.Sprintf(`"generation":%d,`, i+2))
	}
	pause(2 * time.Second)
	p.signal(syscall.SIGKILL)
	<-p.ended
	took := recoveries(ended{stdout: wholeLines(p.stdout.String())}.events(t), at)
	var all, first []time.Duration
	for i, rank := range victims {
		if took[i] == 0 {
			t.Fatalf("kill %d of %d, of rank %d, was not recovered from", i, len(victims), rank)
		}
		all = append(all, took[i])
		if rank == 0 {
			first = append(first, took[i])
		}
	}
	fmt.Printf("\n| from kill -9 of one of 20 ranks to the next 10 steps | times | median | 99 %% within | at most |\n| --- | --- | --- | --- | --- |\n")
	for _, row := range []struct {
		who  string
		took []time.Duration
	}{{"every rank in turn", all}, {"rank 0 alone", first}} {
		slices.Sort(row.took)
		n := len(row.took)
		fmt.Printf("| %s | %d | %.2f s | %.2f s | %.2f s |\n", row.who, n, row.took[n/2].Seconds(), row.took[(99*n+99)/100-1].Seconds(), row.took[n-1].Seconds())
	}
	fmt.Println()
	if m := all[len(all)/2]; m > 20*time.Second {
		t.Errorf("median %v, want 20 s at most on any machine", m)
	}
}

// recoveries returns the times from each kill to the first steps of the next generation,
// 0 if there were none.
func recoveries(events []event, kills []time.Time) []time.Duration {
	took, generation := make([]time.Duration, len(kills)), 1
	for _, v := range events {
		switch i := generation - 2; {
		case v.name() == "generation":
			generation = int(v.num("generation"))
		case v.name() == "step" && i >= 0 && i < len(kills) && took[i] == 0:
			took[i] = v.at().Sub(kills[i])
		}
	}
	return took
}

// wholeLines returns text up to the last newline.
func wholeLines(text string) string {
	for i := len(text); i > 0; i-- {
		if text[i-1] == '\n' {
			return text[:i]
		}
	}
	return ""
}
