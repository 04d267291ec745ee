package evaluate

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"ringtrain/input/synth"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
)

const (
	linearText = `
name: line
model:     {kind: linear}
input:     {synthetic: true, batch: 10}
optimizer: {name: sgd, learning_rate: 0.1}
allreduce: {codec: none}
train:     {steps: 10}
log:       {every: 1}
`
	digitsText = `
name: digits
model:     {kind: softmax, classes: 10}
input:     {synthetic: true, batch: 50}
optimizer: {name: sgd, learning_rate: 0.1}
allreduce: {codec: none}
train:     {steps: 10}
log:       {every: 1}
`
	clicksText = `
name: clicks
model:     {kind: sparse-linear}
input:     {synthetic: true, batch: 50}
optimizer: {name: adagrad, learning_rate: 0.1}
allreduce: {codec: none}
train:     {steps: 10}
log:       {every: 1}
`
)

// linearData, digitsData and clicksData are the records of these jobs. Drawing
// them for each rank of each test would take most of the time.
var (
	linearData = sync.OnceValue(func() records.Set {
		points := synth.Linear(1)
		return records.Set{Train: points, Eval: points, Split: "train"}
	})
	digitsData = sync.OnceValue(func() records.Set {
		return records.Set{Train: synth.Digits(1, 600, synth.Train), Eval: synth.Digits(1, 300, synth.Eval), Split: "eval"}
	})
	clicksData = sync.OnceValue(func() records.Set {
		return records.Set{Train: synth.Clicks(1, 2000, synth.Train), Eval: synth.Clicks(1, 1100, synth.Eval), Split: "eval"}
	})
)

// loadText loads text as a job file.
func loadText(t testing.TB, text string) *job.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	cfg, err := job.Load(file, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// far reports whether a and b differ by more than the relative bound.
func far(a, b, bound float64) bool {
	return !(math.Abs(a-b) <= bound*max(math.Abs(a), math.Abs(b)))
}
