// Package traintest has small jobs for tests of training: their job files, and their records.
package traintest

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

// Linear, Digits and Clicks are jobs that train in milliseconds. They report each step, and write nothing unless a test
// sets a folder.
const (
	Linear = `
name: line
model:     {kind: linear}
input:     {synthetic: true, batch: 10}
optimizer: {name: sgd, learning_rate: 0.1}
allreduce: {codec: none}
train:     {steps: 10}
log:       {every: 1}
`
	Digits = `
name: digits
model:     {kind: softmax, classes: 10}
input:     {synthetic: true, batch: 50}
optimizer: {name: sgd, learning_rate: 0.1}
allreduce: {codec: none}
train:     {steps: 10}
log:       {every: 1}
`
	Clicks = `
name: clicks
model:     {kind: sparse-linear}
input:     {synthetic: true, batch: 50}
optimizer: {name: adagrad, learning_rate: 0.1}
allreduce: {codec: none}
train:     {steps: 10}
log:       {every: 1}
`
)

// LinearData, DigitsData and ClicksData are the records of these jobs. Drawing
// them for each rank of each test would take most of the time.
var (
	LinearData = sync.OnceValue(func() records.Set {
		points := synth.Linear(1)
		return records.Set{Train: points, Eval: points, Split: "train"}
	})
	DigitsData = sync.OnceValue(func() records.Set {
		return records.Set{Train: synth.Digits(1, 600, synth.Train), Eval: synth.Digits(1, 300, synth.Eval), Split: "eval"}
	})
	ClicksData = sync.OnceValue(func() records.Set {
		return records.Set{Train: synth.Clicks(1, 2000, synth.Train), Eval: synth.Clicks(1, 1100, synth.Eval), Split: "eval"}
	})
)

// Load loads text as a job file, with the options sets.
func Load(t testing.TB, text string, sets ...string) *job.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	cfg, err := job.Load(file, nil, sets)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// JSON returns v as JSON.
func JSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Far reports whether a and b differ by more than the relative bound.
func Far(a, b, bound float64) bool {
	return !(math.Abs(a-b) <= bound*max(math.Abs(a), math.Abs(b)))
}
