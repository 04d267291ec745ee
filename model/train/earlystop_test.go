package train

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/export/savedmodel"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// TestBest verifies which values are better, when a run ends, and that an evaluation counts once.
func TestBest(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name   string
		s      job.EarlyStopping
		values []float64 // of steps 10, 20, …
		step   int64     // of the best
		end    int       // number of the evaluation that ends the run, 0: none
	}{
		{"falling loss", job.EarlyStopping{Metric: "loss", Patience: 2, MinDelta: 0}, []float64{3, 2, 1, 0.5}, 40, 0},
		{"loss that rises", job.EarlyStopping{Metric: "loss", Patience: 2, MinDelta: 0}, []float64{3, 2, 2.5, 2.1, 1}, 20, 4},
		{"equal is not better", job.EarlyStopping{Metric: "loss", Patience: 1, MinDelta: 0}, []float64{3, 3}, 10, 2},
		{"better by too little", job.EarlyStopping{Metric: "rmse", Patience: 3, MinDelta: 0.1}, []float64{1, 0.95, 0.92, 0.901, 0.5}, 10, 4},
		{"small steps add up", job.EarlyStopping{Metric: "loss", Patience: 3, MinDelta: 0.1}, []float64{1, 0.95, 0.89, 0.85, 0.8, 0.7}, 60, 0},
		{"accuracy", job.EarlyStopping{Metric: "accuracy", Patience: 2, MinDelta: 0}, []float64{0.5, 0.6, 0.55, 0.7, 0.6, 0.7}, 40, 6},
		{"not finite", job.EarlyStopping{Metric: "auc", Patience: 2, MinDelta: 0}, []float64{nan, 0.6, nan, 0.6}, 20, 4},
		{"never finite", job.EarlyStopping{Metric: "loss", Patience: 2, MinDelta: 0}, []float64{nan, math.Inf(1)}, 0, 2},
		{"no patience", job.EarlyStopping{Metric: "loss", Patience: 0, MinDelta: 0}, []float64{1, 2, 3, 4}, 10, 0},
	} {
		var b bestEvaluation
		end := 0
		for i, v := range tt.values {
			b.observe(tt.s, int64(10*i+10), v)
			if b.observe(tt.s, int64(10*i+10), -v) {
				t.Errorf("%s: an evaluation counts twice", tt.name)
			}
			end = i + 1
			if b.ends(tt.s) {
				break
			}
			end = 0
		}
		if b.step != tt.step || end != tt.end {
			t.Errorf("%s: best step %d, ended by evaluation %d, want %d and %d", tt.name, b.step, end, tt.step, tt.end)
		}
		if again := restoredBest(b.stored()); fmt.Sprint(again) != fmt.Sprint(b) {
			t.Errorf("%s: %+v is restored as %+v", tt.name, b, again)
		}
	}
}

// stopping returns a job whose best loss is after step 2. It ends by its evaluations.
func stopping(t *testing.T, dir string, sets ...string) *job.Config {
	t.Helper()
	return loadText(t, digitsText, append([]string{"train.steps=30", "eval.every=2", "train.early_stopping.patience=3",
		"train.early_stopping.min_delta=10", "checkpoint.keep=1", "checkpoint.dir=" + filepath.Join(dir, "ckpt"), "export.savedmodel=" + filepath.Join(dir, "export")}, sets...)...)
}

