package main

import (
	"fmt"
	"strings"
)

// An entry is a model on a data set with its bars: an accuracy, an AUC, or a distance to
// an optimum.
type entry struct {
	name string
	text string // description
	job  string // job file without name, train.seed and the keys below

	drawn bool    // ringtrain draws records of this kind
	bar   float64 // least accuracy on the validation records
	auc   float64 // least AUC on them, for models of clicks
	most  limits  // upper bounds
	log   string  // options of `ringtrain data make clicks`, which draws its files; "": none

	reported bool // no bar: 800 validation records are too few

	optimum float64 // of the objective
	ranks   []int   // numbers of ranks of an optimum
}

// limits has upper bounds of an outcome; 0: none.
type limits struct {
	rmse, logLoss float64 // of the validation records
	progressive   float64 // mean loss of the last epoch, each batch before its update
}

// near bounds the distance of an objective above its optimum.
const near = 1e-4

// below bounds the distance of an objective below its optimum, an effect of float32
// sums.
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
	all = append(all, clicks()...)
	all = append(all, tables()...)
	return append(all, optima()...)
}

// clicks returns the entries of models of ids: sparse-linear with each optimizer on a8a,
// the others there with bars lower by 0.003, and all on a log whose labels depend on
// pairs of ids. The hidden model of that log has an AUC of 0.8120, and sparse-linear
// reaches 0.673. The bar is 0.01 below the former.
func clicks() []entry {
	const (
		a8a = "input: {train: {format: libsvm, files: [a8a/a8a_train.libsvm.gz]}, eval: {format: libsvm, files: [a8a/a8a_test.libsvm.gz]}, batch: %d}\n"
		log = "input: {train: {format: csv, header: true, files: [clicks_train.csv]}, eval: {format: csv, header: true, files: [clicks_test.csv]}, batch: 500,\n" +
			"  columns: [{label: {names: [label]}}, {categorical: {names: [C1..C39], vocabulary: auto}}]}\n"
	)
	var all []entry
	for _, o := range []struct{ name, rate string }{
		{"sgd", "0.5"}, {"momentum", "0.05"}, {"adagrad", "0.1"}, {"adadelta", "10"}, {"adam", "0.005"}, {"ftrl", "0.1"}, {"rmsprop", "0.005"},
	} { // the learning rates of job ctr
		all = append(all, entry{
			name: "a8a-" + o.name, text: "sparse-linear, batch 64, " + o.name + ", 10 epochs", bar: 0.851, auc: 0.905,
			job: "model: {kind: sparse-linear, features: 124}\n" + fmt.Sprintf(a8a, 64) +
				fmt.Sprintf("optimizer: {name: %s, learning_rate: %s}\ntrain: {epochs: 10}\n", o.name, o.rate),
		})
	}
	for _, m := range []struct{ name, keys, rate string }{
		{"fm", "kind: fm", "0.1"}, {"wide-deep", "kind: wide-deep, hidden: [32, 16]", "0.05"},
		{"deepfm", "kind: deepfm, hidden: [32, 16]", "0.05"}, {"dcn", "kind: dcn, hidden: [32, 16]", "0.05"},
	} {
		all = append(all, entry{
			name: "a8a-" + m.name, text: m.name + ", batch 100, adagrad, 3 epochs", bar: 0.851 - 0.003, auc: 0.905 - 0.003,
			job: fmt.Sprintf("model: {%s, features: 124}\n"+a8a+"optimizer: {name: adagrad, learning_rate: %s}\ntrain: {epochs: 3}\n", m.keys, 100, m.rate),
		})
	}
	for _, m := range []struct{ name, keys, text, optimizer string }{
		{"fm", "kind: fm", "adagrad 0.1, 2 epochs", "optimizer: {name: adagrad, learning_rate: 0.1}\ntrain: {epochs: 2}\n"},
		{"deepfm", "kind: deepfm, hidden: [64, 32]", "adam 0.002, linear, 1 epoch", "optimizer: {name: adam, learning_rate: 0.002}\nschedule: {kind: linear}\n"},
		{"dcn", "kind: dcn, hidden: [64, 32]", "adam 0.004, linear, 1 epoch", "optimizer: {name: adam, learning_rate: 0.004}\nschedule: {kind: linear}\n"},
	} {
		all = append(all, entry{
			name: "pairs-" + m.name, text: m.name + ", 1 million drawn clicks of 39 fields with interactions, batch 500, " + m.text, auc: 0.8120 - 0.01,
			log: "--rows 1000000 --test-rows 50000 --ids 4000 --interactions --seed 1 --format csv",
			job: fmt.Sprintf("model: {%s}\n%s%s", m.keys, log, m.optimizer),
		})
	}
	return all
}

