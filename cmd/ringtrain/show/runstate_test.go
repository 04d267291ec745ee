package show

import (
	"strings"
	"testing"
	"time"

	"ringtrain/model/train/report"
)

const second = report.Seconds(time.Second)

// mnistStart is the start of the run that the tests see.
func mnistStart() report.Start {
	return report.Start{
		Job: "mnist", WorldSize: 4, Hosts: 2, Codec: "int8", GlobalBatch: 100, Parameters: 7850,
		Model: "softmax", Records: 60000, EvalRecords: 10000, Epochs: 5, Steps: 3000, CheckpointDir: "ckpt/mnist",
	}
}

// mnistEval is an evaluation after a step.
func mnistEval(step int64) report.Metrics {
	n := report.NewNumber
	return report.Metrics{
		Step: step, Split: "eval", Examples: 10000, Accuracy: n(0.92411), LogLoss: n(0.26902),
		Baseline: &report.Baseline{Accuracy: n(0.1135), LogLoss: n(2.30081)},
	}
}

// runOf returns the state after events.
func runOf(events ...report.Event) *runState {
	var s runState
	for _, e := range events {
		s.add(e)
	}
	return &s
}

// mnistRun returns the state at step 1,260 of mnist.
func mnistRun() *runState {
	slow := report.Straggler{Rank: 3, Host: "host-b", Share: 0.41}
	from := report.Step{Step: 1218, Steps: 3000, Interval: 29 * second, Straggler: &slow}
	return runOf(mnistStart(), from, mnistEval(1200), report.Step{
		Step: 1260, Steps: 3000, Epoch: 3, Examples: 29750, Loss: 0.30532, ExamplesPerS: 29750, Interval: second, Left: second * 414 / 10,
		Input: second * 15 / 100, Compute: second / 4, Exposed: second * 6 / 10, Straggler: &slow,
	})
}

// isWrapped is isText for lines in a terminal of 80 columns.
func isWrapped(t *testing.T, lines []string, want string) {
	t.Helper()
	isText(t, strings.Split(wrapText(strings.Join(lines, "\n"), 80), "\n"), want)
}

// isText compares lines with a golden text, whose lines are indented by tabs.
func isText(t *testing.T, lines []string, want string) {
	t.Helper()
	want = strings.ReplaceAll(strings.Trim(want, "\n\t"), "\t", "")
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("shows\n%s\nwant\n%s", got, want)
	}
}

// TestHeader verifies what is said at the start of a run on several hosts, and that on one host nothing is said of
// hosts and codec. A terminal without UTF-8 gets ASCII characters alone.
func TestHeader(t *testing.T) {
	isText(t, runOf(mnistStart()).header(Shape{}), `
		mnist · softmax, 7,850 parameters · 60,000 records, 10,000 to evaluate
		4 ranks on 2 hosts · batch 100 · 5 epochs, 3,000 steps · int8 between hosts`)
	alone := mnistStart()
	alone.WorldSize, alone.Hosts, alone.EvalRecords, alone.Epochs, alone.RestoredStep = 1, 1, 0, 0, 1200
	isText(t, runOf(alone).header(Shape{Columns: 80}), `
		mnist | softmax, 7,850 parameters | 60,000 records
		1 rank | batch 100 | 3,000 steps | resumed at step 1,200`)
}

// TestBlock verifies the live block in terminals of different sizes, without UTF-8, and in colour.
func TestBlock(t *testing.T) {
	for _, tt := range []struct {
		name  string
		shape Shape
		want  string
	}{
		{"80 columns", Shape{Columns: 80, Rows: 24, Unicode: true}, `
			━━━━━━━━━━━━━━━━━━╸                            42 %  epoch 3 of 5     41 s left
			step 1,260   loss 0.3053   accuracy 0.9241 at step 1,200
			29,750 examples/s   input 15 %   compute 25 %   exchange 60 %
			others wait 41 % of the time for rank 3 on host-b`},
		{"59 columns", Shape{Columns: 59, Rows: 24, Unicode: true}, `━━━━━╸       42 %  41 s left  loss 0.3053`},
		{"8 rows", Shape{Columns: 80, Rows: 8, Unicode: true}, `━━━━━╸       42 %  41 s left  loss 0.3053  accuracy 0.9241  step 1,260`},
		{"10 columns", Shape{Columns: 10, Rows: 24, Unicode: true}, `42 %`},
		{"without UTF-8", Shape{Columns: 80, Rows: 24}, `
			[==================>                        ]  42 %  epoch 3 of 5     41 s left
			step 1,260   loss 0.3053   accuracy 0.9241 at step 1,200
			29,750 examples/s   input 15 %   compute 25 %   exchange 60 %
			others wait 41 % of the time for rank 3 on host-b`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			isText(t, mnistRun().block(tt.shape), tt.want)
			tt.shape.Colour = true
			coloured := strings.Join(mnistRun().block(tt.shape), "\n")
			if !strings.Contains(coloured, "\x1b[32m") && tt.shape.Columns > 10 {
				t.Errorf("in colour: %q, want a green bar", coloured)
			}
		})
	}
}

