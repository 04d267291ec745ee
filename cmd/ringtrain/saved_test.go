package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// trained returns a box after the job mnist was trained on drawn digits with Adam, and
// its events.
func trainedBox(t *testing.T, job ...string) (*box, ended) {
	t.Helper()
	b := newBox(t)
	return b, b.must(0, append([]string{"run", "-np", "2", "--json", "--set", "input.synthetic=true", "--set", "train.steps=10", "--set", "export.if=always"}, job...)...)
}

// TestEval verifies the figures of checkpoint and bundle against those of training, for
// every form of their names, and in the place of the job.
func TestEval(t *testing.T) {
	for _, job := range []string{"mnist", "ctr", "linear"} {
		t.Run("job="+job, func(t *testing.T) {
			b, e := trainedBox(t, job)
			want := e.only(t, "eval")
			for _, from := range [][]string{
				nil, {"--from", "ckpt/" + job}, {"--from", "ckpt/" + job + "/step-000010"}, {"--from", "ckpt/" + job + "/step-000010/model.ckpt"},
				{"--from", "export/" + job}, {"--from", "export/" + job + "/1"},
			} {
				args := append([]string{job, "--set", "input.synthetic=true"}, from...)
				if len(from) > 0 && strings.HasSuffix(from[1], job) {
					args = from[1:] // in the place of the job, by the job file that it keeps
				}
				got := b.must(0, append([]string{"eval", "--json"}, args...)...).only(t, "eval")
				for _, key := range want.keys() {
					isBundle := len(from) > 0 && strings.HasPrefix(from[1], "export")
					if key == "time" || isBundle && key == "epoch" {
						continue // a bundle does not have its epoch
					}
					if !reflect.DeepEqual(got[key], want[key]) {
						t.Errorf("%v: %s is %v, want %v as training said", from, key, got[key], want[key])
					}
				}
			}
		})
	}
}

// TestEvalForPeople verifies the line of eval without --json.
func TestEvalForPeople(t *testing.T) {
	b, _ := trainedBox(t, "mnist")
	if e := b.must(0, "eval", "mnist", "--set", "input.synthetic=true"); !strings.Contains(e.stdout, "accuracy 0.") {
		t.Errorf("eval prints %q", e.stdout)
	}
}

// TestPredict verifies that the predictions of checkpoint and bundle are equal and have
// the accuracy of training.
func TestPredict(t *testing.T) {
	b, e := trainedBox(t, "mnist")
	b.must(0, "data", "make", "digits", "--to", "d")
	scores := func(args ...string) [][]float64 {
		return scoresOf(t, b.must(0, append([]string{"predict", "mnist", "--json"}, args...)...))
	}
	drawn := scores("--from", "ckpt/mnist", "--set", "input.synthetic=true")
	if len(drawn) != 1000 || len(drawn[0]) != 10 {
		t.Fatalf("%d predictions of %d scores, want 1000 of 10", len(drawn), len(drawn[0]))
	}
	labels := labelsOf(t, b.must(0, "data", "cat", "d/t10k-images-idx3-ubyte.gz", "--labels", "d/t10k-labels-idx1-ubyte.gz"))
	right := 0
	for i, s := range drawn {
		sum := 0.0
		for _, p := range s {
			sum += p
		}
		if math.Abs(sum-1) > 1e-5 {
			t.Fatalf("record %d: scores add up to %v, want 1", i, sum)
		}
		if slices.Index(s, slices.Max(s)) == labels[i] {
			right++
		}
	}
	if want := int(e.only(t, "eval").num("correct")); right != want {
		t.Errorf("%d predictions are right, want %d as eval says", right, want)
	}
	for _, args := range [][]string{
		{"--from", "export/mnist", "--set", "input.synthetic=true"},
		{"--from", "ckpt/mnist", "d/t10k-images-idx3-ubyte.gz"},
		{"--from", "ckpt/mnist", "d/t10k-images-idx3-ubyte.gz", "d/t10k-labels-idx1-ubyte.gz"},
	} {
		if got := scores(args...); !slices.EqualFunc(got, drawn, slices.Equal) {
			t.Errorf("%v: other scores than those of the checkpoint on drawn records", args)
		}
	}
	e = b.must(0, "predict", "mnist", "--set", "input.synthetic=true") // by the job's checkpoint
	if strings.Count(e.stdout, "\n") != 1001 || e.stderr != "scores of the job's validation records\n" {
		t.Errorf("%d lines of CSV, and %q, want one a record, a header and what is scored", strings.Count(e.stdout, "\n"), e.stderr)
	}
	e = b.must(0, "predict", "mnist", "d/t10k-images-idx3-ubyte.gz", "--csv")
	if strings.Count(e.stdout, "\n") != 1001 || e.stderr != "" {
		t.Errorf("%d lines of CSV, and %q, want one a record and a header", strings.Count(e.stdout, "\n"), e.stderr)
	}
}

