package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring/token"
)

// startTwenty starts 20 ranks of a job without a launcher, and returns after training
// has begun.
func startTwenty(t *testing.T, args ...string) *crowd {
	t.Helper()
	c := &crowd{box: newBox(t).lasting(3 * time.Minute)}
	port := freePorts(t, 1)[0]
	c.ranks = c.startRanks(20, append([]string{"train"}, args...), func(rank int) []string { return rankVariables(rank, 20, port) })
	c.ranks[0].await(`"event":"step"`)
	for _, p := range c.ranks {
		c.pids = append(c.pids, p.cmd.Process.Pid)
	}
	return c
}

// TestR1KilledRank kills rank 7 of 20 by -9. It verifies that the others name it and
// end, or that the job continues with its replacement and the same digest.
func TestR1KilledRank(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	t.Run(caseName("R1", "restarts=0"), func(t *testing.T) {
		c := startTwenty(t, longLinear(forever)...)
		pause(2 * time.Second) // heartbeats carry the step of a rank
		b := c.strike(7, syscall.SIGKILL)
		ends := c.wait(7)
		c.wantCulprit(ends, 7)
		for rank, end := range ends {
			if !strings.Contains(end.last, "step ") {
				t.Errorf("rank %d ends with %q, want the step", rank, end.last)
			}
		}
		within(t, "the first word", time.Second, 10*time.Second, b.firstNamed()...)
		within(t, "all others' words", 2*time.Second, 20*time.Second, <-b.named)
	})
	t.Run(caseName("R1", "restarts=1"), func(t *testing.T) {
		disturb(t, 15_000, 1, func(b *box, _ *testProcess) {
			kill(t, b.rankPID(7), syscall.SIGKILL)
		}, 7)
	})
}

// disturb runs 20 ranks with a number of restarts and disturbs them during training. It
// verifies the digest of an undisturbed run and the named ranks.
func disturb(t *testing.T, steps, restarts int, do func(b *box, p *testProcess), names ...int) {
	t.Helper()
	b := newBox(t).lasting(5 * time.Minute)
	p := b.start(append([]string{"run", "-np", "20", "--restarts", strconv.Itoa(restarts)}, longLinear(steps)...)...)
	p.await(`"step":2000,`)
	do(b, p)
	e := p.wait()
	if e.code != 0 || e.digest(t) != longAlone(t, steps) {
		t.Fatalf("ended with %d and digest %s, want 0 and %s\n%s", e.code, e.digest(t), longAlone(t, steps), e.stderr)
	}
	for _, rank := range names {
		if !strings.Contains(e.stderr, fmt.Sprintf("rank %d was killed", rank)) {
			t.Errorf("nobody says that rank %d was killed\n%s", rank, e.stderr)
		}
	}
	b.nothingLeft(10*time.Second, nil)
}

// TestR2VanishedHost disconnects the host of rank 7. It verifies that the others notice
// within the lease, not after TCP's timeout.
func TestR2VanishedHost(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	hosts := newHosts(t, 4, "")
	layout := spread(20, 3)
	layout[7] = 3
	c := newBox(t).lasting(3*time.Minute).startOnHosts(hosts, layout, longLinear(forever)...)
	c.ranks[0].await(`"event":"step"`)
	b := c.hit(7, func() { unplug(t, hosts[3]) })
	c.wantCulprit(c.wait(7), 7)
	within(t, "the first word", 5*time.Second, 25*time.Second, b.firstNamed()...)
	within(t, "all others' words", 7*time.Second, 40*time.Second, <-b.named)
	if e := c.ranks[7].wait(); e.code != 138 {
		t.Errorf("rank 7 itself ended with %d, want 138\n%s", e.code, e.stderr)
	}
}

