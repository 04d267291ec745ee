package train

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

const mlpText = `
name: digits
model:     {kind: mlp, classes: 10, hidden: [8]}
input:     {synthetic: true, batch: 50}
optimizer: {name: adam}
allreduce: {codec: none}
train:     {steps: 10}
log:       {every: 1}
`

// TestInitFrom verifies that a run starts with the variables of a checkpoint or a bundle on rank
// 0's disk, at 1, 2 and 4 ranks, and names the variables that it took. A run that resumes takes
// none and says so.
func TestInitFrom(t *testing.T) {
	dir := t.TempDir()
	ckpt, base := filepath.Join(dir, "ckpt"), filepath.Join(dir, "export")
	first := mustTrain(t, 2, loadText(t, mlpText, "checkpoint.dir="+ckpt, "export.savedmodel="+base), digitsData(), nil)[0]
	on0 := func(m *member) {
		if m.rank != 0 {
			m.job.Train.InitFrom.Path = filepath.Join(dir, "nowhere")
		}
	}
	still := []string{"optimizer.name=sgd", "optimizer.learning_rate=1e-40", "train.steps=1"}
	for _, from := range []string{ckpt, filepath.Join(ckpt, "step-000010"), base} {
		for _, p := range []int{1, 2, 4} {
			m := mustTrain(t, p, loadText(t, mlpText, append(still, "train.init_from.path="+from)...), digitsData(), on0)[0]
			if m.result.Digest != first.result.Digest {
				t.Errorf("from %s on %d ranks: not the variables that were trained", from, p)
			}
			want := "at step 10: hidden_1/kernel, hidden_1/bias, softmax/kernel, softmax/bias"
			if len(m.notices) != 1 || !containsAll(m.notices[0], "taken from "+dir, want) || strings.Contains(m.notices[0], "not taken") {
				t.Errorf("from %s on %d ranks: notices %q, want %q", from, p, m.notices, want)
			}
		}
	}
	cfg := loadText(t, mlpText, "train.init_from.path="+ckpt, "checkpoint.dir="+filepath.Join(dir, "own"), "train.average.decay=0.5")
	mustTrain(t, 1, cfg, digitsData(), func(m *member) { m.stopAfter(5, exitcode.Terminated) })
	cfg.Train.InitFrom = job.InitFrom{Path: filepath.Join(dir, "nowhere")}
	if m := mustTrain(t, 1, cfg, digitsData(), nil)[0]; len(m.losses()) != 5 || len(m.notices) != 1 ||
		!strings.HasPrefix(m.notices[0], "train.init_from is not used: the run resumes from "+dir) {
		t.Errorf("the resumed run has %d steps and notices %q, want 5, and that train.init_from is not used", len(m.losses()), m.notices)
	}
}

// TestInitFromParts verifies the variables that patterns select, with another head in one case, and
// that the result is one curve at any world size.
func TestInitFromParts(t *testing.T) {
	ckpt := t.TempDir()
	mustTrain(t, 1, loadText(t, mlpText, "checkpoint.dir="+ckpt), digitsData(), nil)
	sameCurve(t, mlpText, digitsData(), "train.init_from.path="+ckpt, "train.init_from.exclude=softmax")
	trained := loadState(t, ckpt)
	for _, tt := range []struct {
		sets        []string
		taken, left string
	}{
		{[]string{"model.classes=12", "train.init_from.exclude=softmax"}, "hidden_1/kernel, hidden_1/bias", "softmax/kernel (excluded), softmax/bias (excluded)"},
		{[]string{"train.init_from.include=*/kernel", "train.init_from.exclude=soft*"}, "hidden_1/kernel",
			"hidden_1/bias (not included), softmax/kernel (excluded), softmax/bias (not included)"},
		{[]string{"model.hidden=8,4", "train.init_from.include=hidden_*"}, "hidden_1/kernel, hidden_1/bias",
			"hidden_2/kernel (not there), hidden_2/bias (not there), softmax/kernel (not included), softmax/bias (not included)"},
	} {
		own := t.TempDir()
		cfg := loadText(t, mlpText, append(tt.sets, "train.init_from.path="+ckpt, "checkpoint.dir="+own,
			"optimizer.name=sgd", "optimizer.learning_rate=1e-40", "train.steps=1")...)
		m := mustTrain(t, 1, cfg, digitsData(), nil)[0]
		if want := fmt.Sprintf("variables taken from %s at step 10: %s; not taken: %s", ckpt, tt.taken, tt.left); len(m.notices) != 1 || m.notices[0] != want {
			t.Errorf("%q: notices are %q, want %q", tt.sets, m.notices, want)
		}
		state := loadState(t, own)
		for name, values := range trained {
			if took := slices.Contains(strings.Split(tt.taken, ", "), name); took != slices.Equal(state[name], values) {
				t.Errorf("%q: %s has the values that were trained: %t, want %t", tt.sets, name, !took, took)
			}
		}
	}
}

