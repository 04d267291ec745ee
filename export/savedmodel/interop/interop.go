// Package interop has real TensorFlow answer tests: it runs the Python scripts of its folder,
// which also run by themselves.
package interop

import (
	"bytes"
	"embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed *.py
var scripts embed.FS

// TensorFlow is a process that imports TensorFlow once and then runs one script after the
// other. One goroutine at a time may use it.
type TensorFlow struct {
	questions *json.Encoder
	answers   *json.Decoder
	trouble   *bytes.Buffer // what the process itself says, until its end
	end       func()
}

// Python returns the program that TF_PYTHON names, and skips a test where it is not set.
func Python(t testing.TB) string {
	t.Helper()
	python := os.Getenv("TF_PYTHON")
	if python == "" {
		t.Skip("set TF_PYTHON to a python with tensorflow-cpu 2.21.0 to ask TensorFlow")
	}
	return python
}

// Start starts the process, and ends it with the test. It skips a test where TF_PYTHON is not
// set. TensorFlow is imported while the test does something else.
func Start(t testing.TB) *TensorFlow {
	t.Helper()
	python := Python(t)
	dir := t.TempDir()
	if err := os.CopyFS(dir, scripts); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), python, filepath.Join(dir, "answer.py"))
	tf := &TensorFlow{trouble: &bytes.Buffer{}}
	cmd.Stderr = tf.trouble
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tf.questions, tf.answers = json.NewEncoder(stdin), json.NewDecoder(stdout)
	ended := false
	tf.end = func() {
		if !ended {
			ended = true
			stdin.Close()
			cmd.Wait()
		}
	}
	t.Cleanup(tf.end)
	return tf
}

// Run runs a script in dir, a folder of the caller's. It returns what the script prints, and
// fails the test if the script does not end with 0.
func (tf *TensorFlow) Run(t testing.TB, dir, script string, args ...string) string {
	t.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	question := struct {
		Dir  string   `json:"dir"`
		Args []string `json:"args"`
	}{dir, append([]string{script}, args...)}
	if err := tf.questions.Encode(question); err != nil {
		tf.end()
		t.Fatalf("asking TensorFlow: %v\n%s", err, tf.trouble)
	}
	var answer struct {
		Code           int
		Stdout, Stderr string
	}
	if err := tf.answers.Decode(&answer); err != nil {
		tf.end()
		t.Fatalf("TensorFlow gives no answer: %v\n%s", err, tf.trouble)
	}
	if answer.Code != 0 {
		t.Fatalf("%s ended with %d\n%s%s", script, answer.Code, answer.Stdout, answer.Stderr)
	}
	return answer.Stdout
}
