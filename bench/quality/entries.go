package main

import (
	"fmt"
	"strings"
)

// An entry is a model on a data set, with what it must reach: an accuracy, or an
// optimum that it must come near.
type entry struct {
	name string
	text string // of the table
	job  string // the job file, without name, train.seed and what is below

	drawn bool    // there are drawn records of its kind
	bar   float64 // least accuracy on the validation records

	optimum float64 // of the objective
	ranks   []int   // of an optimum, that it is reached on
}

// near is how far above its optimum an objective may end.
const near = 1e-4

// below is how far below its optimum an objective may be: float32 adds up to this.
const below = 1e-5

func entries() []entry {
	const (
		tenth   = "optimizer: {name: adam, learning_rate: 0.001}\nschedule: {kind: cosine}\n"
		tabular = "input: {train: {format: tfrecord, files: [%s_train.csv.tfrecords]}, eval: {format: tfrecord, files: [%s_test.csv.tfrecords]}, batch: 16, shuffle: true}\n"
	)
	classes := func(keys string, epochs, batch int) string {
		return "model: {" + keys + ", classes: 10}\n" + mnist(batch) + tenth + fmt.Sprintf("train: {epochs: %d}\n", epochs)
	}
	all := []entry{
		{name: "softmax", text: "softmax, batch 100, sgd, 5 epochs", bar: 0.920, drawn: true,
			job: "model: {kind: softmax, classes: 10}\n" + mnist(100) +
				"loss: {reduction: sum}\noptimizer: {name: sgd, learning_rate: 0.01}\nschedule: {kind: cosine}\ntrain: {epochs: 5}\n"},
		{name: "mlp-100", text: "mlp 100, batch 128, adam, 10 epochs", bar: 0.972, drawn: true, job: classes("kind: mlp, hidden: [100]", 10, 128)},
		{name: "mlp-300-100", text: "mlp 300-100, batch 128, adam, 10 epochs", bar: 0.977, drawn: true, job: classes("kind: mlp, hidden: [300, 100]", 10, 128)},
		{name: "lenet", text: "lenet, batch 128, adam, 10 epochs", bar: 0.988, drawn: true, job: classes("kind: lenet", 10, 128)},
		{name: "cnn", text: "cnn, batch 128, adam, 10 epochs", bar: 0.990, drawn: true, job: classes("kind: cnn", 10, 128)},
		{name: "cnn-small", text: "cnn-small, batch 128, adam 0.003, 10 epochs", bar: 0.988, drawn: true, // the norms take a larger rate
			job: strings.Replace(classes("kind: cnn-small", 10, 128), "0.001", "0.003", 1)},
		{name: "cancer", text: "linear, sigmoid, batch 16, adam, 300 epochs", bar: 0.96,
			job: "model: {kind: linear}\nloss: {kind: sigmoid}\n" + fmt.Sprintf(tabular, "cancer/cancer", "cancer/cancer") +
				"optimizer: {name: adam, learning_rate: 0.02}\nschedule: {kind: cosine}\ntrain: {epochs: 300}\n"},
		{name: "iris", text: "softmax, batch 16, adam, 200 epochs", bar: 0.95,
			job: "model: {kind: softmax, classes: 3}\n" + fmt.Sprintf(tabular, "iris/iris", "iris/iris") +
				"optimizer: {name: adam, learning_rate: 0.02}\nschedule: {kind: cosine}\ntrain: {epochs: 200}\n"},
	}
	return append(all, optima()...)
}

// optima are full-batch runs with λ/2·Σw² whose optimum is known.
func optima() []entry {
	convex := func(name, model, input string, batch int, rate, momentum, optimum float64, ranks ...int) entry {
		return entry{
			name: name + "-convex", text: fmt.Sprintf("%s, all %d records a step, nesterov, l2 1e-4, 5000 steps", model, batch),
			optimum: optimum, ranks: ranks,
			job: fmt.Sprintf("model: {%s, l2: 0.0001}\n%sbatch: %d, shuffle: false}\n", model, input, batch) +
				fmt.Sprintf("optimizer: {name: momentum, nesterov: true, learning_rate: %v, momentum: %v}\n", rate, momentum) +
				"train: {steps: 5000}\nlog: {every: 1}\n",
		}
	}
	libsvm := func(folder, file string) string {
		return fmt.Sprintf("loss: {kind: sigmoid}\ninput: {train: {format: libsvm, files: [%s/%s]}, ", folder, file)
	}
	return []entry{
		convex("cancer", "kind: linear", "loss: {kind: sigmoid}\ninput: {train: {format: tfrecord, files: [cancer/cancer_train.csv.tfrecords]}, ",
			497, 0.02, 0.99, 0.05640659, 1, 2, 4),
		convex("a8a", "kind: sparse-linear, features: 124", libsvm("a8a", "a8a_train.libsvm.gz"), 22696, 0.5, 0.98, 0.32779611, 1, 2, 4),
		convex("agaricus", "kind: sparse-linear, features: 127", libsvm("agaricus", "agaricus.txt.train.gz"), 6513, 0.3, 0.99, 0.01144907, 1, 2, 4),
		convex("mnist", "kind: softmax, classes: 10",
			"input: {train: {format: idx, images: mnist/train-images-idx3-ubyte.gz, labels: mnist/train-labels-idx1-ubyte.gz}, ",
			60000, 0.05, 0.99, 0.25924831, 1, 2),
	}
}

// mnist is the group input of a job on MNIST.
func mnist(batch int) string {
	file := func(part string) string {
		return fmt.Sprintf("{format: idx, images: mnist/%s-images-idx3-ubyte.gz, labels: mnist/%s-labels-idx1-ubyte.gz}", part, part)
	}
	return fmt.Sprintf("input: {train: %s, eval: %s, batch: %d, shuffle: true}\n", file("train"), file("t10k"), batch)
}

func entryNames() string {
	var names []string
	for _, e := range entries() {
		names = append(names, e.name)
	}
	return strings.Join(names, ", ")
}
