package train

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/model/job"
	"ringtrain/model/optimizer"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
	"ringtrain/ring/exitcode"
)

// TestResumeIsNoEvent verifies that a run that is stopped after five steps and resumed ends with
// the bits of a run without a stop: slots, the position in the data, and the step of the schedule
// are restored.
func TestResumeIsNoEvent(t *testing.T) {
	jobs := []struct {
		name, text string
		data       records.Set
	}{
		{"clicks", clicksText, clicksData()},
		{"digits", digitsText, digitsData()},
	}
	for _, j := range jobs {
		for _, optimizer := range optimizer.Names() {
			t.Run(fmt.Sprintf("job=%s/optimizer=%s", j.name, optimizer), func(t *testing.T) {
				sets := []string{"optimizer.name=" + optimizer, "schedule.kind=linear", "schedule.warmup_steps=3", "checkpoint.dir=" + t.TempDir()}
				cfg := loadText(t, j.text, sets...)
				stopped := mustTrain(t, 2, cfg, j.data, func(m *member) {
					if m.rank == 1 {
						m.stopAfter(5, exitcode.Terminated)
					}
				})[0]
				if stopped.result.Step != 5 || stopped.result.Stopped != exitcode.Terminated {
					t.Fatalf("stopped with %+v, want step 5, code %d", stopped.result, exitcode.Terminated)
				}
				resumed := mustTrain(t, 2, cfg, j.data, func(m *member) { m.opts.Resume = "must" })[0]
				if got := eventsOf[report.Start](resumed)[0].RestoredStep; got != 5 {
					t.Fatalf("resumed at step %d, want 5", got)
				}
				whole := mustTrain(t, 2, loadText(t, j.text, sets[:3]...), j.data, nil)[0]
				if resumed.result != whole.result {
					t.Errorf("5 + 5 steps end with %+v, 10 with %+v", resumed.result, whole.result)
				}
				if got, want := slices.Concat(stopped.losses(), resumed.losses()), whole.losses(); !slices.Equal(got, want) {
					t.Errorf("losses are %v, want %v", got, want)
				}
				if got, want := eventsOf[report.Done](resumed)[0].Loss, eventsOf[report.Done](whole)[0].Loss; got != want {
					t.Errorf("the mean loss of the last epoch is %v, want %v", got, want)
				}
			})
		}
	}
}

// TestResumeWithoutEpochSum verifies that a checkpoint without the sum of the epoch resumes, and
// that the loss is then that of the rest of the epoch.
func TestResumeWithoutEpochSum(t *testing.T) {
	dir := t.TempDir()
	cfg := loadText(t, digitsText, "checkpoint.dir="+dir)
	mustTrain(t, 1, cfg, digitsData(), func(m *member) { m.stopAfter(2, exitcode.Terminated) })
	s, err := checkpoint.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Run.Epoch = nil
	store(t, dir, s)
	cfg.Train.Steps = 4
	resumed := mustTrain(t, 1, cfg, digitsData(), func(m *member) { m.opts.Resume = "must" })[0]
	losses := resumed.losses()
	if got, want := float64(eventsOf[report.Done](resumed)[0].Loss), (losses[0]+losses[1])/2; len(losses) != 2 || traintest.Far(got, want, 1e-12) {
		t.Errorf("after steps with losses %v the loss is %v, want their mean", losses, got)
	}
}

// TestResumeAtAnotherWorldSize verifies that a run that changes its world size reads each example
// once: its losses equal those of a run on one rank within rounding.
func TestResumeAtAnotherWorldSize(t *testing.T) {
	dir := t.TempDir()
	cfg := loadText(t, digitsText, "checkpoint.dir="+dir, "input.batch=130") // 4 full batches and a short one
	first := mustTrain(t, 4, cfg, digitsData(), func(m *member) { m.stopAfter(5, 130) })[0]
	second := mustTrain(t, 2, cfg, digitsData(), nil)[0]
	cfg.Checkpoint.Dir = ""
	want := mustTrain(t, 1, cfg, digitsData(), nil)[0].losses()
	got := slices.Concat(first.losses(), second.losses())
	if len(want) != 10 {
		t.Fatalf("losses are %v, want 10", want)
	}
	for i := range want {
		if len(got) != len(want) || traintest.Far(got[i], want[i], 1e-5) {
			t.Fatalf("losses are %v, want %v", got, want)
		}
	}
}