// TestEarlyStopping verifies that a run ends by its evaluations after the same step at any world
// size. The best checkpoint exists beside the last one and is exported. A second start finds the
// run finished, unless it has more patience.
func TestEarlyStopping(t *testing.T) {
	for _, p := range []int{1, 2, 4} {
		dir := t.TempDir()
		cfg := stopping(t, dir)
		m := mustTrain(t, p, cfg, digitsData(), nil)[0]
		if m.result.Step != 8 || m.result.Stopped != 0 {
			t.Fatalf("ranks=%d: ended with %+v, want step 8", p, m.result)
		}
		decisions := eventsOf[report.Decision](m)
		if d := decisions[len(decisions)-1]; d.What != "stop" || d.Choice != "step 8" || !containsAll(d.Why, "loss is best at step 2, ", ": 3 evaluations since are not better by more than 10") {
			t.Errorf("ranks=%d: decisions are %+v", p, decisions)
		}
		got := glob(t, filepath.Join(dir, "ckpt", "step-*"))
		for i := range got {
			got[i] = filepath.Base(got[i])
		}
		if want := []string{"step-000002", "step-000008"}; !slices.Equal(got, want) {
			t.Fatalf("ranks=%d: checkpoints are %q, want %q", p, got, want)
		}
		mustExport(t, m, dir, 2)
		mustResult(t, m, dir, 2)
		again := mustTrain(t, p, cfg, digitsData(), nil)[0]
		mustResult(t, again, dir, 2)
		if again.result != m.result || len(again.losses()) > 0 || len(eventsOf[report.Exported](again)) > 0 {
			t.Errorf("ranks=%d: started again, the run ends with %+v after %d steps", p, again.result, len(again.losses()))
		}
		cfg.Train.EarlyStopping.Patience = 5
		if longer := mustTrain(t, p, cfg, digitsData(), nil)[0]; longer.result.Step != 12 || len(longer.losses()) != 4 {
			t.Errorf("ranks=%d: with more patience the run ends at step %d, want 12", p, longer.result.Step)
		}
	}
}

