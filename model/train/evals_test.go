package train

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// lines writes LibSVM records of n examples with one id, labelled by a rule.
func lines(t *testing.T, name string, n int, label func(i int) int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d %d:1\n", label(i), i%4)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

func even(i int) int { return 1 - i%2 }

// evalsJob returns a job with two sets in input.evals: the model is right for all records of one and for
// none of the other.
func evalsJob(t *testing.T, sets ...string) *job.Config {
	file := func(name string, n int, label func(i int) int) string { return lines(t, name, n, label) }
	return loadText(t, fmt.Sprintf(`
name: evals
model: {kind: sparse-linear, features: 4}
input:
  train: {format: libsvm, files: [%s]}
  eval: {format: libsvm, files: [%s]}
  evals:
    - {name: same, format: libsvm, files: [%s]}
    - {name: other, format: libsvm, files: [%s]}
  batch: 8
optimizer: {name: sgd, learning_rate: 1}
allreduce: {codec: none}
train: {steps: 20}
log: {every: 10}
eval: {every: 10}
`, file("train", 64, even), file("eval", 12, even), file("same", 40, even), file("other", 28, func(i int) int { return i % 2 })), sets...)
}

// trainFiles is mustTrain for a job that reads files.
func trainFiles(t *testing.T, p int, cfg *job.Config) *member {
	t.Helper()
	data, err := records.NewOpener(cfg, records.Options{Roots: nil}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return mustTrain(t, p, cfg, data, nil)[0]
}

// TestEvals verifies that each item of input.evals has events of its own after that of input.eval,
// with its name, at any world size. The event done has the metrics of input.eval, and each item has
// curves of its own.
func TestEvals(t *testing.T) {
	var want []string
	for _, p := range []int{1, 3} {
		dir := t.TempDir()
		m := trainFiles(t, p, evalsJob(t, "summary.dir="+dir))
		var got []string
		for _, e := range eventsOf[report.Metrics](m) {
			got = append(got, fmt.Sprintf("%d %q %d/%d", e.Step, e.Name, *e.Correct, e.Examples))
		}
		if want == nil {
			want = []string{`10 "" 12/12`, `10 "same" 40/40`, `10 "other" 0/28`, `20 "" 12/12`, `20 "same" 40/40`, `20 "other" 0/28`}
		}
		if !slices.Equal(got, want) {
			t.Errorf("world=%d: evaluations %q, want %q", p, got, want)
		}
		if done := eventsOf[report.Done](m)[0].Eval; done.Name != "" || done.Examples != 12 {
			t.Errorf("world=%d: done has %+v, want the evaluation of input.eval", p, done)
		}
		for tag, accuracy := range map[string]float32{"eval/accuracy": 1, "eval_same/accuracy": 1, "eval_other/accuracy": 0} {
			if got := curvesOf(t, dir)[tag]; len(got) != 2 || got[1] != (point{20, accuracy}) {
				t.Errorf("world=%d: curve %s is %v, want %v at step 20", p, tag, got, accuracy)
			}
		}
	}
}

// TestEvalsAgree verifies that ranks agree on names, formats and manifests of input.evals,
// and not on the names of files.
func TestEvalsAgree(t *testing.T) {
	cfg := evalsJob(t)
	trainer, err := Prepare(t.Context(), cfg, Options{Resume: "auto"})
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	lines := strings.Join(trainer.Agree(), "\n")
	for _, want := range []string{"input.evals.same=libsvm ", "the validation files differ: input.evals.same=same ", "the validation files differ: input.evals.other=other "} {
		if !strings.Contains(lines, want) {
			t.Errorf("the lines lack %q:\n%s", want, lines)
		}
	}
	if dir := filepath.Dir(cfg.Input.Evals[0].Files.Files[0]); strings.Contains(lines, dir) {
		t.Errorf("the lines have a folder of this machine, %s:\n%s", dir, lines)
	}
}

// TestEvalsFaults verifies that a fault of an item names the item.
func TestEvalsFaults(t *testing.T) {
	cfg := evalsJob(t)
	cfg.Input.Evals = []job.NamedFiles{{Files: job.Files{Format: "libsvm"}}, {Name: "late", Files: job.Files{Images: "x"}}}
	for _, want := range []string{
		"input.evals.0.name is empty", "input.evals.0.files is empty", "input.evals.late.format is empty, want one of idx",
	} {
		if err := cfg.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	cfg = evalsJob(t)
	cfg.Input.Evals[1].Files.Files = []string{"nowhere"}
	if _, err := Prepare(t.Context(), cfg, Options{Resume: "auto"}); exitcode.Of(err) != exitcode.NoInput || !strings.Contains(err.Error(), "input.evals.other: ") {
		t.Errorf("error %v, want input.evals.other and the file missing", err)
	}
}

// TestEvalsBroken puts a bad record into the second item of input.evals. It verifies that training
// continues, that the warning names the item, that the other evaluations are reported, and that the
// exit code at the end is 65.
func TestEvalsBroken(t *testing.T) {
	cfg := evalsJob(t)
	data, err := records.NewOpener(cfg, records.Options{Roots: nil}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	data.Evals[1].Data = badRecord{data.Evals[1].Data, func() bool { return true }}
	members := trainOn(t, 2, cfg, data, nil)
	wantCause(t, members, exitcode.BadData, 0, "input.evals.other: file eval, record 7: length is 99")
	var got []string
	for _, e := range eventsOf[report.Metrics](members[0]) {
		got = append(got, fmt.Sprintf("%d %s", e.Step, e.Name))
	}
	if want := []string{"10 ", "10 same", "20 ", "20 same"}; !slices.Equal(got, want) {
		t.Errorf("evaluations %q, want %q", got, want)
	}
	warnings := eventsOf[report.Warning](members[0])
	if len(warnings) != 1 || warnings[0].Step != 10 || !strings.HasPrefix(warnings[0].Cause, "input.evals.other: file eval, record 7") {
		t.Errorf("warnings are %+v, want one of step 10 about input.evals.other", warnings)
	}
}
