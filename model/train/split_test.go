package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

// TestSplit verifies that held-out records move neither weight, mean nor vocabulary: training ends with the same
// bits whatever they say, also with bad ones among them. The evaluations are equal at any number of ranks, and of the
// checkpoint. The threshold of the best F1 is that of the validation records, also for test records.
func TestSplit(t *testing.T) {
	for by, split := range map[string]string{"number": "{share: 0.1, test: 0.2}", "hash": "{share: 0.2, test: 0.1, by: who}", "time": "{by: day, from: 2026-02-20}"} {
		t.Run("by="+by, func(t *testing.T) { testSplit(t, split) })
	}
}

func testSplit(t *testing.T, split string) {
	dir := t.TempDir()
	const n = 500
	text := "model: {kind: wide-deep, embedding: 4, hidden: [8]}\nloss: {kind: sigmoid}\ninput:\n  train: {format: csv, files: [%s], header: true}\n  batch: 50\n  max_bad_records: 3\n" +
		"  split: " + split + "\n  columns:\n    - label: {names: [y]}\n    - numeric: {names: [x], standardize: true, default: mean}\n    - categorical: {names: [city], vocabulary: auto}\noptimizer: {name: adam}\n"
	cfg := loadText(t, fmt.Sprintf(text, "x"))
	cell := func(i int) string {
		if cfg.Input.Split.By == "who" {
			return fmt.Sprintf("k%d", i%71)
		}
		return fmt.Sprintf("2026-%02d-%02d", 1+i%2, 1+i%28)
	}
	parts := cfg.Input.Split.Parts(n)
	counts := map[string]int64{}
	for i := range n {
		if cfg.Input.Split.By != "" {
			parts.PutCell(i, []byte(cell(i)))
		}
		for _, in := range []input.Part{input.Validation, input.Test} {
			if parts.Has(i, in) {
				counts[in.String()]++
			}
		}
	}
	write := func(name string, held func(i int) string) string {
		var b strings.Builder
		b.WriteString("y,x,city,day,who\n")
		for i := range n {
			line := fmt.Sprintf("%d,%d,c%d", i*7%5%2, i%13, i%9)
			if !parts.Trains(i) && held != nil {
				line = held(i)
			}
			fmt.Fprintf(&b, "%s,%s,%[2]s\n", line, cell(i))
		}
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	train := func(ranks int, file string, sets ...string) (report.Done, []report.Metrics) {
		t.Helper()
		cfg := loadText(t, fmt.Sprintf(text, file), sets...)
		data, err := records.NewOpener(cfg, records.Options{}).Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer data.Close()
		m := mustTrain(t, ranks, cfg, data, nil)[0]
		return eventsOf[report.Done](m)[0], eventsOf[report.Metrics](m)
	}
	plain := write("plain.csv", nil)
	ckpt, best := "checkpoint.dir="+filepath.Join(dir, "ckpt"), "eval.threshold=best_f1"
	done, evals := train(1, plain, ckpt, best)
	splits := []string{"eval", "test"}[:len(counts)]
	check := func(evals []report.Metrics) {
		t.Helper()
		for i, m := range evals {
			if len(evals) != len(splits) || m.Split != splits[i] || m.Examples+m.Bad != counts[m.Split] || counts[m.Split] < 20 {
				t.Fatalf("evaluations %+v, want %v", evals, counts)
			}
		}
	}
	check(evals)
	at := evals[0].BestF1.Threshold
	for i, m := range evals {
		if *m.Threshold != at || i > 0 && cfg.Input.Split.By == "" && m.BestF1.Threshold == at {
			t.Errorf("the threshold of %s is %v, want %v", m.Split, *m.Threshold, at)
		}
	}
	other, _ := train(1, write("other.csv", func(i int) string { return fmt.Sprintf("1,%d,new%d", 1000*i, i) }))
	if other.Digest != done.Digest {
		t.Error("other held-out records change what is trained")
	}
	bads := 0
	spoilt, again := train(1, write("bad.csv", func(i int) string {
		if bads++; bads < 4 {
			return "1,NotANumber,c"
		}
		return "0,1,c1"
	}))
	check(again)
	bad := int64(0)
	for _, m := range again {
		bad += m.Bad
	}
	if spoilt.Digest != done.Digest || bad != 3 {
		t.Errorf("bad held-out records change what is trained, or %d are counted, want 3", bad)
	}
	_, two := train(2, plain)
	check(two)
	for i, name := range splits {
		s, err := trained.Open(t.Context(), loadText(t, fmt.Sprintf(text, plain), ckpt, best), nil, "", records.Evaluated{Labelled: true, Split: name})
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Evaluate(t.Context())
		if err != nil || m.Loss != evals[i].Loss || m.Split != evals[i].Split || *m.Threshold != *evals[i].Threshold || *m.Accuracy != *evals[i].Accuracy {
			t.Errorf("the checkpoint has %+v, training %+v; error %v", m, evals[i], err)
		}
		if err := s.Predict(t.Context(), func(some []trained.Prediction) error {
			for _, p := range some {
				if parts.Trains(p.Record) {
					t.Fatalf("%s: a prediction is of record %d, which trains", name, p.Record)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
}

// TestSplitFaults verifies what ends a job with a split: a part without records, a column that is not there, and a class
// that only held-out records have.
func TestSplitFaults(t *testing.T) {
	const text = "model: {kind: linear, classes: auto}\ninput:\n  train: {format: csv, files: [%s], header: true}\n  batch: 5\n  split: %s\n" +
		"  columns:\n    - label: {names: [y]}\n    - numeric: {names: [x]}\noptimizer: {learning_rate: 0.1}\n"
	name := filepath.Join(t.TempDir(), "a.csv")
	var b strings.Builder
	b.WriteString("y,x,day\n")
	for i := range 40 {
		y := []string{"no", "yes"}[i%2]
		if i == 39 {
			y = "maybe"
		}
		fmt.Fprintf(&b, "%s,%d,2026-06-%02d\n", y, i, 1+i/2)
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for split, want := range map[string]string{
		"{share: 0.000000001}":        "input.split: no validation records: {share: 1e-09} of 40 records",
		"{share: 0.5, test: 0.001}":   "input.split: no test records: {share: 0.5, test: 0.001} of 40 records",
		"{by: day, from: 2026-06}":    "input.split: no training records: {by: day, from: 2026-06} of 40 records",
		"{by: day, from: 2026-07}":    "input.split: no validation records: {by: day, from: 2026-07} of 40 records",
		"{share: 0.1, by: dayy}":      "no column dayy, which input.split.by names (did you mean day?)",
		"{by: day, from: 2026-06-20}": `a.csv:41: record 39 at byte 680: column y is "maybe", want one of no, yes`,
	} {
		cfg := loadText(t, fmt.Sprintf(text, name, split))
		data, err := records.NewOpener(cfg, records.Options{}).Open(t.Context())
		if err == nil {
			m := trainOn(t, 1, cfg, data, nil)[0]
			err = m.err
			data.Close()
		}
		if err == nil || exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), want) {
			t.Errorf("split=%s: error %v (%d), want %s (65)", split, err, exitcode.Of(err), want)
		}
	}
}

// TestSplitOfDrawnRecords verifies that a job whose records are drawn says that its split holds none of them out.
func TestSplitOfDrawnRecords(t *testing.T) {
	m := mustTrain(t, 1, loadText(t, mlpText, "input.split.share=0.1"), digitsData(), nil)[0]
	if len(m.notices) != 1 || !strings.HasPrefix(m.notices[0], "input.split is not used: input.synthetic draws") {
		t.Errorf("notices %q, want one that input.split is not used", m.notices)
	}
}
