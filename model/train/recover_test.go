package train

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/input/synth"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// recoveries are jobs of two epochs with all that happens between steps. Rank 2
// asks for a checkpoint amid them.
var recoveries = []struct {
	name, text string
	data       records.Set
	sets       []string
	steps      int64 // of an epoch
	stride     int   // of the frames to die at
}{
	{"momentum", linearText, linearData(), []string{"optimizer.name=momentum", "input.batch=40", "eval.every=2", "train.check_every=2"}, 3, 2},
	{"adam", linearText, linearData(), []string{"optimizer.name=adam", "input.batch=60", "schedule.kind=cosine"}, 2, 3},
	{"digits", digitsText, fewDigits(), []string{"optimizer.name=rmsprop", "optimizer.learning_rate=0.01", "input.batch=25", "eval.every=2"}, 3, 9},
	{"rows", clicksText, clicksData(), []string{"optimizer.name=ftrl", "input.batch=800", "eval.every=2"}, 3, 9},
	{"deepfm", clicksText, clicksData(), []string{"model.kind=deepfm", "model.hidden=[4]", "model.embedding=2", "input.batch=800", "eval.every=2"}, 3, 17},
	{"features", digitsText, fewDigits(), []string{"input.batch=25", "eval.every=2", "train.average.decay=0.8", "train.average.evaluate=true",
		"train.clip_norm=0.5", "train.accumulate=2", "model.l2=0.01", "train.class_weights=1,2,3,1,2,3,1,2,3,1"}, 3, 11},
}

// fewDigits are few records, so that a test can try all frames.
func fewDigits() records.Set {
	return records.Set{Train: synth.Digits(1, 60, synth.Train), Eval: synth.Digits(1, 40, synth.Eval), Split: "eval"}
}

// once asks before the n-th step only.
func once(n int) func() bool {
	asked := 0
	return func() bool {
		asked++
		return asked == n
	}
}

// TestKilledAnywhere kills each rank of three at each frame that it sends, from the first gather to
// the last frame of the end, and starts another process in its place. It verifies that the job ends
// with the bits of a run without a kill, that each record counts once, and that a surviving rank 0
// reports the same events.
func TestKilledAnywhere(t *testing.T) {
	for _, tt := range recoveries {
		t.Run("job="+tt.name, func(t *testing.T) {
			job := loadText(t, tt.text, append(tt.sets, "train.steps=0", "train.epochs=2")...)
			whole := newProcesses(t, 3, job, tt.data, askOnce)
			frames := map[int]*killedLink{0: {frames: -1}, 1: {frames: -1}, 2: {frames: -1}}
			if !whole.runInMemory(frames) {
				t.Fatal(whole.members[0].err)
			}
			whole.readLog.mustBeComplete(t, tt.data.Train.Facts().Records, 2, tt.steps)
			for rank := range 3 {
				if frames[rank].sent < 2*tt.stride {
					t.Fatalf("rank %d sends %d frames: nothing is shown", rank, frames[rank].sent)
				}
				for at := 0; at < frames[rank].sent; at += tt.stride {
					c := newProcesses(t, 3, job, tt.data, askOnce)
					if c.runInMemory(map[int]*killedLink{rank: {frames: at}}) {
						t.Fatalf("rank %d lives on without frame %d", rank, at)
					}
					c.kill(rank)
					c.mustEnd()
					t.Logf("rank %d dies at frame %d", rank, at)
					c.readLog.mustBeComplete(t, tt.data.Train.Facts().Records, 2, tt.steps)
					mustReportAlike(t, whole.members[0], c)
					if t.Failed() {
						return
					}
				}
			}
		})
	}
}

// TestVanishedAnywhere is TestKilledAnywhere for a rank whose host is gone. The other ranks notice
// the loss by the clock alone and continue as far as they can. So some complete a step that others
// do not, and rank 0 must count that step too. The clock is fake.
func TestVanishedAnywhere(t *testing.T) {
	tt := recoveries[2] // a gradient in which each rank owns a part
	job := loadText(t, tt.text, append(tt.sets, "train.steps=0", "train.epochs=2")...)
	whole := newProcesses(t, 3, job, tt.data, askOnce)
	frames := &killedLink{frames: -1}
	if !whole.runInMemory(map[int]*killedLink{1: frames}) {
		t.Fatal(whole.members[0].err)
	}
	if frames.sent < 10 {
		t.Fatalf("%d frames are sent: nothing is shown", frames.sent)
	}
	for rank := range 3 {
		for at := rank; at < frames.sent; at += 5 {
			synctest.Test(t, func(t *testing.T) {
				c := newProcesses(t, 3, job, tt.data, askOnce)
				c.runInMemory(map[int]*killedLink{rank: {frames: at, vanishes: true}})
				c.kill(rank)
				c.mustEnd()
				c.readLog.mustBeComplete(t, tt.data.Train.Facts().Records, 2, tt.steps)
				mustReportAlike(t, whole.members[0], c)
			})
			if t.Failed() {
				t.Fatalf("rank %d vanishes at frame %d", rank, at)
			}
		}
	}
}