// TestResult verifies the end of a run: at 80 columns, and where options changed the job.
func TestResult(t *testing.T) {
	end := []report.Event{
		mnistEval(3000), report.Checkpointed{Step: 3000, Path: "ckpt/mnist/step-003000"},
		report.Exported{Step: 3000, Path: "export/mnist/1"}, report.Done{Steps: 3000, Took: second * 101 / 10, ExamplesPerS: 29700},
	}
	s := mnistRun()
	for _, e := range end {
		s.add(e)
	}
	isText(t, s.result(Next{Job: "mnist", Alone: true}, Shape{Columns: 80}), `
		accuracy 0.9241   log loss 0.2690   10,000 eval records, step 3,000
		         0.1135            2.3008   if the largest class were always predicted
		model    export/mnist/1                saved    ckpt/mnist/step-003000
		time     10.1 s, 29,700 examples/s on 4 ranks, 41 % of it waiting for rank 3
		next     ringtrain predict mnist --from export/mnist FILE
		         ringtrain report mnist`)
	isText(t, s.result(Next{Job: "mnist", Data: "my data", Where: "on host-a"}, Shape{Columns: 200})[4:], `
		next     on host-a:
		         ringtrain predict export/mnist --data 'my data' FILE
		         ringtrain report ckpt/mnist`)
}

// TestResultKinds verifies the rows of other kinds of runs: with early stopping and test records, of a regression, and
// without validation records and folders, in a file, where the line done has the time. A run that found nothing left to
// train has no rate.
func TestResultKinds(t *testing.T) {
	n := report.NewNumber
	best, test := mnistEval(2400), mnistEval(2400)
	best.AUC, test.Split, test.Examples, test.Baseline = n(0.9), "test", 5000, nil
	isWrapped(t, runOf(mnistStart(), best, test, report.Done{ExportedBest: 2400, Zeros: []report.Zeros{{Name: "w", Zeros: 4, Elements: 95}}}).result(Next{Job: "a.yaml", Alone: true}, Shape{Columns: 80}), `
		accuracy 0.9241   AUC 0.9000   log loss 0.2690   10,000 eval records, step
		                                                 2,400, the best
		         0.1135                         2.3008   if the largest class were
		                                                 always predicted
		         0.9241                         0.2690   5,000 test records
		time     0 ms on 4 ranks
		zeros    4 of 95 of w
		next     ringtrain predict a.yaml FILE
		         ringtrain report a.yaml`)
	price := report.Metrics{Step: 9, Split: "eval", Examples: 90, RMSE: n(1204.25), R2: n(0.75), Bad: 1, Baseline: &report.Baseline{RMSE: n(20000.5)}}
	isText(t, runOf(mnistStart(), price, report.Done{}).result(Next{}, Shape{Columns: 80})[:2], `
		RMSE      1204.2500   R2 0.7500   90 eval records, without 1 bad one, step 9
		         20000.5000               if the mean were always predicted`)
	isText(t, runOf(report.Start{WorldSize: 1}, report.Done{Loss: 0.25, Took: second, ExamplesPerS: 12}).result(Next{Job: "x"}, Shape{}), `
		loss     0.2500                        training records of the last epoch`)
}

// end returns the lines of a failure.
func (s *runState) end(f report.Failure, next Next) []string {
	return append(s.cause(f), s.rest(f, next)...)
}

// TestFailure verifies the end of a run that is not finished: what is saved, and the command that goes on.
func TestFailure(t *testing.T) {
	lost := report.Failure{Rank: 2, Host: "host-b", Step: 1260, Cause: "lost (silent for 5s)", ExitCode: 138}
	again := Next{Again: "ringtrain run -np 4 mnist"}
	isText(t, runOf(mnistStart(), report.Checkpointed{Path: "ckpt/mnist/step-001200"}).end(lost, again), `
		failed   rank 2 on host-b at step 1260: lost (silent for 5s)
		saved    ckpt/mnist/step-001200
		next     ringtrain run -np 4 mnist`)
	resumed := mnistStart()
	resumed.RestoredStep = 600
	isText(t, runOf(resumed).end(report.Failure{Rank: -1, Step: 900, Cause: "stopped by a signal", ExitCode: 130}, Next{}), `
		stopped  at step 900: stopped by a signal
		saved    step 600, in ckpt/mnist
		next     start the ranks again as before`)
	full := report.Failure{Rank: 0, Host: "a", Step: 5, Cause: "loss is NaN", ExitCode: 80}
	isText(t, runOf(mnistStart()).end(full, again), `
		failed   rank 0 on a at step 5: loss is NaN
		saved    nothing
		next     once the cause is mended: ringtrain run -np 4 mnist`)
}

// TestStretch verifies that the facts of the block are those of a second, and that a rank is named only if the others
// waited for it a tenth of the time.
func TestStretch(t *testing.T) {
	s := runOf(mnistStart())
	at := func(loss report.Number, share report.Number) {
		s.add(report.Step{Examples: 1, Loss: loss, Interval: second / 4, Straggler: &report.Straggler{Rank: 1, Share: share}})
	}
	for i := range 4 {
		at(report.Number(i), 0.1)
	}
	at(9, 1)
	if s.shown.step.Loss != 1.5 || s.shown.straggler() == nil {
		t.Errorf("after a second and a quarter the loss is %v, and %v is waited for; want 1.5 and rank 1", s.shown.step.Loss, s.shown.straggler())
	}
	for range 3 {
		at(9, 0)
	}
	if s.shown.step.Loss != 9 || s.shown.straggler() == nil || s.shown.straggler().Share != 0.25 {
		t.Errorf("after two seconds the loss is %v, and %v is waited for; want 9 and rank 1 for a quarter", s.shown.step.Loss, s.shown.straggler())
	}
	for range 4 {
		at(9, 0.05)
	}
	if s.shown.straggler() != nil {
		t.Errorf("%v is waited for in the third second, want nobody", s.shown.straggler())
	}
}
