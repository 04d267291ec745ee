package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// onlyInFaults skips the test unless figures are asked for.
func onlyInFaults(t *testing.T) {
	t.Helper()
	if os.Getenv("RINGTRAIN_FAULTS") == "" {
		t.Skip("takes minutes and prints figures: set RINGTRAIN_FAULTS=1, as make faults does")
	}
}

// TestSpeedFirstStep measures from the command to the end of the first step: the job
// mnist on four ranks, PyTorch's DDP under torchrun beside it, in turns, and the job
// linear on 100 ranks. It fails where that is far beyond what is wanted.
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

// spreadOf is median and most as cells of a table. It sorts the list.
func spreadOf(list []time.Duration) string {
	slices.Sort(list)
	return fmt.Sprintf("%.2f s | %.2f s", list[len(list)/2].Seconds(), list[len(list)-1].Seconds())
}

// TestSpeedRecovery kills a rank of 20 over and over, and measures from there to the
// next completed step. It fails where that is far beyond what is wanted.
func TestSpeedRecovery(t *testing.T) {
	onlyInFaults(t)
	const kills = 24
	b := newBox(t).lasting(10 * time.Minute)
	p := b.start(append([]string{"run", "-np", "20", "--restarts", strconv.Itoa(kills)}, longLinear(forever, "--set", "log.every=10")...)...)
	p.await(`"event":"step"`)
	r := rand.New(rand.NewPCG(1, kills))
	var at []time.Time
	for i := range kills {
		pause(2 * time.Second)
		victim := b.rankPID(1 + r.IntN(19)) // rank 0 tells the steps
		at = append(at, time.Now())
		kill(t, victim, syscall.SIGKILL)
		p.await(fmt.Sprintf(`"generation":%d,`, i+2))
	}
	pause(2 * time.Second)
	p.signal(syscall.SIGKILL)
	<-p.ended
	events := ended{stdout: wholeLines(p.stdout.String())}.events(t)
	var took []time.Duration
	for i, begin := range at {
		changed := false
		for _, v := range events {
			changed = changed || v.name() == "generation" && v.num("generation") == float64(i+2)
			if changed && v.name() == "step" {
				took = append(took, v.at().Sub(begin))
				break
			}
		}
	}
	if len(took) < kills*9/10 {
		t.Fatalf("only %d of %d kills were recovered from", len(took), kills)
	}
	fmt.Printf("\nfrom kill -9 of one of 20 ranks to the next 10 steps, median and most of %d: %s\n\n", len(took), spreadOf(took))
	if m := took[len(took)/2]; m > 20*time.Second {
		t.Errorf("median %v, want 20 s at most on any machine", m)
	}
}

// wholeLines is text without what follows the last newline.
func wholeLines(text string) string {
	for i := len(text); i > 0; i-- {
		if text[i-1] == '\n' {
			return text[:i]
		}
	}
	return ""
}