// scoresOf parses the lines of predict --json, in the order of their numbers.
func scoresOf(t testing.TB, e ended) [][]float64 {
	t.Helper()
	var list [][]float64
	for _, v := range e.events(t) {
		if v.num("record") != float64(len(list)) {
			t.Fatalf("record %v at place %d", v["record"], len(list))
		}
		var s []float64
		for k := 0; v["score_"+strconv.Itoa(k)] != nil; k++ {
			s = append(s, v.num("score_"+strconv.Itoa(k)))
		}
		list = append(list, s)
	}
	return list
}

func labelsOf(t *testing.T, e ended) []int {
	t.Helper()
	var labels []int
	for line := range strings.Lines(e.stdout) {
		var r struct{ Label int }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		labels = append(labels, r.Label)
	}
	return labels
}

// TestExport verifies that a new export of a checkpoint equals that of training, as the
// next version.
func TestExport(t *testing.T) {
	b, _ := trainedBox(t, "mnist")
	args := []string{"export", "mnist", "--from", "ckpt/mnist", "--to", "out", "--json", "--set", "input.synthetic=true"}
	for i, want := range []string{"out/1", "out/2"} {
		v := b.must(0, args...).only(t, "export")
		checkFields(t, v)
		if v.text("path") != want || v.num("step") != 10 || v.num("max_difference") > 1e-5 || v.num("verified") != 1000 {
			t.Errorf("export %d: %v, want %s of step 10, verified", i+1, v, want)
		}
	}
	for _, file := range []string{"saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"} {
		want := b.read("export/mnist/1", file)
		for _, version := range []string{"out/1", "out/2"} {
			if got := b.read(version, file); got != want {
				t.Errorf("%s of %s differs from training's", file, version)
			}
		}
	}
	again := b.must(0, "export", "mnist", "--from", "export/mnist", "--to", "again", "--json", "--set", "input.synthetic=true")
	if v := again.only(t, "export"); v.num("step") != 10 {
		t.Errorf("a bundle of a bundle: %v, want step 10", v)
	}
	b.write("file", "")
	b.must(73, "export", "mnist", "--from", "ckpt/mnist", "--to", "file/below", "--set", "input.synthetic=true")
}