// tables returns the entries of data sets of columns and of ids, and the loss of one
// pass over a million drawn clicks. Vowpal Wabbit 9.11.9 has 0.5515 at its best rate,
// 0.15 (vw -b 20 --loss_function logistic -l 0.15, on --format vw of the same log).
func tables() []entry {
	const (
		criteo = "input: {train: {format: criteo, files: [criteo/8k/train.tsv.gz]}, eval: {format: criteo, files: [criteo/8k/dev.tsv.gz, criteo/8k/test.tsv.gz]}, batch: 100, shuffle: true}\n"
		boston = "input:\n  train: {format: csv, header: true, files: [boston-housing/train.csv]}\n  eval: {format: csv, header: true, files: [boston-housing/train.csv]}\n" +
			"  columns:\n    - label: {names: [medv]}\n" +
			"    - numeric: {names: [crim, zn, indus, chas, nox, rm, age, dis, rad, tax, ptratio, black, lstat], standardize: true}\n  batch: 20\n  shuffle: true\n"
		agaricus = "input: {train: {format: libsvm, files: [agaricus/agaricus.txt.train.gz]}, eval: {format: libsvm, files: [agaricus/agaricus.txt.test.gz]}, batch: 64, shuffle: true}\n"
	)
	all := []entry{
		{name: "agaricus", text: "sparse-linear, batch 64, adagrad 0.5, 10 epochs", bar: 0.998,
			job: "model: {kind: sparse-linear, features: 127}\n" + agaricus + "optimizer: {name: adagrad, learning_rate: 0.5}\ntrain: {epochs: 10}\n"},
		{name: "boston", text: "linear, columns standardized, batch 20, sgd 0.02, 100 epochs", most: limits{rmse: 4.80},
			job: "model: {kind: linear}\nloss: {kind: squared}\n" + boston + "optimizer: {name: sgd, learning_rate: 0.02}\nschedule: {kind: cosine}\ntrain: {epochs: 100}\n"},
		{name: "criteo-8k", text: "sparse-linear, l2 0.003, batch 100, adagrad 0.1, 5 epochs", auc: 0.70, most: limits{logLoss: 0.50},
			job: "model: {kind: sparse-linear, l2: 0.003}\n" + criteo + "optimizer: {name: adagrad, learning_rate: 0.1}\ntrain: {epochs: 5}\n"},
		{name: "progressive", text: "sparse-linear, 1 million drawn clicks of 1 million ids, batch 256, adagrad 0.2, one pass", most: limits{progressive: 0.5515 + 0.005},
			log: "--rows 1000000 --test-rows 1000 --ids 1000000 --interactions",
			job: "model: {kind: sparse-linear, features: 1000000}\n" +
				"input: {train: {format: libsvm, files: [clicks_train.libsvm]}, eval: {format: libsvm, files: [clicks_test.libsvm]}, batch: 256}\n" +
				"optimizer: {name: adagrad, learning_rate: 0.2}\ntrain: {epochs: 1}\n"},
	}
	for _, m := range []string{"fm", "wide-deep, hidden: [32, 16]", "deepfm, hidden: [32, 16]", "dcn, hidden: [32, 16]"} {
		kind, _, _ := strings.Cut(m, ",")
		all = append(all, entry{name: "criteo-8k-" + kind, text: kind + ", l2 0.003, batch 100, adagrad 0.05, 3 epochs", reported: true,
			job: "model: {kind: " + m + ", l2: 0.003}\n" + criteo + "optimizer: {name: adagrad, learning_rate: 0.05}\ntrain: {epochs: 3}\n"})
	}
	return all
}

// optima returns the entries of full-batch runs with λ/2·Σw² and a known optimum.
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

// mnist returns the group input of a job on MNIST.
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
	for _, e := range rawEntries() {
		names = append(names, e.name)
	}
	return strings.Join(names, ", ")
}
