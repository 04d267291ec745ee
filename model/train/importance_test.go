package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/model/train/traintest"
	"ringtrain/ring/exitcode"
)

// importanceText is a job of every kind of feature; the label says whether x is above 0.
const importanceText = "model: {kind: wide-deep, embedding: 4, hidden: [8]}\nloss: {kind: sigmoid}\ninput:\n  train: {format: csv, files: [%s], header: true}\n" +
	"  eval: {format: csv, files: [%s]}\n  batch: 50\n  columns:\n    - label: {names: [y]}\n    - numeric: {names: [x], standardize: true}\n" +
	"    - categorical: {names: [city, sort], hash: 73}\n    - cross: {of: [city, sort], hash: 100}\n    - ids: {names: [ids], values: values, size: 9}\n" +
	"    - ignore: {names: [noise]}\noptimizer: {name: adam, learning_rate: 0.02}\ntrain: {epochs: 8, seed: 3}\ncheckpoint: {dir: %s}\n"

// importanceRecords returns records of importanceText.
func importanceRecords(n int, seed uint64) (all [][]string) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range n {
		x := r.NormFloat64()
		y, city := 0, r.IntN(4)
		if x+float64(city)/4 > 0.5 {
			y = 1
		}
		ids, values := "", ""
		for k := range 1 + r.IntN(3) {
			ids += fmt.Sprintf("%d ", 3*k+r.IntN(3))
			values += fmt.Sprintf("%.2f ", r.Float64())
		}
		all = append(all, []string{fmt.Sprint(y), fmt.Sprintf("%.3f", x), fmt.Sprint("c", city), fmt.Sprint("s", r.IntN(3)), ids, values, fmt.Sprint(r.IntN(100))})
	}
	return all
}

func writeRecords(t *testing.T, name string, all [][]string) {
	t.Helper()
	text := "y,x,city,sort,ids,values,noise\n"
	for _, fields := range all {
		text += strings.Join(fields, ",") + "\n"
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestImportance verifies the importance of each column against evaluations of files whose cells are permuted: crosses
// follow, and values go with their ids. It verifies that the column that makes the label comes first, that a second call
// tells the same, and that a bad record is passed over.
func TestImportance(t *testing.T) {
	dir := t.TempDir()
	train, eval := filepath.Join(dir, "train.csv"), filepath.Join(dir, "eval.csv")
	held := importanceRecords(300, 2)
	writeRecords(t, train, importanceRecords(600, 1))
	writeRecords(t, eval, held)
	cfg := loadText(t, fmt.Sprintf(importanceText, train, eval, filepath.Join(dir, "ckpt")))
	data, err := records.NewOpener(cfg, records.Options{}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	mustTrain(t, 1, cfg, data, nil)
	open := func(split string) *trained.Model {
		t.Helper()
		s, err := trained.Open(t.Context(), cfg, nil, "", records.Evaluated{Labelled: true, Cells: true, Split: split})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	metrics := func(all [][]string) report.Metrics {
		t.Helper()
		writeRecords(t, eval, all)
		m, err := open("").Evaluate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	got, err := open("").Importance(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	again, err := open("").Importance(t.Context(), 1000)
	if err != nil || !reflect.DeepEqual(got, again) {
		t.Errorf("importance %s, then %s (error %v)", traintest.JSON(t, got), traintest.JSON(t, again), err)
	}
	before := metrics(held)
	names := []string{"x", "city", "sort", "ids"}
	if len(got) != len(names) || got[0].Column != "x" || *got[0].AUC < 0.2 {
		t.Fatalf("importance %s, want x first, and that of %v", traintest.JSON(t, got), names)
	}
	for k, name := range names {
		var losses, areas [3]float64
		for repeat := range losses {
			order := rand.New(rand.NewPCG(cfg.Train.Seed, uint64(3*k+repeat))).Perm(len(held))
			var permuted [][]string
			for i, fields := range held {
				fields, other := slices.Clone(fields), held[order[i]]
				fields[k+1] = other[k+1]
				if name == "ids" {
					fields[k+2] = other[k+2]
				}
				permuted = append(permuted, fields)
			}
			m := metrics(permuted)
			losses[repeat], areas[repeat] = float64(m.Loss-before.Loss), float64(*before.AUC-*m.AUC)
		}
		i := got[slices.IndexFunc(got, func(i trained.Importance) bool { return i.Column == name })]
		loss, lossDeviation := meanAndDeviation(losses)
		area, areaDeviation := meanAndDeviation(areas)
		for what, pair := range map[string][2]float64{
			"loss": {float64(i.Loss), loss}, "deviation": {float64(i.LossDeviation), lossDeviation},
			"AUC": {float64(*i.AUC), area}, "deviation of AUC": {float64(*i.AUCDeviation), areaDeviation},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-12 {
				t.Errorf("%s of %s is %v, want %v", what, name, pair[0], pair[1])
			}
		}
	}
}

// meanAndDeviation returns the mean of three numbers and their standard deviation.
func meanAndDeviation(all [3]float64) (mean, deviation float64) {
	mean = (all[0] + all[1] + all[2]) / 3
	for _, v := range all {
		deviation += (v - mean) * (v - mean) / 2
	}
	return mean, math.Sqrt(deviation)
}

// TestImportanceSample verifies that a sample has so many records, without bad ones, and that records without columns are
// refused.
func TestImportanceSample(t *testing.T) {
	dir := t.TempDir()
	all := importanceRecords(400, 1)
	all[7][1], all[300][1] = "seven", "x"
	train := filepath.Join(dir, "train.csv")
	writeRecords(t, train, all)
	cfg := loadText(t, strings.Replace(fmt.Sprintf(importanceText, train, "x", filepath.Join(dir, "ckpt")), "eval: {format: csv, files: [x]}", "max_bad_records: 2", 1), "eval.training=true")
	data, err := records.NewOpener(cfg, records.Options{}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	mustTrain(t, 1, cfg, data, nil)
	s, err := trained.Open(t.Context(), cfg, nil, "", records.Evaluated{Labelled: true, Cells: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	whole, err := s.Importance(t.Context(), 400)
	if err != nil {
		t.Fatal(err)
	}
	part, err := s.Importance(t.Context(), 50)
	if err != nil || reflect.DeepEqual(whole, part) {
		t.Errorf("a sample of 50 tells what all records tell, or error %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Importance(ended, 400); err == nil {
		t.Error("no error in a context that has ended")
	}
	linear := loadText(t, linearText, "checkpoint.dir="+filepath.Join(dir, "linear"), "eval.training=true", "train.steps=1", "train.epochs=1")
	mustTrain(t, 1, linear, linearData(), nil)
	plain, err := trained.Open(t.Context(), linear, nil, "", records.Evaluated{Labelled: true, Cells: true})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, err := plain.Importance(t.Context(), 10); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v (%d), want %d: the records have no columns", err, exitcode.Of(err), exitcode.Usage)
	}
}