// TestR3FrozenRank suspends rank 7 for less than the lease, and for longer. It verifies
// that the rank is named, and that only the longer suspension ends the job.
func TestR3FrozenRank(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	t.Run(caseName("R3", "shorter"), func(t *testing.T) {
		t.Parallel()
		frozen := 14 * time.Second
		if inFull() {
			frozen = 20 * time.Second
		}
		const steps = 5_000
		c := startTwenty(t, longLinear(steps, "--lease", "60s")...)
		kill(t, c.pids[7], syscall.SIGSTOP)
		at := time.Now()
		told := make(chan time.Duration, 1)
		go func() {
			defer close(told)
			for time.Since(at) < frozen {
				if text, _ := c.ranks[0].stderr.snapshot(); namesRank(text, 7) {
					told <- time.Since(at)
					return
				}
				pause(50 * time.Millisecond)
			}
		}()
		pause(frozen)
		kill(t, c.pids[7], syscall.SIGCONT)
		if took, ok := <-told; !ok {
			text, _ := c.ranks[0].stderr.snapshot()
			t.Errorf("rank 0 does not name rank 7 within %v\n%s", frozen, text)
		} else {
			within(t, "rank 0's word on rank 7", 2*time.Second, frozen, took)
		}
		if got := c.trained().digest(t); got != longAlone(t, steps) {
			t.Errorf("digest %s, want that of an undisturbed run", got)
		}
	})
	t.Run(caseName("R3", "longer"), func(t *testing.T) {
		t.Parallel()
		lease := 8 * time.Second
		if inFull() {
			lease = 60 * time.Second
		}
		c := startTwenty(t, longLinear(forever, "--lease", lease.String())...)
		b := c.strike(7, syscall.SIGSTOP)
		c.wantCulprit(c.wait(7), 7)
		took := <-b.named
		within(t, "all others' words", lease+2*time.Second, lease+30*time.Second, took)
		if took < lease-2*time.Second {
			t.Errorf("rank 7 was given up after %v, want the lease, %v", took, lease)
		}
		c.ranks[7].signal(syscall.SIGKILL)
	})
}

// TestR4LongEvaluation evaluates for many times the lease: on all ranks, and then on
// rank 0 long after the others, with a twentieth of a core. It verifies that work is no
// loss, and that the wait is reported once.
func TestR4LongEvaluation(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	data := shared(t)
	evaluate := func(t *testing.T, busy time.Duration) string {
		b := newBox(t).lasting(6 * time.Minute)
		p := b.start("run", "-np", "4", "--lease", "3s", "--json", "mnist", "--data", data, "--set", "model.kind=mlp", "--set", "model.hidden=[3000,3000]",
			"--set", "train.steps=1", "--set", "checkpoint.dir=", "--set", "export.savedmodel=")
		p.await(`"event":"step"`)
		began := time.Now()
		slowDown(t, b.rankPID(0), busy)
		e := p.wait()
		took := p.endedAt.Sub(began)
		if e.code != 0 || took < busy {
			t.Fatalf("ended with %d after %v of evaluation, want 0 after %v\n%s", e.code, took, busy, e.stderr)
		}
		spoken := 0 // reports by the launcher and by ranks
		for line := range strings.Lines(e.stderr) {
			if strings.Contains(line, "wait") {
				spoken++
			}
		}
		if most := 1 + int(took/(10*time.Second)); spoken > most {
			t.Errorf("%d lines about waiting in %v, want %d at most\n%s", spoken, took, most, e.stderr)
		}
		t.Logf("took %v, with %d lines about waiting", took, spoken)
		return e.stderr
	}
	t.Run(caseName("R4", "all"), func(t *testing.T) { evaluate(t, 0) })
	t.Run(caseName("R4", "rank=0"), func(t *testing.T) {
		busy := 30 * time.Second
		if inFull() {
			busy = 120 * time.Second
		}
		said := evaluate(t, busy)
		if want := regexp.MustCompile(`rank 0\b.*evaluat`); !want.MatchString(said) {
			t.Errorf("nobody says that rank 0 evaluates\n%s", said)
		}
	})
}

// slowDown lets a process run 10 ms in each 200 ms, for a time.
func slowDown(t *testing.T, pid int, d time.Duration) {
	t.Helper()
	for began := time.Now(); time.Since(began) < d; {
		kill(t, pid, syscall.SIGSTOP)
		pause(190 * time.Millisecond)
		kill(t, pid, syscall.SIGCONT)
		pause(10 * time.Millisecond)
	}
}