func askOnce(m *member) {
	if m.rank == 2 {
		m.opts.Checkpoint = once(2)
	}
}

// mustReportAlike fails the test unless the processes ended as the run without a kill did, and the
// processes of rank 0 together reported the same events.
func mustReportAlike(t *testing.T, whole *member, c *processes) {
	t.Helper()
	m := c.members[0]
	if m.result != whole.result {
		t.Fatalf("ended with %+v, want %+v", m.result, whole.result)
	}
	want, got := whole.losses(), m.losses()
	if len(c.killed) == 0 || !slices.ContainsFunc(c.killed, func(m *member) bool { return m.rank == 0 }) {
		if !slices.Equal(got, want) {
			t.Errorf("losses are %v, want %v", got, want)
		}
		if got, want := kinds(m), kinds(whole); !slices.Equal(got, want) {
			t.Errorf("events are %q, want %q", got, want)
		}
	}
	if len(got) > len(want) || !slices.Equal(got, want[len(want)-len(got):]) {
		t.Errorf("losses are %v, want the last of %v", got, want)
	}
	done, end := eventsOf[report.Done](m), eventsOf[report.Done](whole)[0]
	if len(done) != 1 || done[0].Steps != end.Steps || done[0].Epochs != end.Epochs || done[0].Eval.Loss != end.Eval.Loss || done[0].Loss != end.Loss {
		t.Errorf("done is %+v, want one as %+v", done, end)
	}
	if done[0].Examples != end.Examples {
		t.Errorf("done has %d examples, want %d", done[0].Examples, end.Examples)
	}
}

// kinds returns the kinds of the events, in order.
func kinds(m *member) []string {
	var all []string
	for _, e := range m.events {
		all = append(all, e.Kind())
	}
	return all
}

// TestKilledAgain kills several or all ranks in a generation, over several generations, by the
// seed. It verifies that the job ends with the bits of a run without a kill, and that each record
// counts once. If no process is left, the job resumes from the checkpoint.
func TestKilledAgain(t *testing.T) {
	const p = 3
	text, sets := recoveries[0].text, append(recoveries[0].sets, "train.steps=0", "train.epochs=2")
	whole := mustTrain(t, p, loadText(t, text, sets...), linearData(), nil)[0]
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 0))
		job := loadText(t, text, append(sets, "checkpoint.every=2", "checkpoint.dir="+t.TempDir())...)
		c := newProcesses(t, p, job, linearData(), nil)
		for range 1 + rng.IntN(4) {
			odd := map[int]*killedLink{}
			for rank := range p {
				if rng.IntN(p) == 0 {
					odd[rank] = &killedLink{frames: rng.IntN(40)}
				}
			}
			c.runInMemory(odd)
			for rank := range odd {
				c.kill(rank)
			}
		}
		m := c.mustEnd()[0]
		if m.result != whole.result {
			t.Errorf("seed %d: ended with %+v, want %+v", seed, m.result, whole.result)
		}
		c.readLog.mustBeComplete(t, linearData().Train.Facts().Records, 2, 3)
		if t.Failed() {
			return
		}
	}
}

// TestAllKilled verifies that a job without a surviving process resumes from the newest checkpoint.
func TestAllKilled(t *testing.T) {
	job := loadText(t, clicksText, "checkpoint.every=3", "checkpoint.dir="+t.TempDir())
	c := newProcesses(t, 3, job, clicksData(), nil)
	closeAfter(c.members[1], 7)
	c.runInMemory(nil)
	c.kill(0, 1, 2)
	m := c.mustEnd()[0]
	if got := eventsOf[report.Start](m)[0].RestoredStep; got != 6 {
		t.Errorf("resumed at step %d, want 6", got)
	}
	job.Checkpoint.Dir = ""
	if whole := mustTrain(t, 3, job, clicksData(), nil)[0]; m.result != whole.result {
		t.Errorf("ended with %+v, want %+v", m.result, whole.result)
	}
}