// TestLocalBatchAtAnotherWorldSize verifies that a run by epochs trains exactly its epochs, if its
// global batch changes with the world size.
func TestLocalBatchAtAnotherWorldSize(t *testing.T) {
	cfg := loadText(t, digitsText, "checkpoint.dir="+t.TempDir(), "input.local_batch=25", "train.steps=0", "train.epochs=2")
	first := mustTrain(t, 4, cfg, digitsData(), func(m *member) { m.stopAfter(4, 130) })[0] // 400 of 600
	second := mustTrain(t, 2, cfg, digitsData(), nil)[0]
	if first.result.Step != 4 || second.result.Step != 4+4+12 {
		t.Errorf("ended at steps %d and %d, want 4 and 20", first.result.Step, second.result.Step)
	}
	done := eventsOf[report.Done](second)[0]
	if done.Examples != 1200 || done.Epochs != 2 {
		t.Errorf("%d examples, %d epochs of the whole run, want 1200, 2", done.Examples, done.Epochs)
	}
}

// TestFinishedJob verifies that a finished job does not train again, says so, writes no second
// export of the same variables, and writes a missing export: rank 0 may have been killed before it.
func TestFinishedJob(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Join(dir, "export")
	cfg := loadText(t, digitsText, "checkpoint.dir="+filepath.Join(dir, "ckpt"), "export.savedmodel="+base)
	first := mustTrain(t, 2, cfg, digitsData(), nil)[0]
	again := func(wantExport string) {
		t.Helper()
		members := mustTrain(t, 2, cfg, digitsData(), nil)
		m := members[0]
		if want := []string{"finished at step 10: nothing to train"}; !slices.Equal(m.notices, want) || len(members[1].notices) > 0 {
			t.Errorf("notices %q and %q, want %q from rank 0", m.notices, members[1].notices, want)
		}
		if m.result != first.result || len(eventsOf[report.Step](m)) > 0 || len(eventsOf[report.Checkpointed](m)) > 0 {
			t.Errorf("ended with %+v and %v, want %+v and no step", m.result, m.events, first.result)
		}
		if got, want := eventsOf[report.Metrics](m), eventsOf[report.Metrics](first); len(got) != 1 || *got[0].Correct != *want[0].Correct || got[0].Loss != want[0].Loss {
			t.Errorf("evaluation is %v, want %v", got, want)
		}
		exports := eventsOf[report.Exported](m)
		if wantExport == "" && len(exports) > 0 || wantExport != "" && (len(exports) != 1 || exports[0].Path != wantExport) {
			t.Errorf("exports are %v, want %q", exports, wantExport)
		}
	}
	again("")
	if err := os.RemoveAll(base); err != nil {
		t.Fatal(err)
	}
	again(filepath.Join(base, "1"))
	again("")
}