// TestInspect verifies the content of checkpoint and bundle for every form of their
// names.
func TestInspect(t *testing.T) {
	b, _ := trainedBox(t, "mnist", "--set", "optimizer.name=adam", "--set", "optimizer.learning_rate=0.001")
	variables := []string{"softmax/bias", "softmax/kernel"}
	slots := []string{"softmax/bias/Adam", "softmax/bias/Adam_1", "softmax/kernel/Adam", "softmax/kernel/Adam_1"}
	for _, path := range []string{"ckpt/mnist", "ckpt/mnist/step-000010", "ckpt/mnist/step-000010/model.ckpt"} {
		found := b.inspect(path)
		for _, name := range slices.Concat(variables, slots, []string{"beta1_power", "beta2_power", "global_step"}) {
			if _, ok := found[name]; !ok {
				t.Errorf("%s: lacks %s", path, name)
			}
		}
		if step := found["global_step"]; step.text("dtype") != "int64" || step.num("bytes") != 8 || !slices.Equal(step.list("values"), []any{10.0}) {
			t.Errorf("%s: %v, want an int64 of 10", path, step)
		}
	}
	for _, path := range []string{"export/mnist", "export/mnist/1"} {
		found := b.inspect(path)
		for _, name := range append(variables, "predict_images", "serving_default", "global_step") {
			if _, ok := found[name]; !ok {
				t.Errorf("%s: lacks %s", path, name)
			}
		}
		if step := found["global_step"]; step.text("dtype") != "int64" || !slices.Equal(step.list("values"), []any{10.0}) {
			t.Errorf("%s: %v, want an int64 of 10", path, step)
		}
		for _, name := range slots {
			if _, ok := found[name]; ok {
				t.Errorf("%s: has %s, want no slots in what is served", path, name)
			}
		}
	}
	kernel := b.inspect("ckpt/mnist")["softmax/kernel"]
	if want := []string{"bytes", "dtype", "event", "max", "mean", "min", "name", "shape", "time"}; !slices.Equal(kernel.keys(), want) {
		t.Errorf("softmax/kernel has the fields %v, want %v: 7840 values are too many", kernel.keys(), want)
	}
	if e := b.must(0, "inspect", "export/mnist"); !strings.Contains(e.stdout, "softmax/kernel") || !strings.Contains(e.stdout, "predict_images") {
		t.Errorf("for people: %s", e.stdout)
	}
}

// inspect returns the objects of inspect --json, by name.
func (b *box) inspect(path string) map[string]event {
	b.Helper()
	found := map[string]event{}
	for _, v := range b.must(0, "inspect", "--json", path).events(b) {
		if v.text("node") != "" {
			continue // nodes of the graph
		}
		name := v.text("name")
		if name == "" {
			name = v.text("signature")
		}
		found[name] = v
	}
	return found
}

// TestDamagedCheckpoint verifies that a damaged checkpoint is not used for training,
// evaluation or export.
func TestDamagedCheckpoint(t *testing.T) {
	b, _ := trainedBox(t, "mnist")
	data := filepath.Join("ckpt", "mnist", "step-000010", "model.ckpt.data-00000-of-00001")
	b.write(data, changed(b.read(data), 1000, 'x'))
	for _, args := range [][]string{
		{"inspect", "ckpt/mnist/step-000010"},
		{"eval", "mnist", "--from", "ckpt/mnist", "--set", "input.synthetic=true"},
		{"export", "mnist", "--from", "ckpt/mnist", "--to", "out", "--set", "input.synthetic=true"},
		{"run", "-np", "2", "mnist", "--set", "input.synthetic=true", "--set", "train.steps=20"},
	} {
		e := b.must(65, args...)
		if !strings.Contains(e.stderr, "step-000010") {
			t.Errorf("%v: %q, want the checkpoint named", args, e.stderr)
		}
	}
	if matches, _ := filepath.Glob(b.path("out", "*")); len(matches) > 0 {
		t.Errorf("a damaged checkpoint was exported: %v", matches)
	}
}

// TestKeep verifies that only the checkpoints of checkpoint.keep stay.
func TestKeep(t *testing.T) {
	b, e := trainedBox(t, "mnist", "--set", "checkpoint.every=3", "--set", "checkpoint.keep=2", "--set", "eval.every=4")
	steps, evals := []float64{}, []float64{}
	for _, v := range e.events(t) {
		switch v.name() {
		case "checkpoint":
			steps = append(steps, v.num("step"))
		case "eval":
			evals = append(evals, v.num("step"))
		}
	}
	if !slices.Equal(steps, []float64{3, 6, 9, 10}) || !slices.Equal(evals, []float64{4, 8, 10}) {
		t.Errorf("checkpoints at %v, evaluations at %v, want 3 6 9 10 and 4 8 10", steps, evals)
	}
	folders, _ := filepath.Glob(b.path("ckpt", "mnist", "step-*"))
	if len(folders) != 2 || filepath.Base(folders[0]) != "step-000009" || filepath.Base(folders[1]) != "step-000010" {
		t.Errorf("folders %v, want the two newest", folders)
	}
	if text := b.read("ckpt/mnist/checkpoint"); !strings.Contains(text, `"step-000010/model.ckpt"`) {
		t.Errorf("state file:\n%s", text)
	}
}
