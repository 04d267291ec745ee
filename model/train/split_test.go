package train

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
)

// TestSplit verifies that held-out records move neither weight, mean nor vocabulary: training ends with the same
// bits whatever they say, also with bad ones among them. The evaluations are equal at any number of ranks, and of the
// checkpoint. The threshold of the best F1 is that of the validation records, also for test records.
func TestSplit(t *testing.T) {
	dir := t.TempDir()
	const n = 500
	share, part := 0.1, 0.2
	text := "model: {kind: wide-deep, embedding: 4, hidden: [8]}\nloss: {kind: sigmoid}\ninput:\n  train: {format: csv, files: [%s], header: true}\n  batch: 50\n  max_bad_records: 3\n" +
		"  split: {share: 0.1, test: 0.2}\n  columns:\n    - label: {names: [y]}\n    - numeric: {names: [x], standardize: true, default: mean}\n    - categorical: {names: [city], vocabulary: auto}\noptimizer: {name: adam}\n"
	cfg := loadText(t, fmt.Sprintf(text, "x"))
	if *cfg.Input.Split.Share != share || *cfg.Input.Split.Test != part {
		t.Fatalf("split %v", cfg.Input.Split)
	}
	parts := cfg.Input.Split.ByNumber(n)
	write := func(name string, held func(i int) string) string {
		var b strings.Builder
		b.WriteString("y,x,city\n")
		for i := range n {
			line := fmt.Sprintf("%d,%d,c%d", i*7%5%2, i%13, i%9)
			if !parts.Has(i, 0) && held != nil {
				line = held(i)
			}
			b.WriteString(line + "\n")
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
	if len(evals) != 2 || evals[0].Split != "eval" || evals[0].Examples != 40 || evals[1].Split != "test" || evals[1].Examples != 100 {
		t.Fatalf("evaluations %+v", evals)
	}
	if at := evals[0].BestF1.Threshold; *evals[0].Threshold != at || *evals[1].Threshold != at || evals[1].BestF1.Threshold == at {
		t.Errorf("the thresholds are %v and %v, want %v of both", *evals[0].Threshold, *evals[1].Threshold, at)
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
	if bad := again[0].Bad + again[1].Bad; spoilt.Digest != done.Digest || bad != 3 {
		t.Errorf("bad held-out records change what is trained, or %d are counted, want 3", bad)
	}
	_, two := train(2, plain)
	if two[0].Examples != 40 || two[1].Examples != 100 {
		t.Errorf("two ranks evaluate %+v", two)
	}
	for i, name := range []string{"", "test"} {
		s, err := trained.Open(t.Context(), loadText(t, fmt.Sprintf(text, plain), ckpt, best), nil, "", records.Evaluated{Labelled: true, Split: name})
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Evaluate(t.Context())
		if err != nil || m.Loss != evals[i].Loss || m.Split != evals[i].Split || *m.Threshold != *evals[i].Threshold || *m.Accuracy != *evals[i].Accuracy {
			t.Errorf("the checkpoint has %+v, training %+v; error %v", m, evals[i], err)
		}
		s.Close()
	}
}
