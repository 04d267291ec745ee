package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ringtrain/export/savedmodel/interop"
)

// The tests of this file need real peers. `make interop` installs them and sets
// variables with their locations.

// TestInteropMPI verifies that a start by Open MPI's mpirun gives the same digest.
func TestInteropMPI(t *testing.T) {
	mpirun := os.Getenv("MPIRUN")
	if mpirun == "" {
		t.Skip("set MPIRUN to Open MPI's mpirun to start ranks by it")
	}
	want := reference(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := newBox(t).with("OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	args := append([]string{"-np", "4", "--oversubscribe", self, "train"}, digits(10)...)
	e := b.startProgram(mpirun, args...).wait()
	if e.code != 0 {
		t.Fatalf("mpirun ended with %d\n%s", e.code, e.stderr)
	}
	if got := e.only(t, "start").num("world_size"); got != 4 {
		t.Errorf("world size %v, want 4", got)
	}
	if got := e.digest(t); got != want {
		t.Errorf("digest %s, want %s as by run", got, want)
	}
	if n := strings.Count(e.stderr, "digest="+want); n != 4 {
		t.Errorf("%d ranks end with the digest, want 4:\n%s", n, e.stderr)
	}
}

// TestInteropMPIFails verifies that mpirun ends with the code of a failed rank.
func TestInteropMPIFails(t *testing.T) {
	mpirun := os.Getenv("MPIRUN")
	if mpirun == "" {
		t.Skip("set MPIRUN to Open MPI's mpirun to start ranks by it")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := newBox(t).with("OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	e := b.startProgram(mpirun, "-np", "4", "--oversubscribe", self, "train", "mnist").wait()
	if e.code != 66 || !strings.Contains(e.stderr, "train-images-idx3-ubyte.gz") {
		t.Errorf("mpirun ended with %d, want 66 and the file named\n%s", e.code, e.stderr)
	}
}

// TestInteropBundles verifies that TensorFlow serves the exports of two jobs on real
// data with the same accuracy.
func TestInteropBundles(t *testing.T) {
	tf := interop.Start(t)
	data := map[string]string{"mnist": shared(t), "ctr": clicks(t)}
	mnist, a8a := filepath.Join(data["mnist"], "mnist"), filepath.Join(data["ctr"], "a8a", "int64-label")
	tests := []struct {
		job  string
		args []string // arguments of the script
	}{
		{"mnist", []string{
			"images", "export/mnist", "--images", filepath.Join(mnist, "t10k-images-idx3-ubyte.gz"), "--labels", filepath.Join(mnist, "t10k-labels-idx1-ubyte.gz"),
		}},
		{"ctr", []string{"records", "export/ctr", filepath.Join(a8a, "a8a_test.libsvm.tfrecords")}},
	}
	for _, tt := range tests {
		t.Run("job="+tt.job, func(t *testing.T) {
			b := newBox(t)
			eval := b.must(0, "run", "-np", "4", "--json", tt.job, "--data", data[tt.job]).only(t, "eval")
			b.write("predictions", b.must(0, "predict", tt.job, "--json", "--from", "ckpt/"+tt.job, "--data", data[tt.job]).stdout)
			correct := strconv.Itoa(int(eval.num("correct")))
			report := b.tensorFlow(tf, "check_bundle.py", append(tt.args, "--correct", correct, "--predictions", "predictions")...)
			if report.num("records") != eval.num("examples") || len(report.list("ways")) < 4 || report.num("warm_up") != 8 {
				t.Errorf("TensorFlow tried %v, want %v records by both loaders and all signatures, and 8 requests of the warm-up", report, eval.num("examples"))
			}
		})
	}
}

// TestInteropCheckpoints verifies that TensorFlow restores checkpoints of all seven
// optimizers, weights and slots, and continues training.
func TestInteropCheckpoints(t *testing.T) {
	tf := interop.Start(t)
	data := clicks(t)
	for _, name := range []string{"sgd", "momentum", "adagrad", "adadelta", "adam", "ftrl", "rmsprop"} {
		t.Run("optimizer="+name, func(t *testing.T) {
			b := newBox(t)
			b.must(0, "run", "-np", "2", "ctr", "--data", data, "--set", "optimizer.name="+name, "--set", "train.epochs=1", "--set", "checkpoint.every=200")
			report := b.tensorFlow(tf, "check_checkpoint.py", "ckpt/ctr", "--optimizer", name)
			if report.num("step") != 355 || !strings.HasSuffix(report.text("checkpoint"), "ckpt/ctr/step-000355/model.ckpt") {
				t.Errorf("TensorFlow found %v, want step 355 as the latest", report)
			}
			restored := map[any]bool{}
			for _, name := range report.list("restored") {
				restored[name] = true
			}
			written := b.inspect("ckpt/ctr")
			if len(written) < 2 {
				t.Errorf("the checkpoint has %d variables, want those of the model and of %s", len(written), name)
			}
			for name := range written {
				if !restored[name] {
					t.Errorf("TensorFlow restored %v, want %s too", report.list("restored"), name)
				}
			}
		})
	}
}

// tensorFlow runs a script of export/savedmodel/interop in the box and returns the
// printed object.
func (b *box) tensorFlow(tf *interop.TensorFlow, script string, args ...string) event {
	b.Helper()
	out := tf.Run(b, b.dir, script, args...)
	var report event
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		b.Fatalf("%s: %v\n%s", script, err, out)
	}
	b.Log(strings.TrimSpace(out[:min(len(out), 2000)]))
	return report
}