// TestLongerRun verifies that a schedule is as long as a run now is that was made longer or
// shorter, by steps and by epochs, and that one line tells the new length. With the same length
// the run has the bits of a run without a stop, and no line. With schedule.steps the length stays:
// what lies behind it trains nothing, with one warning.
func TestLongerRun(t *testing.T) {
	exponential := []string{"schedule.kind=exponential", "schedule.decay_rate=1e-8", "schedule.decay_steps=2"}
	for _, tt := range []struct {
		sets       []string
		first, now string
		stop       int // step of the first run, 0: its end
		line, warn string
		trains     bool // after the stop
	}{
		{[]string{"schedule.kind=cosine"}, "train.steps=10", "train.steps=10", 4, "", "", true},
		{[]string{"schedule.kind=cosine"}, "train.steps=10", "train.steps=15", 0, "schedule cosine over 15 steps, was 10", "", true},
		{[]string{"schedule.kind=linear", "schedule.warmup_steps=2"}, "train.steps=10", "train.steps=15", 4, "schedule linear over 15 steps, was 10", "", true},
		{[]string{"schedule.kind=linear"}, "train.steps=10", "train.steps=8", 4, "schedule linear over 8 steps, was 10", "", true},
		{[]string{"schedule.kind=cosine"}, "train.epochs=1", "train.epochs=3", 0, "schedule cosine over 81 steps, was 27", "", true},
		{nil, "train.steps=10", "train.steps=15", 0, "", "", true},
		{exponential, "train.steps=8", "train.steps=15", 0, "", "schedule exponential ends before the run (schedule.steps is 0): the rate of the last of 15 steps is 0, and such steps train nothing", false},
		{[]string{"schedule.kind=cosine", "schedule.steps=10"}, "train.steps=10", "train.steps=15", 0, "",
			"schedule cosine ends before the run (schedule.steps is 10): the rate of the last of 15 steps is 0, and such steps train nothing", false},
		{[]string{"schedule.kind=linear", "schedule.steps=10", "schedule.end=0.01"}, "train.steps=10", "train.steps=15", 0, "", "", true},
	} {
		sets := append([]string{"train.steps=0", "input.batch=75", "checkpoint.dir=" + t.TempDir()}, tt.sets...)
		name := fmt.Sprintf("%v, %s, then %s", tt.sets, tt.first, tt.now)
		before := mustTrain(t, 2, loadText(t, clicksText, append(sets, tt.first)...), clicksData(), func(m *member) {
			if tt.stop > 0 {
				m.stopAfter(tt.stop, exitcode.Terminated)
			}
		})[0]
		m := mustTrain(t, 2, loadText(t, clicksText, append(sets, tt.now)...), clicksData(), nil)[0]
		lines := slices.DeleteFunc(m.notices, func(line string) bool { return !strings.Contains(line, "schedule") })
		if got := strings.Join(lines, "; "); got != tt.line {
			t.Errorf("%s: notices are %q, want %q", name, got, tt.line)
		}
		warnings := eventsOf[report.Warning](m)
		if len(warnings) > 1 || len(warnings) == 1 != (tt.warn != "") || len(warnings) == 1 && (warnings[0].Cause != tt.warn || warnings[0].ExitCode != 0) {
			t.Errorf("%s: warnings are %+v, want %q", name, warnings, tt.warn)
		}
		if got := m.result.Digest != before.result.Digest; got != tt.trains {
			t.Errorf("%s: the replica changed: %t, want %t", name, got, tt.trains)
		}
		if tt.first == tt.now {
			whole := mustTrain(t, 2, loadText(t, clicksText, append(sets, tt.now, "checkpoint.dir=")...), clicksData(), nil)[0]
			if whole.result.Digest != m.result.Digest {
				t.Errorf("%s: other bits than without a stop", name)
			}
		}
	}
}

// TestShorterRun verifies that a run that is past its steps neither trains nor tells a length.
func TestShorterRun(t *testing.T) {
	dir := "checkpoint.dir=" + t.TempDir()
	mustTrain(t, 2, loadText(t, clicksText, "schedule.kind=cosine", dir), clicksData(), nil)
	m := mustTrain(t, 2, loadText(t, clicksText, "schedule.kind=cosine", dir, "train.steps=7"), clicksData(), nil)[0]
	if m.result.Step != 10 || len(m.notices) != 1 {
		t.Errorf("ended at step %d with notices %q, want step 10 and one", m.result.Step, m.notices)
	}
}

