package train

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"ringtrain/export/checkpoint"
	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/train/report"
	"ringtrain/ring/bucket"
	"ringtrain/ring/exitcode"
)

// factorText is a job with a kernel of 784·32, which is worth factors, and a kernel of 32·10, which is
// too small.
const factorText = `
name: factors
model:     {kind: mlp, classes: 10, hidden: [32]}
input:     {synthetic: true, batch: 30}
optimizer: {name: momentum, learning_rate: 0.05, momentum: 0.9}
allreduce: {codec: powersgd, levels: flat}
train:     {steps: 50, check_every: 10}
log:       {every: 1}
`

// TestPowerSGD verifies that a run with factors reaches the loss of a run without, sends less, and
// reports its plan. Ranks compare their replicas every ten steps.
func TestPowerSGD(t *testing.T) {
	exact := mustTrain(t, 3, loadText(t, factorText, "allreduce.codec=none"), digitsData(), nil)[0]
	whole := eventsOf[report.Done](exact)[0]
	for _, tt := range []struct {
		codec string
		rank  int
		least float64 // ratio of bytes; the first 5 of 50 steps, which are exact, allow no 10
		most  float64 // loss on the evaluation records, as a multiple of the exact run's
	}{
		{"powersgd", 4, 3.9, 1.2},
		{"powersgd:1", 1, 6, 1.5},
	} {
		t.Run("codec="+tt.codec, func(t *testing.T) {
			m := mustTrain(t, 3, loadText(t, factorText, "allreduce.codec="+tt.codec), digitsData(), nil)[0]
			done := eventsOf[report.Done](m)[0]
			if ratio := float64(whole.SentBytes) / float64(done.SentBytes); ratio < tt.least {
				t.Errorf("%d bytes are sent, %d without codec: a ratio of %.2f, want %g", done.SentBytes, whole.SentBytes, ratio, tt.least)
			}
			if got, want := float64(done.Eval.Loss), float64(whole.Eval.Loss); !(got <= tt.most*want) {
				t.Errorf("loss is %.4f, want at most %g times %.4f", got, tt.most, want)
			}
			if !slices.Equal(m.losses()[:6], exact.losses()[:6]) {
				t.Error("the first 5 steps are not those of a run without codec")
			}
			if m.losses()[6] == exact.losses()[6] {
				t.Error("the 6th step has not met the factors")
			}
			why := fmt.Sprintf("1 of 4 variables travel as factors of rank %d from step 6 on; uncompressed steps before that: 5", tt.rank)
			want := report.Decision{What: "codec", Choice: tt.codec, Why: why}
			if d := eventsOf[report.Decision](m); len(d) != 1 || d[0] != want || eventsOf[report.Start](m)[0].Codec != tt.codec {
				t.Errorf("decisions are %+v, want %+v", d, want)
			}
		})
	}
}

// TestPowerSGDUnused verifies that no factors are used without a wire or without a matrix.
func TestPowerSGDUnused(t *testing.T) {
	for _, tt := range []struct {
		hosts []int
		sets  []string
		why   string
	}{
		{[]int{0, 0}, nil, "on one host gradients stay in memory, unless allreduce.levels is flat"},
		{[]int{0, 1}, []string{"model.hidden=[8]"}, "no variable is a matrix more than twice as large as its factors of rank 4"},
	} {
		t.Run(fmt.Sprintf("hosts=%v", tt.hosts), func(t *testing.T) {
			sets := append(tt.sets, "train.steps=12")
			none := mustEnd(t, onHosts(t, tt.hosts, loadText(t, factorText, append(sets, "allreduce.codec=none")...)))[0]
			m := mustEnd(t, onHosts(t, tt.hosts, loadText(t, factorText, sets...)))[0]
			if s := eventsOf[report.Start](m)[0]; s.Codec != "none" || m.result != none.result {
				t.Errorf("start is %+v, ends with %+v, want none and %+v", s, m.result, none.result)
			}
			if want := "allreduce.codec powersgd is not used: " + tt.why; len(m.notices) != 1 || m.notices[0] != want {
				t.Errorf("notices are %q, want %q", m.notices, want)
			}
		})
	}
}

