package main

import (
	"math"
	"os"
	"strings"
	"testing"
)

// TestMNIST verifies that the job mnist reaches its accuracy on the real digits.
func TestMNIST(t *testing.T) {
	long(t)
	data := shared(t)
	tests := []struct {
		name  string
		args  []string
		least float64
	}{
		{"default", nil, 0.920},
		{"1000 steps at a constant rate", []string{"--set", "train.steps=1000", "--set", "schedule.kind=constant"}, 0.905},
	}
	for _, tt := range tests {
		t.Run("job="+tt.name, func(t *testing.T) {
			e := newBox(t).must(0, append([]string{"run", "-np", "4", "--json", "mnist", "--data", data}, tt.args...)...)
			eval := e.only(t, "done").sub("eval")
			if eval.num("accuracy") < tt.least || eval.num("examples") != 10000 || eval.text("split") != "eval" {
				t.Errorf("%v, want accuracy %v or more on the 10000 test images", eval, tt.least)
			}
			if rss := e.only(t, "done").num("max_rss_bytes"); rss > 200<<20 {
				t.Errorf("a rank needs %v bytes, want less than 200 MiB", rss)
			}
		})
	}
}

// TestClicks verifies that the job ctr reaches its accuracy and AUC on a8a with each of
// the seven optimizers at the job's rate.
func TestClicks(t *testing.T) {
	long(t)
	data := clicks(t)
	for _, name := range []string{"sgd", "momentum", "adagrad", "adadelta", "adam", "ftrl", "rmsprop"} {
		t.Run("optimizer="+name, func(t *testing.T) {
			e := newBox(t).must(0, "run", "-np", "2", "--json", "ctr", "--data", data, "--set", "optimizer.name="+name)
			eval := e.only(t, "done").sub("eval")
			if eval.num("accuracy") < 0.851 || eval.num("auc") < 0.905 {
				t.Errorf("%v, want accuracy 0.851 or more and auc 0.905 or more", eval)
			}
		})
	}
}

// TestValidationIsValidation flips the labels of the validation file. It verifies that
// evaluation reads the validation records, and training does not.
func TestValidationIsValidation(t *testing.T) {
	long(t)
	data := clicks(t)
	a8a := data + "/a8a/int64-label/"
	train := func(flip bool) (loss, auc float64) {
		b := newBox(t)
		b.write("a8a/int64-label/a8a_train.libsvm.tfrecords", readFile(t, a8a+"a8a_train.libsvm.tfrecords"))
		b.must(0, "data", "convert", a8a+"a8a_test.libsvm.tfrecords", "--to", "test.libsvm")
		if flip {
			b.write("test.libsvm", flipped(b.read("test.libsvm")))
		}
		b.must(0, "data", "convert", "test.libsvm", "--to", "a8a/int64-label/a8a_test.libsvm.tfrecords")
		e := b.must(0, "run", "-np", "2", "--json", "ctr", "--set", "train.epochs=2", "--set", "export.savedmodel=") // flipped, it is not sound
		done := e.only(t, "done")
		return done.num("loss"), done.sub("eval").num("auc")
	}
	loss, auc := train(false)
	flippedLoss, flippedAUC := train(true)
	if loss != flippedLoss {
		t.Errorf("training loss is %v with flipped validation labels, want %v as without", flippedLoss, loss)
	}
	if !(math.Abs(auc+flippedAUC-1) <= 1e-12) || auc < 0.89 {
		t.Errorf("auc is %v, with flipped labels %v, want 0.89 or more, and 1 minus that", auc, flippedAUC)
	}
}

// flipped returns lines of LibSVM with labels 0 and 1 exchanged.
func flipped(lines string) string {
	var s strings.Builder
	for line := range strings.Lines(lines) {
		label, rest, _ := strings.Cut(line, " ")
		s.WriteString(map[string]string{"0": "1", "1": "0"}[label] + " " + rest)
	}
	return s.String()
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