// TestResumeOption verifies each value of --resume, and that a run does not take over the state of
// another run.
func TestResumeOption(t *testing.T) {
	dir := t.TempDir()
	cfg := loadText(t, clicksText, "checkpoint.dir="+dir)
	must := func(m *member) { m.opts.Resume = "must" }
	for _, m := range trainOn(t, 2, cfg, clicksData(), must) {
		if want := "--resume must: no checkpoint in checkpoint.dir " + fmt.Sprintf("%q", dir); m.code() != exitcode.NoInput || m.cause().Text != want {
			t.Errorf("rank %d: %v (%d), want %s (%d)", m.rank, m.err, m.code(), want, exitcode.NoInput)
		}
	}
	first := mustTrain(t, 2, cfg, clicksData(), nil)[0]
	m := mustTrain(t, 2, cfg, clicksData(), func(m *member) { m.opts.Resume = "never" })[0]
	if len(m.losses()) != 10 || m.result != first.result {
		t.Errorf("--resume never: %d steps, %+v, want 10, %+v", len(m.losses()), m.result, first.result)
	}
	other := *cfg
	other.Input.Batch, other.Optimizer.Name = 60, "ftrl"
	for _, m := range trainOn(t, 2, &other, clicksData(), nil) {
		want := []string{"step-000010 is of another run: ", `input.batch is "60", was "50"; optimizer.name is "ftrl", was "adagrad"`}
		if m.code() != exitcode.Usage || !containsAll(m.cause().Text, want...) {
			t.Errorf("rank %d: %v (%d), want %q (%d)", m.rank, m.err, m.code(), want, exitcode.Usage)
		}
	}
	other = *cfg
	other.Log.Every, other.Checkpoint.Keep, other.Input.Prefetch = job.Every{}, 7, 0
	mustTrain(t, 2, &other, clicksData(), must) // these may change
}

// TestResumeRemoved verifies that a checkpoint of an earlier version resumes, with a line for each option
// that is gone, and that the graph of its model is known.
func TestResumeRemoved(t *testing.T) {
	dir := t.TempDir()
	whole := mustTrain(t, 2, loadText(t, clicksText, "checkpoint.dir="+t.TempDir()), clicksData(), nil)[0]
	cfg := loadText(t, clicksText, "checkpoint.dir="+dir)
	mustTrain(t, 2, loadText(t, clicksText, "checkpoint.dir="+dir, "train.steps=5"), clicksData(), nil)
	s, err := checkpoint.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.Run.Finished = false
	gone := map[string]string{"allreduce.link": "grpc", "allreduce.order": "measured", "allreduce.algorithm": "fold", "allreduce.streams": "2", "allreduce.codec": "int8u", "allreduce.lossless": "huff0"}
	file := s.Run.JobFile
	for key, value := range gone {
		s.Run.Options[key] = value
		name := strings.TrimPrefix(key, "allreduce.")
		file = regexp.MustCompile(`(?m)^  `+name+`: .*\n`).ReplaceAllString(file, "")
		file = strings.Replace(file, "allreduce:\n", "allreduce:\n  "+name+": "+value+"\n", 1)
	}
	s.Run.JobFile = file
	store(t, dir, s)
	m := mustTrain(t, 2, cfg, clicksData(), func(m *member) { m.opts.Resume = "must" })[0]
	if got := eventsOf[report.Start](m)[0].RestoredStep; got != 5 || m.result != whole.result {
		t.Errorf("resumed at step %d and ended with %+v, want 5, %+v", got, m.result, whole.result)
	}
	for key, value := range gone {
		lines := slices.DeleteFunc(slices.Clone(m.notices), func(line string) bool { return !containsAll(line, key, value, "gone") })
		if len(lines) != 1 {
			t.Errorf("notices are %q, want one of %s %s", m.notices, key, value)
		}
	}
}