// TestPowerSGDResumes verifies that a resumed run does not repeat its exact steps, reports the loss
// of its residuals, and repeats.
func TestPowerSGDResumes(t *testing.T) {
	sets := []string{"train.steps=12", "allreduce.codec=powersgd:2"}
	for _, tt := range []struct {
		stop int // step; the first 2 are exact
		why  string
	}{
		{1, "from step 3 on; uncompressed steps before that: 1"},
		{2, "from step 3 on; uncompressed steps before that: 0"},
		{7, "from step 8 on; uncompressed steps before that: 0; error feedback and directions begin anew"},
	} {
		t.Run(fmt.Sprintf("stop=%d", tt.stop), func(t *testing.T) {
			job := loadText(t, factorText, append(sets, "checkpoint.dir="+t.TempDir())...)
			mustTrain(t, 2, job, digitsData(), func(m *member) { m.stopAfter(tt.stop, exitcode.Terminated) })
			var ends []Result
			for range 2 {
				again := *job
				again.Checkpoint.Dir = t.TempDir()
				if err := os.CopyFS(again.Checkpoint.Dir, os.DirFS(job.Checkpoint.Dir)); err != nil {
					t.Fatal(err)
				}
				m := mustTrain(t, 2, &again, digitsData(), nil)[0]
				if d := eventsOf[report.Decision](m); len(d) != 1 || !strings.HasSuffix(d[0].Why, tt.why) {
					t.Errorf("decisions are %+v, want one that ends with %s", d, tt.why)
				}
				ends = append(ends, m.result)
				if s, err := checkpoint.Load(again.Checkpoint.Dir); err != nil || s.Run.Decisions != nil {
					t.Errorf("the checkpoint keeps %v, error %v: nothing was measured", s.Run.Decisions, err)
				}
			}
			if ends[0] != ends[1] {
				t.Errorf("two runs from one checkpoint end with %+v and %+v", ends[0], ends[1])
			}
			if tt.stop <= 2 { // no residual was lost
				if whole := mustTrain(t, 2, loadText(t, factorText, sets...), digitsData(), nil)[0]; whole.result != ends[0] {
					t.Errorf("ends with %+v, a run without a stop with %+v", ends[0], whole.result)
				}
			}
		})
	}
}

// TestPowerSGDNotFinite verifies that a gradient that is not finite ends all ranks with the name of
// the variable, in a step with factors.
func TestPowerSGDNotFinite(t *testing.T) {
	members := trainOn(t, 3, loadText(t, factorText, "train.steps=20"), digitsData(), func(m *member) {
		if m.rank == 1 { // rank 1 has 10 records of each step; the first 2 steps are exact
			m.data.Train = &late{m.data.Train, 3 * 10}
		}
	})
	wantCause(t, members, exitcode.NotFinite, 1, "gradient of ", "kernel", "not finite")
	if c := members[0].cause(); c.Step != 3 {
		t.Errorf("the cause is at step %d, want 3", c.Step)
	}
}

// late is a data set in which the values after some records are NaN.
type late struct {
	input.Dataset
	good int
}

func (l *late) Append(b *input.Batch, records ...int) error {
	return oneByOne(b, records, l.append)
}

func (l *late) append(b *input.Batch, i int) error {
	err := l.Dataset.Append(b, i)
	if l.good--; l.good < 0 && err == nil {
		b.X.Dense.Row(b.X.Dense.Rows - 1)[0] = float32(math.NaN())
	}
	return err
}

// TestExactSteps verifies that a tenth of the steps is uncompressed, rounded up, at most 500.
func TestExactSteps(t *testing.T) {
	for steps, want := range map[int64]int64{1: 1, 10: 1, 11: 2, 600: 60, 5000: 500, 5001: 500, 1 << 40: 500} {
		if got := newLowRank(4, steps).exact; got != want {
			t.Errorf("%d of %d steps are exact, want %d", got, steps, want)
		}
	}
}

// TestBucketVariables verifies that only matrices become factors, with their own shape, and that
// tables do not.
func TestBucketVariables(t *testing.T) {
	got := bucketVariables([]*model.Variable{
		{Name: "dense", Shape: []int{3, 4}}, {Name: "bias", Shape: []int{4}}, {Name: "conv", Shape: []int{5, 5, 2, 7}},
		{Name: "table", Shape: []int{9, 2}, ByRows: true}, {Name: "none", Shape: []int{0, 0}},
	})
	want := []bucket.Variable{
		{Name: "dense", Len: 12, Rows: 3, Cols: 4}, {Name: "bias", Len: 4, Exact: true}, {Name: "conv", Len: 350, Rows: 50, Cols: 7},
		{Name: "table", Len: 18, ByRows: true, Rows: 9, Cols: 2}, {Name: "none"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("variables are\n%+v, want\n%+v", got, want)
	}
}