// TestInitFromLayers verifies that a residual network continues with another head from the
// checkpoint of the first one.
func TestInitFromLayers(t *testing.T) {
	ckpt, own := t.TempDir(), t.TempDir()
	mustTrain(t, 2, loadText(t, layersText, "checkpoint.dir="+ckpt), digitsData(), nil)
	cfg := loadText(t, layersText, "model.layers.top.dense.units=12", "model.layers.top.name=other", "train.init_from.path="+ckpt,
		"checkpoint.dir="+own, "optimizer.name=sgd", "optimizer.learning_rate=1e-40", "train.steps=1")
	m := mustTrain(t, 2, cfg, digitsData(), nil)[0]
	want := "variables taken from " + ckpt + " at step 10: stem/kernel, stem/bias, b/kernel, b/bias, layer_norm/gamma, layer_norm/beta; not taken: other/kernel (not there), other/bias (not there)"
	if len(m.notices) != 1 || m.notices[0] != want {
		t.Errorf("notices are %q, want %q", m.notices, want)
	}
	trained, state := loadState(t, ckpt), loadState(t, own)
	for _, name := range []string{"stem/kernel", "b/bias", "layer_norm/gamma"} {
		if !slices.Equal(state[name], trained[name]) || len(state[name]) == 0 {
			t.Errorf("%s has not the values that were trained", name)
		}
	}
}

// TestInitFromFaults verifies that faults of train.init_from end the start on all ranks.
func TestInitFromFaults(t *testing.T) {
	ckpt := t.TempDir()
	mustTrain(t, 1, loadText(t, mlpText, "checkpoint.dir="+ckpt), digitsData(), nil)
	for _, tt := range []struct {
		sets []string
		code int
		want []string
	}{
		{[]string{"model.classes=12"}, exitcode.BadData, []string{"softmax/kernel has shape [8 10], want [8 12]", "train.init_from.exclude"}},
		{[]string{"train.init_from.path=" + filepath.Join(ckpt, "none")}, exitcode.NoInput, []string{"train.init_from.path: no checkpoint or bundle at "}},
		{[]string{"train.init_from.include=sotfmax"}, exitcode.Usage, []string{"no variable matches sotfmax, want some of hidden_1/kernel, "}},
		{[]string{"train.init_from.exclude=*"}, exitcode.Usage, []string{"no variable is taken from ", "hidden_1/kernel (excluded)"}},
	} {
		cfg := loadText(t, mlpText, append([]string{"train.init_from.path=" + ckpt}, tt.sets...)...)
		for _, m := range trainOn(t, 2, cfg, digitsData(), nil) {
			if m.code() != tt.code || !containsAll(m.cause().Text, tt.want...) {
				t.Errorf("%q: rank %d: %v (%d), want %q (%d)", tt.sets, m.rank, m.err, m.code(), tt.want, tt.code)
			}
		}
	}
}