// closeAfter makes m lose its group after a step, once.
func closeAfter(m *member, step int64) { closeIn(m, step, "train") }

// closeIn makes m lose its group in a phase after a step, once.
func closeIn(m *member, step int64, phase string) {
	next, over := m.team.Progress, false
	m.team.Progress = func(s int64, p string) {
		next(s, p)
		if s == step && p == phase && !over {
			over = true
			m.team.Group.Close()
		}
	}
}

// TestRecoverOnHosts verifies that no view into the memory of a host survives its generation, and
// that another layout of the ranks changes results by rounding only.
func TestRecoverOnHosts(t *testing.T) {
	job := loadText(t, digitsText, "optimizer.name=adam", "optimizer.learning_rate=0.01")
	run := func(hosts ...[]int) *member {
		c := newProcesses(t, 4, job, digitsData(), nil)
		closeAfter(c.members[3], 4)
		for i, h := range hosts {
			well := c.runGeneration(func(rank func(g *ring.Group) error) { ringtest.RunOnHosts(t, h, ring.DefaultConfig(), rank) })
			if last := i == len(hosts)-1; well != last {
				t.Fatalf("generation %d on hosts %v went well: %t, %v", i+1, h, well, c.members[0].err)
			}
			if !well {
				c.kill(3)
				for _, v := range c.members[0].trainer.model.Variables() {
					if v.Grad != nil {
						t.Errorf("gradient of %s points into memory that is gone", v.Name)
					}
				}
			}
		}
		return mustEnd(t, c.members)[0]
	}
	same := run([]int{0, 0, 0, 0}, []int{0, 0, 0, 0})
	whole := mustEnd(t, trainBy(t, 4, func(rank func(g *ring.Group) error) {
		ringtest.RunOnHosts(t, []int{0, 0, 0, 0}, ring.DefaultConfig(), rank)
	}, job, digitsData(), nil))[0]
	if same.result != whole.result {
		t.Errorf("ended with %+v, want %+v", same.result, whole.result)
	}
	other := run([]int{0, 0, 1, 1}, []int{0, 0, 1, 0})
	if len(whole.losses()) != 10 {
		t.Fatalf("losses are %v, want 10", whole.losses())
	}
	for i, want := range whole.losses() {
		if got := other.losses(); len(got) != 10 || traintest.Far(got[i], want, 1e-5) {
			t.Fatalf("losses are %v, want %v", got, whole.losses())
		}
	}
}

// TestRecoverOnFewer verifies that the next generation may have fewer ranks: each record counts
// once, with the weights of the new world size.
func TestRecoverOnFewer(t *testing.T) {
	data := fewDigits()
	job := loadText(t, digitsText, "input.batch=25", "train.steps=0", "train.epochs=2")
	c := newProcesses(t, 4, job, data, nil)
	closeAfter(c.members[3], 2)
	c.runInMemory(nil)
	c.members = c.members[:2]
	for _, of := range c.readLog[2:] {
		delete(of, 3) // the step in progress
	}
	got := c.mustEnd()[0].losses()
	c.readLog.mustBeComplete(t, data.Train.Facts().Records, 2, 3)
	want := mustTrain(t, 1, job, data, nil)[0].losses()
	if len(want) != 6 {
		t.Fatalf("losses are %v, want 6", want)
	}
	for i := range want {
		if len(got) != 6 || traintest.Far(got[i], want[i], 1e-5) {
			t.Fatalf("losses are %v, want %v", got, want)
		}
	}
}

// TestRecoverLossy verifies that a job with a lossy codec continues after a kill, with equal
// replicas.
func TestRecoverLossy(t *testing.T) {
	for _, codec := range []string{"int8", "powersgd:2"} {
		t.Run("codec="+codec, func(t *testing.T) {
			job := loadText(t, digitsText, "allreduce.codec="+codec, "allreduce.levels=flat", "train.check_every=1")
			for rank := range 3 {
				for at := 5; at < 70; at += 23 {
					c := newProcesses(t, 3, job, digitsData(), nil)
					if c.runInMemory(map[int]*killedLink{rank: {frames: at}}) {
						t.Fatalf("rank %d lives on without frame %d", rank, at)
					}
					c.kill(rank)
					if m := c.mustEnd()[0]; m.result.Step != 10 {
						t.Errorf("ended with %+v, want step 10", m.result)
					}
				}
			}
		})
	}
}