// TestR5Restarts restarts three ranks of 20, all ranks, and 30 times single ranks. It
// verifies that the job continues and that restarts leave nothing behind. A single
// restart is in TestR1KilledRank.
func TestR5Restarts(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	t.Run(caseName("R5", "ranks=3"), func(t *testing.T) {
		disturb(t, 15_000, 3, func(b *box, _ *testProcess) {
			for _, rank := range []int{3, 7, 16} {
				kill(t, b.rankPID(rank), syscall.SIGKILL)
			}
		}, 3, 7, 16)
	})
	t.Run(caseName("R5", "ranks=20"), func(t *testing.T) { // the launcher ends and is restarted
		b := newBox(t).lasting(3 * time.Minute)
		const steps = 20_000
		job := append([]string{"run", "-np", "20"}, longLinear(steps, "--set", "checkpoint.dir=ckpt", "--set", "checkpoint.every=5000")...)
		p := b.start(job...)
		p.await(`"event":"checkpoint"`)
		p.signal(syscall.SIGKILL)
		p.wait()
		b.nothingLeft(15*time.Second, nil)
		e := b.must(0, job...)
		if e.only(t, "start").num("restored_step") < 5000 || e.digest(t) != longAlone(t, steps) {
			t.Errorf("restored step %v, digest %s; want 5000 or more and %s", e.only(t, "start")["restored_step"], e.digest(t), longAlone(t, steps))
		}
	})
	t.Run(caseName("R5", "times=30"), func(t *testing.T) {
		times := 10
		if inFull() {
			times = 30
		}
		r := rand.New(rand.NewPCG(7, uint64(times)))
		disturb(t, 20_000+times*6000, times, func(b *box, p *testProcess) {
			before, launcher := b.gauges()[0], gauge{}
			launcher, _ = gaugeOf(p.cmd.Process.Pid)
			for i := range times {
				kill(t, b.rankPID(1+r.IntN(19)), syscall.SIGKILL) // rank 0 must be the same process throughout
				p.await(fmt.Sprintf(`"generation":%d,`, i+2))
				pause(1500 * time.Millisecond) // five generations without a step, by one rank, would be a crash loop
			}
			pause(time.Second)
			after := b.gauges()[0]
			end, _ := gaugeOf(p.cmd.Process.Pid)
			t.Logf("rank 0 had %+v, has %+v; the launcher had %+v, has %+v", before, after, launcher, end)
			if after.threads == 0 || end.threads == 0 {
				t.Error("no gauges: nothing is shown")
			}
			if after.threads > before.threads+2 || after.files > before.files+2 || after.rss > before.rss+16<<20 ||
				end.threads > launcher.threads+4 || end.files > launcher.files+4 || end.rss > launcher.rss+16<<20 {
				t.Error("something grows with the number of restarts")
			}
		})
	})
}

