package job

import (
	"strings"
	"testing"
)

// TestInitFromMatches verifies which names a pattern of train.init_from matches.
func TestInitFromMatches(t *testing.T) {
	if matches("[", "a") || !matches("a", "a/b/c") || matches("b", "a/b") || !matches("a/*", "a/b/c") {
		t.Error("patterns match other names")
	}
}

// TestWantsTwoClasses verifies that eval.threshold and the metrics of two classes are refused of a model of another number
// of classes, as soon as the number is known, and taken by softmax of two.
func TestWantsTwoClasses(t *testing.T) {
	const text = "model: {kind: softmax, classes: %}\ninput:\n  train: {format: csv, files: [a]}\n  split: {share: 0.1}\n  columns: [{label: {names: [y]}}, {numeric: {names: [x]}}]\n" +
		"optimizer: {learning_rate: 0.1}\ncheckpoint: {dir: c}\n"
	for _, set := range []string{"eval.threshold=0.3", "eval.threshold=best_f1", "train.early_stopping.metric=auc", "train.early_stopping.metric=normalized_entropy"} {
		key, value, _ := strings.Cut(set, "=")
		sets := []string{"eval.every=1", "train.early_stopping.patience=1", set}
		if _, err := load(t, strings.Replace(text, "%", "2", 1), nil, sets); err != nil {
			t.Errorf("%s with two classes: %v", set, err)
		}
		if _, err := load(t, strings.Replace(text, "%", "3", 1), nil, sets); err == nil || !strings.Contains(err.Error(), key+" is ") || !strings.Contains(err.Error(), value) {
			t.Errorf("%s with three classes: error %v", set, err)
		}
		cfg, err := load(t, strings.Replace(text, "%", "auto", 1), nil, sets)
		if err != nil {
			t.Errorf("%s with classes that are not known yet: %v", set, err)
			continue
		}
		cfg.Model.SetNames([]string{"a", "b", "c"})
		if err := cfg.CheckClasses(); err == nil || !strings.Contains(err.Error(), key+" is ") {
			t.Errorf("%s with three names: error %v", set, err)
		}
	}
}
