package speed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// setting is the usual training configuration of a preset.
type setting struct {
	keys      string // of model, besides kind
	batch     int
	optimizer string
	rate      float64
}

// settingOf returns the setting of a preset. Image models have the settings of the suite
// Images.
func settingOf(preset string) setting {
	const digits = ", classes: 10"
	switch preset {
	case "linear":
		return setting{batch: 100, optimizer: "sgd", rate: 0.01}
	case "softmax":
		return setting{keys: digits, batch: 100, optimizer: "sgd", rate: 0.5}
	case "mlp":
		return setting{keys: digits + ", hidden: [512, 512]", batch: 256, optimizer: "adam", rate: 0.001}
	case "sparse-linear":
		return setting{batch: 512, optimizer: "adagrad", rate: 0.1}
	case "fm":
		return setting{keys: ", embedding: 8", batch: 512, optimizer: "adagrad", rate: 0.1}
	case "wide-deep", "deepfm", "dcn":
		return setting{keys: ", embedding: 8, hidden: [128, 32]", batch: 512, optimizer: "adagrad", rate: 0.1}
	}
	return setting{keys: digits, batch: 128, optimizer: "adam", rate: 0.001}
}

// presetJob returns a job file that trains a preset on drawn records.
func presetJob(preset string) string {
	s := settingOf(preset)
	return fmt.Sprintf("name: bench-%s\nmodel: {kind: %s%s}\ninput: {synthetic: true, batch: %d, shuffle: true}\n"+
		"optimizer: {name: %s, learning_rate: %v}\ntrain: {epochs: %d, seed: 1}\n",
		preset, preset, s.keys, s.batch, s.optimizer, s.rate, endless)
}

// A Training is the speed of one preset. Its JSON form is a line of bench train
// --json.
type Training struct {
	Model        string  `json:"model"`
	Ranks        int     `json:"ranks"`
	Batch        int     `json:"global_batch"`
	Optimizer    string  `json:"optimizer"`
	Parameters   int     `json:"parameters"`
	Kernels      string  `json:"kernels"`
	ExamplesPerS float64 `json:"examples_per_s"`
	StepTime     float64 `json:"time_s"` // of a step
	Shares
}

// Kind names the event.
func (Training) Kind() string { return "train_speed" }

// TrainingHeader is the head of the table of Training.String lines.
const TrainingHeader = `# shares of rank 0's time; input and exchange are waits
#model          ranks  batch  optimizer  parameters     kernels   examples/s   step us  input compute exchange update`

// String returns a line of the table.
func (t Training) String() string {
	return fmt.Sprintf("%-15s %5d %6d %10s %11d %11s %12.0f %9.1f %5.1f%% %6.1f%% %7.1f%% %5.1f%%", t.Model, t.Ranks, t.Batch, t.Optimizer,
		t.Parameters, t.Kernels, t.ExamplesPerS, t.StepTime*1e6, 100*t.Input, 100*t.Compute, 100*t.Exchange, 100*t.Update)
}

// TrainingConfig configures Train.
type TrainingConfig struct {
	Program string
	Models  []string // presets; none: all
	Ranks   int
	Measure time.Duration // timed duration of each
	Warm    time.Duration // untimed duration before it
	Sets    []string      // options of the jobs
}

// Check reports unknown models, as exitcode.Usage.
func (c TrainingConfig) Check() error {
	for _, name := range c.Models {
		if known := presetNames(); !slices.Contains(known, name) {
			return exitcode.With(exitcode.Usage, fmt.Errorf("no model %q, want one of %s", name, strings.Join(known, ", ")))
		}
	}
	return nil
}

func presetNames() []string {
	var names []string
	for _, p := range model.Presets() {
		names = append(names, p[0])
	}
	return names
}

// Train times the presets in order and calls tell with each row.
func Train(ctx context.Context, c TrainingConfig, tell func(Training)) error {
	if err := c.Check(); err != nil {
		return err
	}
	models := c.Models
	if len(models) == 0 {
		models = presetNames()
	}
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, name := range models {
		row, err := c.time(ctx, folder, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		tell(row)
	}
	return nil
}

// time times one preset. It writes the job file into folder.
func (c TrainingConfig) time(ctx context.Context, folder, name string) (Training, error) {
	path := filepath.Join(folder, name+".yaml")
	if err := os.WriteFile(path, []byte(presetJob(name)), 0o600); err != nil {
		return Training{}, err
	}
	cfg, err := job.Load(path, os.Environ(), c.Sets)
	if err != nil {
		return Training{}, err
	}
	r, err := Run{Program: c.Program, Job: path, Sets: c.Sets, Ranks: c.Ranks, Warm: c.Warm, Measure: c.Measure}.Time(ctx)
	if err != nil {
		return Training{}, exitcode.With(exitcode.Failed, err)
	}
	return Training{
		Model: name, Ranks: c.Ranks, Batch: r.Batch, Optimizer: string(cfg.Optimizer.Name), Parameters: r.Parameters, Kernels: r.Kernels,
		ExamplesPerS: r.ExamplesPerS, StepTime: float64(r.Batch) / r.ExamplesPerS, Shares: r.Shares,
	}, nil
}
