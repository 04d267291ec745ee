package job

import "testing"

// TestReadsIDs verifies that a linear model reads the ids of records that have some, and numbers of others: by the columns,
// the format, and what the job says of it. Other kinds read what they always do.
func TestReadsIDs(t *testing.T) {
	const columns = "input.columns=[label: {names: [y]}, "
	for _, c := range []struct {
		kind, input string
		sets        []string
		want        bool
	}{
		{"linear", "train: {format: csv, files: [x]}", []string{columns + "numeric: {names: [a]}]"}, false},
		{"linear", "train: {format: csv, files: [x]}", []string{columns + "numeric: {names: [a], buckets: [1]}]"}, true},
		{"linear", "train: {format: csv, files: [x]}", []string{columns + "categorical: {names: [a], vocabulary: auto}]"}, true},
		{"sparse-linear", "train: {format: csv, files: [x]}", []string{columns + "numeric: {names: [a]}]"}, false},
		{"deepfm", "train: {format: csv, files: [x]}", []string{columns + "categorical: {names: [a], hash: 3}]"}, true},
		{"linear", "train: {format: criteo, files: [x]}", nil, true},
		{"linear", "train: {format: libsvm, files: [x]}", nil, true},
		{"mlp", "train: {format: vw, files: [x]}", []string{"model.classes=2"}, true},
		{"linear", "train: {format: libsvm, files: [x]}", []string{"input.shape=[9]"}, false},
		{"sparse-linear", "train: {format: libsvm, files: [x]}", []string{"input.shape=[9]"}, false},
		{"linear", "train: {format: tfrecord, files: [x]}", nil, false},
		{"linear", "train: {format: tfrecord, files: [x], ids: ids}", nil, true},
		{"sparse-linear", "train: {format: tfrecord, files: [x]}", nil, true},
		{"linear", "train: {format: idx, images: x, labels: y}", nil, false},
		{"linear", "synthetic: true", nil, false},
		{"sparse-linear", "synthetic: true", nil, true},
		{"lenet", "train: {format: libsvm, files: [x]}", []string{"model.classes=2"}, false},
	} {
		cfg, err := load(t, "model: {kind: "+c.kind+"}\noptimizer: {learning_rate: 0.1}\ninput: {"+c.input+"}\n", nil, c.sets)
		if err != nil {
			t.Errorf("%s of %s: %v", c.kind, c.input, err)
		} else if got := cfg.ReadsIDs(); got != c.want {
			t.Errorf("%s of %s %q reads ids: %v, want %v", c.kind, c.input, c.sets, got, c.want)
		}
	}
}
