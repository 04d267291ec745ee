package train

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/export/checkpoint"
	"ringtrain/export/history"
	"ringtrain/input"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// wantCause checks that all ranks ended with the same cause: that of a rank, with these words.
func wantCause(t *testing.T, members []*member, code, rank int, words ...string) {
	t.Helper()
	for _, m := range members {
		if m.err == nil {
			t.Fatalf("rank %d ended well", m.rank)
		}
		c := m.cause()
		if c.ExitCode != code || c.Rank != rank || !containsAll(c.Text, words...) {
			t.Errorf("rank %d ended with code %d, rank %d: %s; want code %d, rank %d, %q", m.rank, c.ExitCode, c.Rank, c.Text, code, rank, words)
		}
	}
}

// TestReplicaDiffers verifies that a replica that differs is found before a checkpoint, and that
// the error names its rank.
func TestReplicaDiffers(t *testing.T) {
	tests := []struct{ world, odd, want int }{
		{3, 0, 0}, {3, 1, 1}, {3, 2, 2}, {5, 3, 3},
		{2, 0, -1}, {2, 1, -1}, // no majority: the error names both
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("world=%d/odd=%d", tt.world, tt.odd), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "ckpt")
			members := trainOn(t, tt.world, loadText(t, clicksText, "checkpoint.dir="+dir), clicksData(), func(m *member) {
				m.team.Progress = func(_ int64, phase string) {
					if phase == "checkpoint" && m.rank == tt.odd {
						v := m.trainer.model.Variables()[0].Value
						v[7] = math.Nextafter32(v[7], 1)
					}
				}
			})
			wantDiverged(t, members, tt.want, 10)
			if _, _, found, err := checkpoint.Newest(dir); found || err != nil {
				t.Errorf("there is a checkpoint, or an error: %v", err)
			}
		})
	}
}

// wantDiverged checks that all ranks ended after the step because the replica of a rank differs, or,
// with odd -1, because one of two does.
func wantDiverged(t *testing.T, members []*member, odd int, step int64) {
	t.Helper()
	words, host := []string{"replicas diverged: digest of the variables is ", " on rank 0, ", " on rank 1; no majority"}, ""
	if odd >= 0 {
		words = []string{"replicas diverged: digest of the variables is ", fmt.Sprintf(" on rank %d, want ", odd),
			fmt.Sprintf(" as on %d of %d ranks", len(members)-1, len(members))}
		host = fmt.Sprintf("host%d", odd)
	}
	wantCause(t, members, exitcode.Diverged, odd, words...)
	if c := members[0].cause(); c.Step != step || c.Host != host {
		t.Errorf("the cause is at step %d on %q, want %d, %q", c.Step, c.Host, step, host)
	}
}

// spoiled is a data set in which the features of some records have one value,
// and the label 0.
type spoiled struct {
	input.Dataset
	records []int
	value   float32
}

func (s spoiled) Append(b *input.Batch, records ...int) error {
	return oneByOne(b, records, s.append)
}

func (s spoiled) append(b *input.Batch, i int) error {
	if err := s.Dataset.Append(b, i); err != nil {
		return err
	}
	if slices.Contains(s.records, i) {
		row := b.X.Dense.Row(b.X.Dense.Rows - 1)
		for j := range row {
			row[j] = s.value
		}
		b.Y[len(b.Y)-1] = 0
	}
	return nil
}

// oneByOne calls appendOne for each record.
func oneByOne(b *input.Batch, records []int, appendOne func(b *input.Batch, i int) error) error {
	for _, i := range records {
		if err := appendOne(b, i); err != nil {
			return err
		}
	}
	return nil
}

