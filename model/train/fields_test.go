package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
)

// fieldsText is a job on records of three fields of ten ids each.
const fieldsText = `
model: {kind: deepfm, embedding: 4, hidden: [8], pooling: mean, features: 30, fields: 3}
input:
  train: {format: libffm, files: [train.libffm]}
  batch: 10
loss: {kind: sigmoid}
optimizer: {name: adagrad, learning_rate: 0.1}
allreduce: {codec: none}
train: {epochs: 2, seed: 1}
`

// TestFields verifies that a model of libffm's fields has the bits of the model whose columns hold the
// ids of the fields, for each model of ids, and that its checkpoint gives the loss that training printed.
func TestFields(t *testing.T) {
	folder := t.TempDir()
	var ffm, csv strings.Builder
	csv.WriteString("y,a,av,b,bv,c,cv\n")
	for i := range 60 {
		second, seconds, weights := "", "", ""
		if i%4 > 0 { // the field is absent from every fourth record
			second, seconds, weights = fmt.Sprintf(" 1:%d:0.5 1:%d:2", 10+i%7, 10+i%9), fmt.Sprintf("%d %d", i%7, i%9), "0.5 2"
		}
		fmt.Fprintf(&ffm, "%d 2:%d:1%s 0:%d:1.5\n", i%3/2, 20+i%10, second, i%8)
		fmt.Fprintf(&csv, "%d,%d,1.5,%s,%s,%d,1\n", i%3/2, i%8, seconds, weights, i%10)
	}
	for name, text := range map[string]string{"train.libffm": ffm.String(), "train.csv": csv.String()} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ofColumns := strings.NewReplacer(", features: 30, fields: 3", "", "libffm, files: [train.libffm]", "csv, files: [train.csv], header: true", "  batch: 10", `  columns:
    - label: {names: [y]}
    - ids: {names: [a], values: av, size: 10}
    - ids: {names: [b], values: bv, size: 10}
    - ids: {names: [c], values: cv, size: 10}
  batch: 10`).Replace(fieldsText)
	for _, kind := range []string{"sparse-linear", "fm", "wide-deep", "deepfm", "dcn"} {
		model := strings.NewReplacer("kind: deepfm", "kind: "+kind)
		switch kind {
		case "sparse-linear":
			model = strings.NewReplacer("kind: deepfm, embedding: 4, hidden: [8], pooling: mean", "kind: sparse-linear")
		case "fm":
			model = strings.NewReplacer("kind: deepfm, embedding: 4, hidden: [8], pooling: mean", "kind: fm, embedding: 4")
		}
		ckpt := t.TempDir()
		cfg := loadText(t, model.Replace(fieldsText), "checkpoint.dir="+ckpt, "eval.training=true")
		got := mustTrain(t, 2, cfg, openColumns(t, cfg, folder), nil)[0]
		cfg = loadText(t, model.Replace(ofColumns))
		want := mustTrain(t, 2, cfg, openColumns(t, cfg, folder), nil)[0]
		if got.result != want.result {
			t.Errorf("kind=%s: fields end with %+v, columns with %+v", kind, got.result, want.result)
		}
		s, err := trained.Open(t.Context(), loadText(t, model.Replace(fieldsText), "checkpoint.dir="+ckpt, "eval.training=true"), []string{folder}, "", records.Evaluated{Labelled: true})
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Evaluate(t.Context())
		evals := eventsOf[report.Metrics](got)
		if during := evals[len(evals)-1]; err != nil || m.Loss != during.Loss {
			t.Errorf("kind=%s: the checkpoint has the loss %v, training said %v (error %v)", kind, m.Loss, during.Loss, err)
		}
		s.Close()
	}
}

// TestFieldsDoNotFit verifies that model.fields is refused of records and models without fields.
func TestFieldsDoNotFit(t *testing.T) {
	for change, want := range map[[2]string]string{
		{"libffm", "libsvm"}: "model.fields is 3, want 0 with input.train.format libsvm: only libffm numbers fields",
		{"train: {format: libffm, files: [train.libffm]}", "synthetic: true"}: "model.fields is 3, want 0 with input.synthetic: only libffm numbers fields",
		{"fields: 3", "fields: -1"}: "model.fields is -1, want 0 to 65535",
		{"kind: deepfm, embedding: 4, hidden: [8], pooling: mean", "kind: lenet"}: "model.fields is 3, want 0: the model reads no ids",
	} {
		cfg, err := job.Parse("job.yaml", []byte(strings.Replace(fieldsText, change[0], change[1], 1)))
		if err == nil {
			err = cfg.Check()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", change[1], err, want)
		}
	}
}