// TestEarlyStoppingReports verifies that the steps up to the last one are reported once if a run
// ends by its evaluations.
func TestEarlyStoppingReports(t *testing.T) {
	for every, want := range map[string][]int64{"1": {1, 2, 3, 4, 5, 6, 7, 8}, "4": {4, 8}, "5": {5, 8}, "1h": {8}, "0": nil} {
		m := mustTrain(t, 2, stopping(t, t.TempDir(), "log.every="+every), digitsData(), nil)[0]
		var got []int64
		for _, e := range eventsOf[report.Step](m) {
			got = append(got, e.Step)
			if !isFinite(float64(e.Loss)) {
				t.Errorf("every=%s: the loss at step %d is %v", every, e.Step, e.Loss)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("every=%s: steps %v are reported, want %v", every, got, want)
		}
	}
}

// mustExport fails the test unless m has exported the checkpoint of the step.
func mustExport(t *testing.T, m *member, dir string, step int64) {
	t.Helper()
	exports := eventsOf[report.Exported](m)
	if len(exports) != 1 || exports[0].Step != step {
		t.Fatalf("exports are %+v, want one of step %d", exports, step)
	}
	b, err := savedmodel.Read(filepath.Join(dir, "export"))
	if err != nil {
		t.Fatal(err)
	}
	kept := loadState(t, filepath.Join(dir, "ckpt", fmt.Sprintf("step-%06d", step)))
	for _, v := range b.Variables {
		want := kept[v.Name]
		if m.job.Train.Average.Export {
			want = kept[v.Name+trained.AverageSuffix]
		}
		if got, err := v.Float32s(); err == nil && want != nil && !slices.Equal(got, want) || err == nil && len(got) > 1 && want == nil {
			t.Errorf("the export of %s is not that of step %d", v.Name, step)
		}
	}
}

// mustResult fails the test unless the last evaluation that m reports, the evaluation of done, and the
// model that eval, predict and export read are those of the step.
func mustResult(t *testing.T, m *member, dir string, step int64) {
	t.Helper()
	evals := eventsOf[report.Metrics](m)
	last, done := evals[len(evals)-1], eventsOf[report.Done](m)[0].Eval
	s, err := trained.Open(t.Context(), m.job, nil, "", records.Evaluated{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if last.Step != step || done.Step != step || s.Step != step {
		t.Errorf("the last evaluation is of step %d, done has %d, eval reads %d, want step %d", last.Step, done.Step, s.Step, step)
	}
	for _, e := range evals {
		if e.Step == step && (e.Loss != done.Loss || e.Epoch != done.Epoch) {
			t.Errorf("the loss of step %d in epoch %d is %v, at the end %v in epoch %d", step, e.Epoch, e.Loss, done.Loss, done.Epoch)
		}
	}
}

// TestEarlyStoppingResult verifies that the best step is the result of a run that ends by its steps, too,
// whether the last evaluation is the best or not, with averages, at 1 and 3 ranks, and when the job is
// started again. A longer run goes on from the last step.
func TestEarlyStoppingResult(t *testing.T) {
	average := []string{"train.average.decay=0.5", "train.average.evaluate=true", "train.average.export=true"}
	for _, tt := range []struct {
		sets []string
		best int64
	}{
		{[]string{"train.steps=5"}, 2},
		{[]string{"train.steps=6"}, 2},
		{[]string{"train.steps=1"}, 1},                                            // the only evaluation is that of the end
		{[]string{"train.steps=5", "train.early_stopping.min_delta=0"}, 5},        // the last is not yet saved as the best
		{append(average, "train.steps=5", "train.early_stopping.min_delta=0"), 5}, // nor is its average
		{append(average, "train.steps=5"), 2},
	} {
		for _, p := range []int{1, 3} {
			dir := t.TempDir()
			cfg := stopping(t, dir, tt.sets...)
			m := mustTrain(t, p, cfg, digitsData(), nil)[0]
			mustExport(t, m, dir, tt.best)
			mustResult(t, m, dir, tt.best)
			again := mustTrain(t, p, cfg, digitsData(), nil)[0]
			mustResult(t, again, dir, tt.best)
			if again.result != m.result || len(eventsOf[report.Exported](again)) > 0 {
				t.Errorf("%v on %d ranks: started again, the run ends with %+v and %d exports, want %+v", tt.sets, p, again.result, len(eventsOf[report.Exported](again)), m.result)
			}
			for _, m := range []*member{m, again} {
				if got := eventsOf[report.Done](m)[0].ExportedBest; got != tt.best {
					t.Errorf("%v on %d ranks: step %d is told as exported, want %d", tt.sets, p, got, tt.best)
				}
			}
		}
	}
}

// TestEarlyStoppingRemembersTheLast verifies that a run that is made longer knows of the evaluation at the
// end of the run before, which came after its last checkpoint.
func TestEarlyStoppingRemembersTheLast(t *testing.T) {
	cfg := stopping(t, t.TempDir(), "train.steps=4", "train.early_stopping.min_delta=0")
	want := mustTrain(t, 2, cfg, digitsData(), nil)[0].trainer.progress.best
	cfg.Train.Steps = 8
	m := mustTrain(t, 2, cfg, digitsData(), func(m *member) { m.stopAfter(1, exitcode.Terminated) })
	for _, m := range m {
		if got := m.trainer.progress.best; got != want || got.step != 4 || m.result.Step != 5 {
			t.Errorf("rank %d at step %d: the best is %+v, want %+v of step 4", m.rank, m.result.Step, got, want)
		}
	}
}

// TestEarlyStoppingResultAfterStop verifies that the best step is the result, too, if the newest checkpoint is of a step
// without an evaluation, as after a signal or a lost rank.
func TestEarlyStoppingResultAfterStop(t *testing.T) {
	m := mustTrain(t, 2, stopping(t, t.TempDir(), "train.steps=9"), digitsData(), func(m *member) { m.stopAfter(5, exitcode.Terminated) })
	s, err := trained.Open(t.Context(), m[0].job, nil, "", records.Evaluated{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if last := m[0].result.Step; last != 5 || s.Step != 2 {
		t.Errorf("the run has stopped after step %d and eval reads step %d, want 5 and 2", last, s.Step)
	}
}

// TestEarlyStoppingResumes verifies that a stop with a resume, and a killed rank, do not change the
// count of evaluations. The average is exported.
func TestEarlyStoppingResumes(t *testing.T) {
	for _, at := range []int{3, 5, 7} {
		dir := t.TempDir()
		cfg := stopping(t, dir, "train.average.decay=0.5", "train.average.export=true")
		mustTrain(t, 2, cfg, digitsData(), func(m *member) { m.stopAfter(at, exitcode.Terminated) })
		m := mustTrain(t, 2, cfg, digitsData(), func(m *member) { m.opts.Resume = "must" })[0]
		if m.result.Step != 8 {
			t.Errorf("stopped after step %d, the run ends at step %d, want 8", at, m.result.Step)
		}
		mustExport(t, m, dir, 2)
		mustResult(t, m, dir, 2)
	}
}

// TestInitFromTakesTheResult verifies that train.init_from takes the best step of a folder, as eval does.
func TestInitFromTakesTheResult(t *testing.T) {
	dir := t.TempDir()
	mustTrain(t, 1, stopping(t, dir), digitsData(), nil)
	m := mustTrain(t, 2, loadText(t, digitsText, "train.steps=1", "train.init_from.path="+filepath.Join(dir, "ckpt")), digitsData(), nil)[0]
	if !slices.Contains(m.notices, "step 2 is taken, the best") || !slices.ContainsFunc(m.notices, func(line string) bool { return strings.Contains(line, "step-000002 at step 2: ") }) {
		t.Errorf("notices are %q, want the best step", m.notices)
	}
}

// TestEarlyStoppingGone verifies that the last step is exported and read, with a notice, if the best
// checkpoint is gone.
func TestEarlyStoppingGone(t *testing.T) {
	dir := t.TempDir()
	m := mustTrain(t, 1, stopping(t, dir), digitsData(), func(m *member) {
		trace := m.opts.Trace
		m.opts.Trace = func(e report.Event) {
			if d, ok := e.(report.Decision); ok && d.What == "stop" {
				if err := os.RemoveAll(filepath.Join(dir, "ckpt", "step-000002")); err != nil {
					t.Error(err)
				}
			}
			trace(e)
		}
	})[0]
	mustExport(t, m, dir, 8)
	if want := "the checkpoint of step 2, the best, is gone: the last step is the result"; !slices.Contains(m.notices, want) {
		t.Errorf("notices are %q, want %q", m.notices, want)
	}
	s, err := trained.Open(t.Context(), m.job, nil, "", records.Evaluated{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.Step != 8 || !strings.Contains(s.Note, "of step 2, the best, is gone") {
		t.Errorf("eval reads step %d and says %q, want step 8", s.Step, s.Note)
	}
}

// TestEarlyStoppingRecovers kills each rank of two at every few frames and starts another process
// in its place. It verifies that the run ends after the same step with the same bits, and that the
// best checkpoint is exported.
func TestEarlyStoppingRecovers(t *testing.T) {
	whole := newProcesses(t, 2, stopping(t, t.TempDir()), fewDigits(), nil)
	frames := map[int]*killedLink{0: {frames: -1}, 1: {frames: -1}}
	if !whole.runInMemory(frames) {
		t.Fatal(whole.members[0].err)
	}
	want := whole.members[0].result
	for rank := range 2 {
		for at := rank; at < frames[rank].sent; at += 5 {
			dir := t.TempDir()
			c := newProcesses(t, 2, stopping(t, dir), fewDigits(), nil)
			if c.runInMemory(map[int]*killedLink{rank: {frames: at}}) {
				t.Fatalf("rank %d lives on without frame %d", rank, at)
			}
			c.kill(rank)
			m := c.mustEnd()[0]
			if m.result != want || want.Step != 8 {
				t.Fatalf("rank %d dies at frame %d: ended with %+v, want %+v", rank, at, m.result, want)
			}
			if len(eventsOf[report.Exported](m)) == 1 { // else the process before exported
				mustExport(t, m, dir, 2)
			}
			if d := eventsOf[report.Done](m); len(d) == 1 && d[0].Eval.Step != 2 {
				t.Fatalf("rank %d dies at frame %d: done has the evaluation of step %d, want 2", rank, at, d[0].Eval.Step)
			}
		}
	}
}