// TestNotFinite verifies that a NaN or an infinity ends all ranks, with the rank and the tensor.
func TestNotFinite(t *testing.T) {
	inf := float32(math.Inf(1))
	tests := []struct {
		name    string
		records []int // ten of each step are one rank's
		value   float32
		rank    int
		step    int64
		want    string
	}{
		{"loss", []int{75}, inf, 1, 2, "loss of record 75 (first in layer softmax) and gradient of softmax/kernel are not finite"},
		{"lowest rank", []int{85, 76, 79}, inf, 1, 2, "loss of record 76 (first in layer softmax) and gradient of softmax/kernel are not finite"},
		{"gradient", []int{20, 21, 22, 23, 24, 25, 26, 27, 28, 29}, 3e38, 2, 0, "gradient of softmax/kernel is not finite"},
	}
	for _, tt := range tests {
		for _, codec := range []string{"none", "int8"} {
			t.Run("where="+tt.name+"/codec="+codec, func(t *testing.T) {
				job := loadText(t, digitsText, "input.shuffle=false", "input.batch=30", "loss.reduction=sum", "optimizer.learning_rate=0.001",
					"allreduce.codec="+codec, "allreduce.levels=flat")
				data := digitsData()
				data.Train = spoiled{data.Train, tt.records, tt.value}
				members := trainOn(t, 3, job, data, nil)
				wantCause(t, members, exitcode.NotFinite, tt.rank, tt.want)
				if c := members[0].cause(); c.Step != tt.step {
					t.Errorf("the cause is at step %d, want %d", c.Step, tt.step)
				}
			})
		}
	}
}

// TestSumNotFinite verifies that gradients with a sum that is not finite, though each is, end all
// ranks with the name of the variable, also with int8.
func TestSumNotFinite(t *testing.T) {
	data := digitsData()
	data.Train = spoiled{data.Train, []int{3, 13}, 3e38} // one record of ranks 0 and 1, each
	job := loadText(t, digitsText, "input.shuffle=false", "input.batch=30", "loss.reduction=sum", "optimizer.learning_rate=0.001",
		"allreduce.codec=int8", "allreduce.levels=flat")
	members := trainOn(t, 3, job, data, nil)
	wantCause(t, members, exitcode.NotFinite, -1, "sum of the gradients of softmax/kernel is not finite")
	if c := members[0].cause(); c.Step != 0 {
		t.Errorf("the cause is at step %d, want 0", c.Step)
	}
}

// TestNotFiniteAtTheEnd verifies that variables that the last update made infinite are neither
// saved nor exported.
func TestNotFiniteAtTheEnd(t *testing.T) {
	dir := t.TempDir()
	job := loadText(t, linearText, "optimizer.learning_rate=1e30", "train.steps=2",
		"checkpoint.dir="+filepath.Join(dir, "ckpt"), "export.savedmodel="+filepath.Join(dir, "export"))
	members := trainOn(t, 2, job, linearData(), nil)
	wantCause(t, members, exitcode.NotFinite, -1, "variable linear/kernel is not finite")
	if got := len(eventsOf[report.Step](members[0])); got != 2 {
		t.Errorf("%d steps, want 2", got)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*", "*")); err != nil || len(left) != 1 || filepath.Base(left[0]) != history.File {
		t.Errorf("%v is left, error %v, want the history alone", left, err)
	}
}

// TestNotFiniteCheckpoint verifies that variables that an update made infinite are not saved,
// during a run or when it is stopped. The checkpoint before stays the newest.
func TestNotFiniteCheckpoint(t *testing.T) {
	inf := float32(math.Inf(1))
	for name, bad := range map[string]float32{"inf": inf, "-inf": -inf, "nan": float32(math.NaN())} {
		for _, stop := range []int{0, 143} {
			t.Run(fmt.Sprintf("value=%s/stop=%d", name, stop), func(t *testing.T) {
				dir := t.TempDir()
				job := loadText(t, linearText, "checkpoint.dir="+dir, "checkpoint.every="+map[int]string{0: "2", 143: "3"}[stop])
				members := trainOn(t, 3, job, linearData(), func(m *member) {
					m.stopAfter(4, stop)
					m.team.Progress = func(step int64, phase string) {
						if step == 4 && phase == "train" {
							m.trainer.model.Variables()[0].Value[0] = bad
						}
					}
				})
				name := members[0].trainer.model.Variables()[0].Name
				wantCause(t, members, exitcode.NotFinite, -1, "variable "+name+" is not finite")
				if c := members[0].cause(); c.Step != 4 || c.Operation != "checkpoint" {
					t.Errorf("the cause is %+v, want step 4 and checkpoint", c)
				}
				s, err := checkpoint.Load(dir)
				if want := map[int]int64{0: 2, 143: 3}[stop]; err != nil || s.Step != want {
					t.Errorf("the newest checkpoint is of step %d, error %v, want %d", s.Step, err, want)
				}
			})
		}
	}
}