// TestR6WrittenInPart verifies that a run ignores a half-written checkpoint folder that
// is newer than the whole one.
func TestR6WrittenInPart(t *testing.T) {
	b := newBox(t)
	job := func(steps int) []string {
		return append([]string{"run", "-np", "2"}, longLinear(steps, "--set", "checkpoint.dir=ckpt")...)
	}
	b.must(0, job(10)...)
	whole := b.read("ckpt/step-000010/model.ckpt.data-00000-of-00001")
	b.write("ckpt/step-000020.tmp-1/model.ckpt.data-00000-of-00001", whole[:len(whole)/2])
	e := b.must(0, job(30)...)
	if got := e.only(t, "start").num("restored_step"); got != 10 {
		t.Errorf("restored step %v, want 10, the newest whole one", got)
	}
	if left, _ := filepath.Glob(b.path("ckpt", "*tmp*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestR6KilledInCheckpoint repeatedly kills rank 0 by -9 in a job that writes a
// checkpoint at each step. It verifies that no partial checkpoint is used, no process
// stays, and the digest is that of an undisturbed run.
func TestR6KilledInCheckpoint(t *testing.T) {
	long(t)
	const steps = 1000
	b := newBox(t)
	job := append([]string{"run", "-np", "4"}, longLinear(steps, "--set", "checkpoint.dir=ckpt", "--set", "checkpoint.every=1", "--set", "log.every=50")...)
	r, restored := rand.New(rand.NewPCG(6, 6)), 0.0
	for range 4 {
		p := b.start(job...)
		p.await(`"event":"step"`)
		pause(time.Duration(r.IntN(30)) * time.Millisecond)
		kill(t, b.rankPID(0), syscall.SIGKILL)
		e := p.wait()
		if e.code != 137 || !namesRank(e.last(), 0) {
			t.Fatalf("ended with %d and %q, want 137 and rank 0 named", e.code, e.last())
		}
		b.nothingLeft(15*time.Second, nil)
		got := e.only(t, "start").num("restored_step")
		if got < restored {
			t.Errorf("went on at step %v, after %v: a checkpoint was lost", got, restored)
		}
		restored = got
		b.must(0, "inspect", "ckpt")
	}
	if e := b.must(0, job...); e.digest(t) != longAlone(t, steps) || e.only(t, "start").num("restored_step") == 0 {
		t.Errorf("digest %s, restored step %v; want %s, and to go on", e.digest(t), e.only(t, "start")["restored_step"], longAlone(t, steps))
	}
	if left, _ := filepath.Glob(b.path("ckpt", "*tmp*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestR7Terminated sends SIGTERM to one of 20 ranks, and to all. It verifies that the
// state is saved and the code is that of a stop. A second signal is in TestSecondSignal.
func TestR7Terminated(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	for _, all := range []bool{false, true} {
		t.Run(caseName("R7", "all=", all), func(t *testing.T) {
			c := startTwenty(t, longLinear(forever, "--set", "checkpoint.dir=ckpt")...)
			at := time.Now()
			for rank, pid := range c.pids {
				if all || rank == 7 {
					kill(t, pid, syscall.SIGTERM)
				}
			}
			digest := c.ranks[0].wait().last()
			for rank, p := range c.ranks {
				if e := p.wait(); e.code != 143 || e.last() != digest || !strings.HasPrefix(digest, "digest=") {
					t.Errorf("rank %d ended with %d and %q, want 143 and %s", rank, e.code, e.last(), digest)
				}
			}
			within(t, "the end of all", 0, 20*time.Second, time.Since(at))
			c.must(0, "inspect", c.ranks[0].wait().only(t, "checkpoint").text("path"))
		})
	}
}

// TestR8OneRanksFault gives one of 20 ranks a corrupt record, a record that makes NaN,
// and rank 0 a full disk. It verifies that the others end with the same code and name
// the reason.
func TestR8OneRanksFault(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	t.Run(caseName("R8", "corrupt"), func(t *testing.T) {
		b := newBox(t).lasting(2 * time.Minute)
		b.must(0, "data", "make", "clicks", "--to", "data")
		b.must(0, "data", "make", "clicks", "--to", "data-7")
		const file = "clicks_train.tfrecords"
		text := b.read("data-7", file)
		b.write("data-7/"+file, changed(text, len(text)/2, text[len(text)/2]+1))
		b.write("job.yaml", readFile(t, filepath.Join("testdata", "clicks.yaml")))
		e := b.run("run", "--verbose", "-np", "20", "sh", "-c", tellCode, "rank", "sh", "-c",
			`d=data; [ $RINGTRAIN_RANK = 7 ] && d=data-7; exec "$0" train job.yaml --data $d`, self(b))
		for rank := range 20 {
			lines := linesOf(e.stderr, rank)
			if len(lines) < 2 || lines[len(lines)-1] != "exit=65" || !namesRank(lines[len(lines)-2], 7) || !strings.Contains(lines[len(lines)-2], file) {
				t.Errorf("rank %d says %q, want the fault of rank 7 in %s and exit=65", rank, lines, file)
			}
		}
		if e.code != 65 {
			t.Errorf("the launcher ended with %d, want 65", e.code)
		}
	})
	t.Run(caseName("R8", "NaN"), func(t *testing.T) {
		b := newBox(t).lasting(2 * time.Minute)
		for dir, value := range map[string]string{"data": "1e00", "data-7": "3e38"} { // equal lengths, so that the manifests agree
			b.write(dir+"/train.libsvm", twentyTimes(value))
			b.write(dir+"/test.libsvm", twentyTimes("1e00"))
		}
		b.write("job.yaml", readFile(t, filepath.Join("testdata", "libsvm.yaml")))
		e := b.run("run", "--verbose", "-np", "20", "sh", "-c", tellCode, "rank", "sh", "-c",
			`d=data; [ $RINGTRAIN_RANK = 7 ] && d=data-7; exec "$0" train job.yaml --set input.batch=40 --data $d`, self(b))
		want := regexp.MustCompile(`rank 7 on \S+ at step [01]: (loss of record \d+( \(first in layer \S+\))?|gradient of \S+|loss of record \d+( \(first in layer \S+\))? and gradient of \S+) (is|are) not finite`)
		for rank := range 20 {
			lines := linesOf(e.stderr, rank)
			if len(lines) < 2 || lines[len(lines)-1] != "exit=80" || !want.MatchString(lines[len(lines)-2]) {
				t.Errorf("rank %d says %q, want what is not finite on rank 7 and exit=80", rank, lines)
			}
		}
		if left, _ := filepath.Glob(b.path("*", "step-*")); e.code != 80 || len(left) > 0 {
			t.Errorf("the launcher ended with %d, want 80; saved: %v", e.code, left)
		}
	})
	t.Run(caseName("R8", "full"), func(t *testing.T) {
		b := newBox(t).lasting(2 * time.Minute)
		line := []string{"-m", "sh", "-c", `mkdir ckpt && mount -t tmpfs -o size=16k tmpfs ckpt && exec "$0" "$@"`, self(b),
			"run", "--verbose", "-np", "20", "sh", "-c", tellCode, "rank", self(b), "train"}
		e := b.startProgram("unshare", append(line, digits(5, "--set", "checkpoint.dir=ckpt/d", "--set", "export.savedmodel=")...)...).wait()
		if strings.Contains(e.stderr, "mount:") || strings.Contains(e.stderr, "unshare:") {
			t.Skip("no mounts here: " + e.stderr)
		}
		for rank := range 20 {
			lines := linesOf(e.stderr, rank)
			if len(lines) < 2 || lines[len(lines)-1] != "exit=74" || !strings.Contains(lines[len(lines)-2], "no space left") || !namesRank(lines[len(lines)-2], 0) {
				t.Errorf("rank %d says %q, want rank 0's disk and exit=74", rank, lines)
			}
		}
	})
}

// twentyTimes returns four records for each of 20 ranks, all with the same values.
func twentyTimes(value string) string {
	var text strings.Builder
	for i := range 80 {
		fmt.Fprintf(&text, "%d %d:%s %d:%s 9:%s\n", i%2, 1+i%3, value, 4+i%5, value, value)
	}
	return text.String()
}

// TestR9UnequalShards trains on files of unequal length, one of them empty, with 12
// workers. It verifies that each record is used exactly once.
func TestR9UnequalShards(t *testing.T) {
	b := newBox(t)
	b.must(0, "data", "make", "clicks", "--to", "data")
	records := recordsOf(t, b.read("data", "clicks_train.tfrecords"))
	r := rand.New(rand.NewPCG(9, 9))
	rest := records
	for i := range 12 {
		n := 0
		switch {
		case i == 11:
			n = len(rest)
		case i != 4: // is empty
			n = r.IntN(1 + len(rest)/4)
		}
		b.write(fmt.Sprintf("data/part-%02d", i), strings.Join(rest[:n], ""))
		rest = rest[n:]
	}
	b.write("job.yaml", readFile(t, filepath.Join("testdata", "clicks.yaml")))
	const epochs = 2
	train := func(files string) event {
		return b.must(0, "run", "-np", "12", "--json", "job.yaml", "--data", "data", "--resume", "never",
			"--set", "input.train.files=["+files+"]", "--set", "train.steps=0", "--set", "train.epochs="+strconv.Itoa(epochs)).only(t, "done")
	}
	parts, whole := train("part-*"), train("clicks_train.tfrecords")
	if want := float64(epochs * len(records)); parts.num("examples") != want {
		t.Errorf("%v examples, want %v: each of %d records once in each of %d epochs", parts["examples"], want, len(records), epochs)
	}
	if parts.text("digest") != whole.text("digest") {
		t.Errorf("digest %s, want that of the same records in one file, %s", parts["digest"], whole["digest"])
	}
}

// recordsOf splits a TFRecord file: length, its checksum, data, its checksum.
func recordsOf(t *testing.T, text string) []string {
	t.Helper()
	var list []string
	for len(text) > 0 {
		n := 16 + int(binary.LittleEndian.Uint64([]byte(text[:8])))
		list, text = append(list, text[:n]), text[n:]
	}
	return list
}

// TestR10OtherShape verifies that a different gradient shape on one of 20 ranks ends the
// job before any sum.
func TestR10OtherShape(t *testing.T) {
	onlyInCases(t)
	t.Parallel()
	b, port := newBox(t), freePorts(t, 1)[0]
	secret := "RINGTRAIN_TOKEN=" + token.New().Reveal()
	var ranks []*testProcess
	for rank := range 20 {
		hidden := "[8,4]"
		if rank == 12 {
			hidden = "[4,8]"
		}
		ranks = append(ranks, b.with(append(rankVariables(rank, 20, port), secret)...).start(append([]string{"train"},
			digits(5, "--set", "model.kind=mlp", "--set", "model.hidden="+hidden, "--start-timeout", "20s")...)...))
	}
	for rank, p := range ranks {
		if e := p.wait(); e.code != 64 || !namesRank(e.last(), 12) || !strings.Contains(e.last(), "model.hidden") {
			t.Errorf("rank %d ended with %d and %q, want 64 and the difference of rank 12", rank, e.code, e.last())
		}
	}
	if left := b.files(); len(left) > 0 {
		t.Errorf("a job that never began wrote %v", left)
	}
}