// store replaces the checkpoint of a folder.
func store(t *testing.T, dir string, s checkpoint.State) {
	t.Helper()
	f, err := checkpoint.Claim(t.Context(), bundle.NewDisk(bundle.OS, nil), dir, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Save(s, 1); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedCheckpoint verifies that a job with a damaged newest checkpoint resumes from an older
// whole one, with a notice, and that only damaged checkpoints are an error.
func TestDamagedCheckpoint(t *testing.T) {
	dir := t.TempDir()
	cfg := loadText(t, clicksText, "checkpoint.dir="+dir, "checkpoint.every=5")
	whole := mustTrain(t, 2, cfg, clicksData(), nil)[0]
	damage(t, filepath.Join(dir, "step-000010", "model.ckpt.data-00000-of-00001"))
	members := mustTrain(t, 2, cfg, clicksData(), nil)
	m := members[0]
	if got := eventsOf[report.Start](m)[0].RestoredStep; got != 5 || m.result != whole.result {
		t.Errorf("resumed at step %d and ended with %+v, want 5, %+v", got, m.result, whole.result)
	}
	if len(m.notices) != 1 || !containsAll(m.notices[0], "checkpoint skipped: ", "step-000010") {
		t.Errorf("notices are %q, want one that step 10 is passed over", m.notices)
	}
	damage(t, filepath.Join(dir, "step-000005", "model.ckpt.index"))
	damage(t, filepath.Join(dir, "step-000010.1", "model.ckpt.index")) // beside the damaged one, which has gone
	for _, m := range trainOn(t, 2, cfg, clicksData(), nil) {
		if m.code() != exitcode.BadData || !strings.Contains(m.cause().Text, "step-000005") {
			t.Errorf("rank %d: %v (%d), want code %d", m.rank, m.err, m.code(), exitcode.BadData)
		}
	}
}

// damage changes a byte in the middle of a file.
func damage(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 0x40
	if err := os.WriteFile(name, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestCheckpointRemembersJob verifies that a checkpoint stores its job in a form that can be run
// again.
func TestCheckpointRemembersJob(t *testing.T) {
	dir := t.TempDir()
	cfg := loadText(t, clicksText, "checkpoint.dir="+dir, "optimizer.learning_rates.sgd=0.5")
	mustTrain(t, 1, cfg, clicksData(), nil)
	s, err := checkpoint.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if again := loadText(t, s.Run.JobFile); fmt.Sprint(again.Options()) != fmt.Sprint(cfg.Options()) {
		t.Errorf("the checkpoint has\n%v\nwant\n%v", again.Options(), cfg.Options())
	}
	if s.Run.Seed != 1 || s.Run.Steps != 10 || !s.Run.Finished {
		t.Errorf("the checkpoint has %+v, want seed 1, 10 steps, finished", s.Run)
	}
}

// TestCheckpointEvery verifies that checkpoints and evaluations happen when they are due.
func TestCheckpointEvery(t *testing.T) {
	cfg := loadText(t, clicksText, "checkpoint.dir="+t.TempDir(), "checkpoint.every=4", "eval.every=3", "log.every=5")
	m := mustTrain(t, 2, cfg, clicksData(), nil)[0]
	var got []string
	for _, e := range m.events {
		switch e := e.(type) {
		case report.Step:
			got = append(got, fmt.Sprint("step ", e.Step))
		case report.Metrics:
			got = append(got, fmt.Sprint("eval ", e.Step))
		case report.Checkpointed:
			got = append(got, fmt.Sprint("checkpoint ", e.Step))
		default:
			got = append(got, e.Kind())
		}
	}
	want := []string{"start", "decision", "eval 3", "checkpoint 4", "step 5", "eval 6", "checkpoint 8", "eval 9", "step 10", "checkpoint 10", "eval 10", "done"}
	if !slices.Equal(got, want) {
		t.Errorf("events are %q, want %q", got, want)
	}
}

func containsAll(s string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(s, p) })
}