// TestRecoverEnd ends a generation when all ranks have reached the end of their run, in Leave. It
// verifies that the next generation trains, saves, exports and reports nothing again, and ends with
// the same result.
func TestRecoverEnd(t *testing.T) {
	for killed := range 3 {
		t.Run(fmt.Sprintf("killed=%d", killed), func(t *testing.T) {
			dir := t.TempDir()
			job := loadText(t, clicksText, "checkpoint.dir="+dir+"/ckpt", "export.savedmodel="+dir+"/export")
			c := newProcesses(t, 3, job, clicksData(), nil)
			before := c.mustEnd()[0]
			want, told := before.result, len(before.events)
			c.kill(killed)
			m := c.mustEnd()[0]
			if m.result != want {
				t.Errorf("ended with %+v, want %+v", m.result, want)
			}
			if killed != 0 && len(m.events) != told {
				t.Errorf("tells %v again", kinds(m)[told:])
			}
			if got := len(eventsOf[report.Done](m)); got != 1 {
				t.Errorf("%d ends are told", got)
			}
			if steps, exports := len(m.losses()), len(eventsOf[report.Exported](m)); killed == 0 && steps+exports > 0 {
				t.Errorf("%d steps and %d exports are told, want none", steps, exports)
			}
			if exports := glob(t, dir+"/export/*"); len(exports) != 1 {
				t.Errorf("exports are %v, want one", exports)
			}
		})
	}
}

// TestKilledWriting ends rank 0 in the middle of a checkpoint of a state that only it holds. It
// verifies that the next process in its place writes that checkpoint.
func TestKilledWriting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ckpt")
	job := loadText(t, clicksText, "checkpoint.dir="+dir, "checkpoint.every=4")
	c := newProcesses(t, 3, job, clicksData(), nil)
	closeIn(c.members[0], 4, "checkpoint")
	if c.runInMemory(nil) {
		t.Fatal("the generation has not ended")
	}
	c.kill(0)
	m := c.mustEnd()[0]
	if got := eventsOf[report.Checkpointed](m); len(got) != 3 || got[0].Step != 4 {
		t.Errorf("checkpoints are %+v, want those of steps 4, 8 and 10", got)
	}
}

// TestRecoverPhases ends a generation in each phase that writes to rank 0's disk, by the death of
// rank 0 or of another rank. It verifies that each checkpoint and export is written once and is the
// right one.
func TestRecoverPhases(t *testing.T) {
	for _, phase := range []string{"evaluate", "checkpoint", "export", "end"} {
		for killed := range 2 {
			t.Run(fmt.Sprintf("phase=%s/killed=%d", phase, killed), func(t *testing.T) {
				dir := t.TempDir()
				job := loadText(t, clicksText, "checkpoint.dir="+dir+"/ckpt", "export.savedmodel="+dir+"/export", "checkpoint.keep=9")
				c := newProcesses(t, 3, job, clicksData(), nil)
				closeIn(c.members[0], 10, phase)
				if c.runInMemory(nil) {
					t.Fatal("the generation has not ended")
				}
				c.kill(killed)
				m := c.mustEnd()[0]
				if got := glob(t, dir+"/ckpt/step-*"); len(got) != 1 {
					t.Errorf("checkpoints are %v, want one", got)
				}
				if got := glob(t, dir+"/export/*"); len(got) != 1 {
					t.Errorf("exports are %v, want one", got)
				}
				if killed == 1 {
					want := []string{"start", "step", "decision", "step", "step", "step", "step", "step", "step", "step", "step", "step", "checkpoint", "eval", "export", "done"}
					if got := kinds(m); !slices.Equal(got, want) {
						t.Errorf("events are %q, want %q", got, want)
					}
				}
			})
		}
	}
}

// TestFenced has another process claim the folder of checkpoints during training. It verifies that
// rank 0 stops, and that the error does not blame the disk.
func TestFenced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ckpt")
	members := trainOn(t, 3, loadText(t, clicksText, "checkpoint.dir="+dir, "checkpoint.every=2"), clicksData(), func(m *member) {
		m.team.Progress = func(step int64, phase string) {
			if m.rank == 0 && step == 3 && phase == "train" {
				if _, err := checkpoint.Claim(t.Context(), bundle.NewDisk(bundle.OS, func(error) {}), dir, "test", nil); err != nil {
					t.Error(err)
				}
			}
		}
	})
	wantCause(t, members, exitcode.Retry, 0, "checkpoint of step 4: ", dir, "has taken over from this process, attempt 1")
	if s, err := checkpoint.Load(dir); err != nil || s.Step != 2 {
		t.Errorf("the newest checkpoint is of step %d, %v, want 2", s.Step, err)
	}
}
