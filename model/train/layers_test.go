package train

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

const layersText = `
name: digits
model:
  layers:
    - flatten
    - {name: stem, dense: {units: 12, activation: relu}}
    - name: b
      dense:
        units: 12
    - {name: sum, in: [stem, b], add: {}}
    - layer_norm
    - {name: top, dense: {units: 10}}
input:     {synthetic: true, batch: 50}
loss:      {kind: softmax}
optimizer: {name: adam}
allreduce: {codec: none}
train:     {steps: 10}
log:       {every: 1}
`

// TestLayersInJob verifies that a model of layers trains with one curve at any world size, that a
// checkpoint stores the layers, and that only a job with the same layers resumes the run.
func TestLayersInJob(t *testing.T) {
	dir := t.TempDir()
	sets := []string{"model.layers.stem.dense.units=16", "model.layers.2.dense.units=16", "checkpoint.dir=" + dir}
	cfg := loadText(t, layersText, sets...)
	if got := []int{cfg.Model.Layers[1].Dense.Units, cfg.Model.Layers[2].Dense.Units, cfg.Model.Layers[5].Dense.Units}; !slices.Equal(got, []int{16, 16, 10}) {
		t.Fatalf("units are %v, want 16, 16 and 10", got)
	}
	sameCurve(t, layersText, digitsData(), sets[:2]...)
	mustTrain(t, 2, cfg, digitsData(), func(m *member) { m.stopAfter(5, exitcode.Terminated) })
	if m := mustTrain(t, 2, cfg, digitsData(), func(m *member) { m.opts.Resume = "must" })[0]; m.result.Step != 10 || len(m.losses()) != 5 {
		t.Errorf("the resumed run ends with %+v after %d steps, want step 10 after 5", m.result, len(m.losses()))
	}
	file, err := cfg.File()
	if err != nil {
		t.Fatal(err)
	}
	again := loadText(t, string(file))
	if !reflect.DeepEqual(again.Model, cfg.Model) || !slices.Equal(again.Options(), cfg.Options()) {
		t.Errorf("the job\n%s\nloads as\n%+v\nwant\n%+v", file, again, cfg)
	}
	other := loadText(t, layersText, sets[0], sets[2], "model.layers.b.dense.units=16", "model.layers.4.layer_norm.epsilon=0.5")
	for _, m := range trainOn(t, 2, other, digitsData(), nil) {
		want := `model.layers is "[flatten, {name: stem, dense: {units: 16, activation: relu}}, {name: b, dense: {units: 16}}, {name: sum, in: [stem, b], add: {}}, {layer_norm: {epsilon: 0.5}}, {name: top, dense: {units: 10}}]", was "`
		if m.code() != exitcode.Usage || !strings.Contains(m.cause().Text, want) {
			t.Errorf("rank %d: %v (%d), want %q", m.rank, m.err, m.code(), want)
		}
	}
}

// TestLayerFaults verifies that layers that fit neither each other nor the records are reported
// with line, column and layer: when the job loads, and when the records are open.
func TestLayerFaults(t *testing.T) {
	for _, tt := range []struct {
		sets []string
		want string
	}{
		{[]string{"model.layers.b.dense.units=11"}, "job.yaml:10:7: model.layers.sum (add) "},
		{[]string{"model.layers.stem.dense.units=0"}, "job.yaml:6:7: model.layers.stem (dense) "},
		{[]string{"model.layers.b.dense.activation=rely"}, "job.yaml:7:7: model.layers.b (dense) "},
		{[]string{"model.layers.sum.in=stem,c"}, `job.yaml:10:7: model.layers.sum (add) in is "c", want input or a layer before it`},
		{[]string{"model.layers.top.name=b"}, `job.yaml:12:7: model.layers.b (dense) name is "b", which is taken`},
		{[]string{"model.layers.4.name=flatten"}, `job.yaml:11:7: model.layers.flatten (layer_norm) name is "flatten", which is taken`},
		{[]string{"model.layers.top.name=a b"}, `job.yaml:12:7: model.layers.5 (dense) name is "a b", want `},
		{[]string{"model.layers.top.name=a\nb"}, `job.yaml:12:7: model.layers.5 (dense) name is "a\nb", want `},
		{[]string{"model.layers.top.dense.units=0"}, `job.yaml:12:7: model.layers.top (dense) units is 0, want 1 or more`},
		{[]string{"model.layers.top.dense.units=1"}, `job.yaml:12:7: model.layers.top (dense) has 1 outputs, want one for each class`},
		{[]string{"loss.kind=squared"}, `job.yaml:12:7: model.layers.top (dense) has 10 outputs, want 1 with loss.kind squared`},
		{[]string{"model.layers.sum.in=stem,stem"}, `job.yaml:7:7: model.layers.b (dense) is read by no other layer`},
	} {
		file := filepath.Join(t.TempDir(), "job.yaml")
		if err := os.WriteFile(file, []byte(layersText), 0o666); err != nil {
			t.Fatal(err)
		}
		cfg, err := job.Load(file, nil, tt.sets)
		if err == nil {
			_, err = newTrainer(cfg, Options{}, digitsData())
		}
		if err != nil {
			err = exitcode.With(exitcode.Of(err), &trimmed{err})
		}
		if exitcode.Of(err) != exitcode.Usage || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v (%d), want %s (%d)", tt.sets, err, exitcode.Of(err), tt.want, exitcode.Usage)
		}
	}
}

// trimmed is an error without the folder before "job.yaml".
type trimmed struct{ error }

func (t *trimmed) Error() string { return t.error.Error()[strings.Index(t.error.Error(), "job.yaml"):] }