// TestCannotWrite verifies that a path that cannot be written ends all ranks before the first step.
func TestCannotWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"checkpoint.dir", "export.savedmodel"} {
		t.Run("key="+key, func(t *testing.T) {
			members := trainOn(t, 3, loadText(t, clicksText, key+"="+filepath.Join(file, "x")), clicksData(), nil)
			wantCause(t, members, exitcode.CannotCreate, 0, key+": ", file)
			if m := members[0]; len(m.events) > 0 || m.cause().Step != -1 {
				t.Errorf("events %v, cause at step %d, want none, -1", m.events, m.cause().Step)
			}
		})
	}
}

// TestStop verifies that a stop of one rank ends all ranks after the same step, with a checkpoint
// of that step.
func TestStop(t *testing.T) {
	for asked := range 3 {
		t.Run(fmt.Sprintf("rank=%d", asked), func(t *testing.T) {
			dir := t.TempDir()
			members := mustTrain(t, 3, loadText(t, clicksText, "checkpoint.dir="+dir, "log.every=4"), clicksData(), func(m *member) {
				if m.rank == asked {
					m.stopAfter(6, exitcode.Interrupted)
				}
			})
			if r := members[0].result; r.Step != 6 || r.Stopped != exitcode.Interrupted || len(r.Digest) != 64 {
				t.Errorf("stopped with %+v, want step 6, code %d, a digest", r, exitcode.Interrupted)
			}
			s, err := checkpoint.Load(dir)
			if err != nil || s.Step != 6 || s.Run.Finished {
				t.Errorf("checkpoint of step %d, finished %t, error %v; want 6, false", s.Step, s.Run.Finished, err)
			}
			if steps := eventsOf[report.Step](members[0]); len(steps) != 2 || steps[1].Step != 6 {
				t.Errorf("steps %+v, want 4 and the last one, 6", steps)
			}
		})
	}
}

// TestStopAtTheEnd verifies that a stop at the last step saves the finished job, and that the next start
// does the rest.
func TestStopAtTheEnd(t *testing.T) {
	job := loadText(t, clicksText, "checkpoint.dir="+t.TempDir())
	m := mustTrain(t, 2, job, clicksData(), func(m *member) { m.stopAfter(10, 143) })[0]
	if m.result.Stopped != exitcode.Terminated || m.result.Step != 10 || len(eventsOf[report.Done](m)) > 0 {
		t.Errorf("ended with %+v, want code 143 after step 10", m.result)
	}
	next := mustTrain(t, 2, job, clicksData(), nil)[0]
	if next.result.Digest != m.result.Digest || len(eventsOf[report.Step](next)) > 0 || len(eventsOf[report.Done](next)) != 1 {
		t.Errorf("the next start ends with %+v and %v, want a job that is done without a step", next.result, next.events)
	}
}

// TestEveryByTime verifies that events due by time follow rank 0's clock, after the same step on
// all ranks. The clock is fake; each step takes a second.
func TestEveryByTime(t *testing.T) {
	job := loadText(t, clicksText, "checkpoint.dir="+t.TempDir(), "checkpoint.every=4s", "eval.every=3s", "log.every=5s")
	data := clicksData()
	synctest.Test(t, func(t *testing.T) {
		m := mustTrain(t, 2, job, data, func(m *member) {
			done := int64(0)
			m.team.Progress = func(step int64, phase string) {
				if phase == "train" && step > done {
					done = step
					time.Sleep(time.Second)
				}
			}
		})[0]
		var evals, saved, steps []int64
		for _, e := range eventsOf[report.Metrics](m) {
			evals = append(evals, e.Step)
		}
		for _, e := range eventsOf[report.Checkpointed](m) {
			saved = append(saved, e.Step)
		}
		for _, e := range eventsOf[report.Step](m) {
			steps = append(steps, e.Step)
		}
		// Rank 0 asks for due work before a step; all ranks do it after the step.
		if got, want := fmt.Sprint(evals, saved, steps), "[4 8 10] [5 10] [5 10]"; got != want {
			t.Errorf("evaluations, checkpoints and reports are after steps %s, want %s", got, want)
		}
	})
}
