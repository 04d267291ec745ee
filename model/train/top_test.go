package train

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/model/train/records"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// TestInspectTop verifies that the largest weights of a trained model come first, with the names
// of texts, ranges and columns.
func TestInspectTop(t *testing.T) {
	folder, ckpt := writeColumns(t), t.TempDir()
	job := loadText(t, columnsText, "checkpoint.dir="+ckpt)
	mustTrain(t, 1, job, openColumns(t, job, folder), nil)
	events, err := trained.InspectTop(t.Context(), ckpt, 8, trained.Names{})
	if err != nil || len(events) != 8 {
		t.Fatalf("%d weights, error %v", len(events), err)
	}
	names := map[string]bool{}
	for i, e := range events {
		w := e.(trained.WeightInfo)
		names[w.Input] = true
		if i > 0 && math.Abs(float64(w.Value)) > math.Abs(float64(events[i-1].(trained.WeightInfo).Value)) {
			t.Errorf("weight %d, %v, is larger than the one before", i, w)
		}
	}
	if !names["city=Genève"] && !names["city=Bern"] && !names["n1"] && !names["n2"] {
		t.Errorf("the largest weights are of %v, want a city or a number among them", names)
	}
	deep, base := t.TempDir(), t.TempDir()
	job = loadText(t, columnsText, "model.kind=wide-deep", "model.hidden=[6, 400]", "checkpoint.dir="+deep, "export.savedmodel="+base)
	mustTrain(t, 1, job, openColumns(t, job, folder), nil)
	for _, path := range []string{deep, base} {
		events, err = trained.InspectTop(t.Context(), path, 100, trained.Names{})
		if err != nil || len(events) == 0 {
			t.Errorf("%s: %d weights, error %v", path, len(events), err)
		}
		for _, e := range events {
			if w := e.(trained.WeightInfo); !strings.HasPrefix(w.Variable, "linear") {
				t.Errorf("%s: %v, want weights of the linear part only", path, w)
			}
		}
	}
	mlp := t.TempDir()
	mustTrain(t, 1, loadText(t, digitsText, "checkpoint.dir="+mlp), digitsData(), nil)
	if _, err := trained.InspectTop(t.Context(), mlp, 3, trained.Names{}); err == nil || exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v of a model of ten classes, want one of usage", err)
	}
}

// TestInspectTopNames verifies that hashed ids have the texts of the training records that make them, the most frequent
// first, that bad and held-out records name none, and that a number has no texts: its row, 0, is the id of a city, too.
func TestInspectTopNames(t *testing.T) {
	dir := t.TempDir()
	all := importanceRecords(300, 1)
	all[5][1], all[5][2] = "five", "bad"
	name := filepath.Join(dir, "train.csv")
	text := strings.NewReplacer("eval: {format: csv, files: [x]}", "max_bad_records: 1\n  split: {share: 0.1}", "ignore: {names: [noise]}", "numeric: {names: [noise], standardize: true}")
	cfg := loadText(t, text.Replace(fmt.Sprintf(importanceText, name, "x", filepath.Join(dir, "ckpt"))))
	parts := cfg.Input.Split.Parts(len(all))
	seen := map[string]int{}
	for i, fields := range all {
		if i != 5 && !parts.Has(i, input.Training) {
			fields[2] = "held"
		}
		if i != 5 && parts.Has(i, input.Training) {
			for _, text := range []string{fields[2], fields[3], fields[2] + " × " + fields[3]} {
				seen[text]++
			}
		}
	}
	writeRecords(t, name, all)
	data, err := records.NewOpener(cfg, records.Options{}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	mustTrain(t, 1, cfg, data, nil)
	events, err := trained.InspectTop(t.Context(), filepath.Join(dir, "ckpt"), 1000, trained.Names{Job: cfg})
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, e := range events {
		w := e.(trained.WeightInfo)
		field, _, isID := strings.Cut(w.Input, "#")
		if isHashed := isID && field != "ids"; isHashed == (len(w.Texts) == 0) {
			t.Errorf("%s has the texts %q", w.Input, w.Texts)
		}
		for i, text := range w.Texts {
			named[text] = true
			if i > 0 && seen[text] > seen[w.Texts[i-1]] {
				t.Errorf("%s: %q is behind a rarer text", w.Input, w.Texts)
			}
		}
	}
	if !maps.Equal(named, mapOf(slices.Collect(maps.Keys(seen)))) {
		t.Errorf("the texts are %v, want those of %v", named, seen)
	}
	other := loadText(t, strings.Replace(fmt.Sprintf(importanceText, name, name, "x"), "hash: 73", "hash: 74", 1))
	if _, err := trained.InspectTop(t.Context(), filepath.Join(dir, "ckpt"), 9, trained.Names{Job: other}); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v of a job with other columns, want one of usage", err)
	}
}

func mapOf(list []string) map[string]bool {
	m := map[string]bool{}
	for _, text := range list {
		m[text] = true
	}
	return m
}
