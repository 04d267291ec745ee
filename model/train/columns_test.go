package train

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// columnsText is a job on records of texts and numbers.
const columnsText = `
model: {kind: deepfm, embedding: 4, hidden: [8]}
input:
  train: {format: csv, files: [train.csv], header: true}
  eval: {format: csv, files: [eval.csv], header: true}
  columns:
    - label: {names: [y]}
    - weight: {names: [w]}
    - numeric: {names: [n1..n2], standardize: true}
    - categorical: {names: [city], vocabulary: auto, min_count: 2}
    - categorical: {names: [site], hash: 50}
    - {cross: {of: [city, site], hash: 100}}
  batch: 10
loss: {kind: sigmoid}
optimizer: {name: adagrad, learning_rate: 0.1}
train: {epochs: 2, seed: 1}
`

// writeColumns writes records for columnsText. eval.csv has the columns in another order, and a city
// that is not in train.csv.
func writeColumns(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	var train, eval strings.Builder
	train.WriteString("y,w,n1,n2,city,site\n")
	eval.WriteString("site,city,n2,n1,w,y\n")
	for i := range 60 {
		city, site := []string{"Bern", "Genève", "", "\"Basel, \"\"Stadt\"\"\""}[i%4], fmt.Sprint("s", i%7)
		fmt.Fprintf(&train, "%d,%d,%d,%g,%s,%s\n", i%4/2, i%3, i, math.Sqrt(float64(i)), city, site)
		if i == 5 {
			city = "Uri"
		}
		fmt.Fprintf(&eval, "%s,%s,%g,%d,%d,%d\n", site, city, math.Sqrt(float64(i)), i, 1, i%4/2)
	}
	for name, text := range map[string]string{"train.csv": train.String(), "eval.csv": eval.String()} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// openColumns opens the records of a job.
func openColumns(t *testing.T, cfg *job.Config, folder string) records.Set {
	t.Helper()
	data, err := records.NewOpener(cfg, records.Options{Roots: []string{folder}}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { data.Close() })
	return data
}

// TestColumns trains on columns of texts and numbers with one and two ranks, and evaluates the
// checkpoint. It verifies that the evaluation applies the vocabularies and means of training, and
// that two ranks get the result of one.
func TestColumns(t *testing.T) {
	folder := writeColumns(t)
	losses := map[int]float64{}
	for _, p := range []int{1, 2} {
		ckpt := t.TempDir()
		cfg := loadText(t, columnsText, "checkpoint.dir="+ckpt)
		data := openColumns(t, cfg, folder)
		members := mustTrain(t, p, cfg, data, nil)
		evals := eventsOf[report.Metrics](members[0])
		during := evals[len(evals)-1]
		losses[p] = float64(during.Loss)

		again := loadText(t, columnsText, "checkpoint.dir="+ckpt)
		want := *again
		s, err := trained.Open(t.Context(), again, []string{folder}, "", records.Evaluated{Labelled: true})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Evaluate(t.Context())
		if err != nil || got.Loss != during.Loss || got.Examples != 60 {
			t.Errorf("world=%d: the checkpoint has the loss %v on %d records, training said %v (error %v)", p, got.Loss, got.Examples, during.Loss, err)
		}
		s.Close()
		if !reflect.DeepEqual(*again, want) {
			t.Errorf("OpenSaved changed the caller's job to %+v, want %+v", *again, want)
		}
	}
	if math.Abs(losses[1]-losses[2]) > 1e-5 {
		t.Errorf("losses %v of one and two ranks", losses)
	}
}

// TestColumnsOfOthers verifies that a checkpoint with other columns is refused, and that records
// with another vocabulary do not take over its variables.
func TestColumnsOfOthers(t *testing.T) {
	folder, ckpt := writeColumns(t), t.TempDir()
	cfg := loadText(t, columnsText, "checkpoint.dir="+ckpt)
	mustTrain(t, 1, cfg, openColumns(t, cfg, folder), nil)

	other := loadText(t, strings.Replace(columnsText, "hash: 50", "hash: 51", 1), "checkpoint.dir="+ckpt)
	if _, err := trained.Open(t.Context(), other, []string{folder}, "", records.Evaluated{Labelled: true}); err == nil || exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "site: hash is 51, was 50") {
		t.Errorf("error %v of another hash", err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "train.csv"))
	if err != nil {
		t.Fatal(err)
	}
	next := t.TempDir()
	for _, name := range []string{"train.csv", "eval.csv"} {
		if err := os.WriteFile(filepath.Join(next, name), []byte(strings.ReplaceAll(string(text), "Bern", "Thun")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg = loadText(t, columnsText, "train.init_from.path="+ckpt)
	members := trainOn(t, 1, cfg, openColumns(t, cfg, next), nil)
	if err := members[0].err; err == nil || exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "column city: text ") {
		t.Errorf("error %v of another vocabulary", err)
	}
}

// TestInitFromColumns verifies, of each kind of column, that train.init_from refuses ids that mean
// another thing, with the column and both values, if it takes a variable that has a row for each id, also
// where the shapes agree; and that it takes other variables all the same. It reads a checkpoint or an
// export.
func TestInitFromColumns(t *testing.T) {
	text := strings.Replace(columnsText, "    - {cross:", "    - {name: near, numeric: {names: [n1], buckets: [10, 20]}}\n    - {cross:", 1)
	folder, dir := writeColumns(t), t.TempDir()
	cfg := loadText(t, text, "checkpoint.dir="+filepath.Join(dir, "ckpt"), "export.savedmodel="+filepath.Join(dir, "export"))
	mustTrain(t, 1, cfg, openColumns(t, cfg, folder), nil)
	for _, tt := range []struct{ old, new, want string }{
		{"hash: 50", "hash: 51", "column site: hash is 51, was 50 in "},
		{"{of: [city, site]", "{of: [site, city]", `of is ["site" "city"], was ["city" "site"] in `},
		{"buckets: [10, 20]", "buckets: [10, 30]", "buckets is [10 30], was [10 20] in "},
		{"vocabulary: auto, min_count: 2", "hash: 4", "column city: kind is hash, was vocabulary in "},
		{"    - {cross: {of: [city, site], hash: 100}}\n", "", ": it is not in input.columns, but in "},
		{"batch: 10", "batch: 10", ""},
	} {
		changed := strings.Replace(text, tt.old, tt.new, 1)
		for _, from := range []string{"ckpt", "export"} {
			cfg := loadText(t, changed, "train.init_from.path="+filepath.Join(dir, from))
			m := trainOn(t, 2, cfg, openColumns(t, cfg, folder), nil)[0]
			refused := exitcode.Of(m.err) == exitcode.Usage && strings.Contains(m.err.Error(), tt.want) && !strings.Contains(m.err.Error(), "/embeddings")
			if tt.want == "" && m.err != nil || tt.want != "" && !refused {
				t.Errorf("%q, from %s: error %v, want %q", tt.new, from, m.err, tt.want)
			}
			cfg = loadText(t, changed, "train.init_from.path="+filepath.Join(dir, from), "train.init_from.include=*/logits")
			mustTrain(t, 1, cfg, openColumns(t, cfg, folder), nil)
		}
	}
}

// TestMissingNumbers verifies that rank 0 counts the missing cells by column and word, that it gives notice of missing numbers that count as 0 unasked, and that
// the checkpoint of a job that counts them as the mean evaluates as the job did.
func TestMissingNumbers(t *testing.T) {
	folder := writeColumns(t)
	for _, name := range []string{"train.csv", "eval.csv"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		short := regexp.MustCompile(`,([37]|[1-5][37]),`).ReplaceAll(text, []byte(",NA,")) // n1 of 12 records, n2 of 2
		if err := os.WriteFile(filepath.Join(folder, name), short, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for set, want := range map[string]string{
		"":                "missing numbers count as 0 before standardize: n1 (12 of 60), n2 (2 of 60); default: mean ",
		", default: 0":    "",
		", default: mean": "",
	} {
		ckpt := t.TempDir()
		cfg := loadText(t, strings.Replace(columnsText, "standardize: true", "standardize: true"+set, 1), "checkpoint.dir="+ckpt)
		members := mustTrain(t, 2, cfg, openColumns(t, cfg, folder), nil)
		told, counted := strings.CutPrefix(strings.Join(members[0].notices, "\n"), "missing cells: n1 in 12 of 60 (12 NA); n2 in 2 of 60 (2 NA); city in 15 of 60 (15 empty)")
		if told = strings.TrimPrefix(told, "\n"); !counted || !strings.HasPrefix(told, want) || (want == "") != (told == "") || len(members[1].notices) > 0 {
			t.Errorf("set=%q: notices %q, want %q", set, told, want)
		}
		evals := eventsOf[report.Metrics](members[0])
		s, err := trained.Open(t.Context(), cfg, []string{folder}, "", records.Evaluated{Labelled: true})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Evaluate(t.Context()); err != nil || got.Loss != evals[len(evals)-1].Loss {
			t.Errorf("set=%q: the checkpoint has the loss %v, training said %v (error %v)", set, got.Loss, evals[len(evals)-1].Loss, err)
		}
		s.Close()
	}
}

// TestColumnsDoNotFit verifies the errors for columns that the model does not read.
func TestColumnsDoNotFit(t *testing.T) {
	folder := writeColumns(t)
	for name, tt := range map[string]struct{ old, new, want string }{
		"features": {"embedding: 4", "embedding: 4, features: 3", "model.features is 3, want 0"},
		"no file":  {"vocabulary: auto, min_count: 2", "vocabulary: none.txt", "none.txt"},
	} {
		cfg := loadText(t, strings.Replace(columnsText, tt.old, tt.new, 1))
		data, err := records.NewOpener(cfg, records.Options{Roots: []string{folder}}).Open(t.Context())
		if err == nil {
			defer data.Close()
			_, err = data.NewModel(cfg)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("case=%s: error %v, want %q", name, err, tt.want)
		}
	}
}
