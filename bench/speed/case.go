package speed

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Case is one model with its batch and optimizer: the work of all contenders.
type Case struct {
	Name string
	Text string // description

	hidden    []int // widths of the hidden layers of an mlp
	cnn       bool  // the convolutional network
	batch     int   // examples of a step over all ranks
	optimizer string
	rate      float64
	momentum  float64
	dense     bool // records without zeros
	sgemm     int  // if not 0, a product of two squares of this length on one core instead of a model
	click     clickCase
	answers   answerCase
	maxLoss   float64 // upper bound of the loss of a turn; 0: MaxLoss

	who  []string // contenders, those of ringtrain first
	bars []bar
}

// Names of contenders.
const (
	twoRanks  = "ringtrain, 2 ranks"
	oneRank   = "ringtrain, 1 rank"
	torchOne  = "PyTorch, 1 thread"
	torchTwo  = "PyTorch, 2 threads"
	torchLast = "PyTorch, channels_last"
	torchDDP  = "PyTorch, DDP, 2 ranks"
	tfFit     = "TensorFlow, fit"
	tfStep    = "TensorFlow, own step"
	tfLoop    = "TensorFlow, graph loop"
	tfWorkers = "TensorFlow, 2 workers"
	numpyMPI  = "numpy, mpi4py, 2 ranks"
	oneCore   = "ringtrain, 1 core"
	openBLAS  = "OpenBLAS, 1 core"
)

// cases returns the cases of the suite Images.
func cases() []Case {
	torch, tensorflow := []string{torchOne, torchTwo, torchDDP}, []string{tfFit, tfStep, tfLoop, tfWorkers}
	ours := []string{twoRanks, oneRank}
	every := slices.Concat(torch, tensorflow, []string{numpyMPI})
	mlp := Case{
		Name: "mlp", Text: "MLP 784-512-512-10, batch 256, adam",
		hidden: []int{512, 512}, batch: 256, optimizer: "adam", rate: 0.001, who: slices.Concat(ours, every),
		bars: []bar{
			{ours: twoRanks, theirs: every, want: 1},
			{ours: oneRank, theirs: every, want: 0.95},
			{ours: twoRanks, theirs: []string{torchDDP}, want: 2},
		},
	}
	dense := mlp
	dense.Name, dense.Text, dense.dense, dense.bars = "mlp-dense", mlp.Text+", inputs without zeros", true, nil
	dense.who = slices.Concat(ours, []string{torchTwo, torchDDP, tfLoop, numpyMPI})
	sgemm := func(n int) Case {
		return Case{
			Name: fmt.Sprintf("sgemm-%d", n), Text: fmt.Sprintf("sgemm %d x %d x %d, one core", n, n, n), sgemm: n,
			who: []string{oneCore, openBLAS}, bars: []bar{{ours: oneCore, theirs: []string{openBLAS}, want: 0.85}},
		}
	}
	fixed := []string{torchOne, torchTwo, torchLast, torchDDP, tfFit, tfStep, tfWorkers}
	return []Case{{
		Name: "softmax", Text: "softmax 784-10, batch 100, sgd",
		batch: 100, optimizer: "sgd", rate: 0.5, who: slices.Concat(ours, every),
		bars: []bar{{ours: twoRanks, theirs: every, want: 1.3}},
	}, mlp, dense, {
		Name: "cnn", Text: "CNN 5x5x32, pool, 5x5x64, pool, 10, batch 128, adam",
		cnn: true, batch: 128, optimizer: "adam", rate: 0.001, who: slices.Concat(ours, fixed, []string{tfLoop}),
		bars: []bar{
			{ours: twoRanks, theirs: fixed, want: 1},
			{ours: twoRanks, theirs: []string{tfLoop}, want: 0.8},
		},
	}, {
		Name: "mlp-10m", Text: "MLP 784-2048-2048-2048-10 (10 M), batch 128, momentum",
		hidden: []int{2048, 2048, 2048}, batch: 128, optimizer: "momentum", rate: 0.01, momentum: 0.9,
		who: slices.Concat(ours, []string{torchTwo, torchDDP}),
		bars: []bar{
			{ours: twoRanks, theirs: []string{torchDDP}, want: 1 / 0.65},
			{ours: oneRank, theirs: []string{torchTwo}, want: 1 / 1.15},
		},
	}, sgemm(256), sgemm(512), sgemm(1024)}
}

// unit returns the unit of the figures.
func (c Case) unit() string {
	switch {
	case c.sgemm > 0:
		return "GFLOP/s"
	case c.click.parse:
		return "rows/CPU s"
	case c.answers.records > 0:
		return "records/s"
	}
	return "examples/s"
}

// lossLimit returns the upper bound of the loss of a turn.
func (c Case) lossLimit() float64 {
	if c.maxLoss > 0 {
		return c.maxLoss
	}
	return MaxLoss
}

// model returns the group model of ringtrain's job file.
func (c Case) model() string {
	switch {
	case c.cnn:
		const conv = "    - conv2d: {filters: %d, kernel: 5, padding: same, activation: relu}\n    - max_pool2d\n"
		return "model:\n  layers:\n" + fmt.Sprintf(conv, 32) + fmt.Sprintf(conv, 64) + "    - flatten\n    - dense: {units: 10}\n"
	case len(c.hidden) == 0:
		return "model: {kind: softmax, classes: 10}\n"
	}
	return fmt.Sprintf("model: {kind: mlp, classes: 10, hidden: [%s]}\n", strings.Trim(strings.Join(strings.Fields(fmt.Sprint(c.hidden)), ", "), "[]"))
}

// endless is a number of epochs that no run completes.
const endless = 1 << 20

// job returns ringtrain's job file for records r.
func (c Case) job(r records) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: bench-%s\n%s", c.Name, c.model())
	fmt.Fprintf(&b, "input:\n  train: {format: idx, images: %q, labels: %q}\n  batch: %d\n  shuffle: true\n", r.images, r.labels, c.batch)
	if c.cnn {
		b.WriteString("  shape: [28, 28, 1]\nloss: {kind: softmax}\n")
	}
	fmt.Fprintf(&b, "optimizer: {name: %s, learning_rate: %v", c.optimizer, c.rate)
	if c.optimizer == "momentum" {
		fmt.Fprintf(&b, ", momentum: %v", c.momentum)
	}
	fmt.Fprintf(&b, "}\ntrain: {epochs: %d, seed: 1}\n", endless)
	return b.String()
}

// writeSpec writes the input of the drivers for one of their variants.
func (c Case) writeSpec(folder, name, way string, threads int, warm float64, r records) (string, error) {
	model := "mlp"
	if c.cnn {
		model = "cnn"
	}
	spec := map[string]any{
		"model": model, "hidden": append([]int{}, c.hidden...), "batch": c.batch, "optimizer": c.optimizer,
		"rate": c.rate, "momentum": c.momentum, "images": r.images, "labels": r.labels,
		"way": way, "threads": threads, "warm_s": warm, "sgemm": c.sgemm,
	}
	maps.Copy(spec, c.click.spec(r.log))
	maps.Copy(spec, c.answers.spec(r.bundle))
	text, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, name+".json")
	return path, os.WriteFile(path, text, 0o600)
}
