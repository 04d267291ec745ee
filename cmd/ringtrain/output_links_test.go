package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutputLinks verifies, for each command that writes to a folder or a file that an option names,
// that a link to nothing there or above it is 73 and names option and target, and that the link stays
// and nothing is made at its target.
func TestOutputLinks(t *testing.T) {
	b := newBox(t)
	b.must(0, "run", "-np", "1", "linear", "--quiet", "--set", "export.savedmodel=")
	b.write("a.libsvm", "1 1:1\n0 2:1\n")
	b.write("job.yaml", "model: {kind: sparse-linear, features: 3}\ninput: {train: {format: libsvm, files: [a.libsvm]}, cache: gone/cache}\noptimizer: {learning_rate: 0.1}\n")
	for _, link := range []string{"gone", "file.tfrecord"} {
		if err := os.Symlink("purged/models", b.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"export linear --from ckpt/linear --to gone",
		"export linear --from ckpt/linear --to gone/sub",
		"data make digits --to gone",
		"data make clicks --rows 10 --test-rows 10 --to gone/sub",
		"data convert a.libsvm --to gone/b.tfrecord",
		"data convert a.libsvm --to file.tfrecord",
		"data convert a.libsvm --to file.tfrecord --overwrite",
		"data cache job.yaml",
		"train job.yaml",
		"run -np 1 --output-dir gone linear",
		"run -np 1 --output-dir gone/sub linear",
	} {
		t.Run(line, func(t *testing.T) {
			e := b.run(strings.Fields(line)...)
			said := e.stdout + e.stderr
			if e.code != 73 || !strings.Contains(said, " is a link to ") || !strings.Contains(said, "purged/models, which is not there") {
				t.Errorf("ended with %d and\n%s", e.code, said)
			}
			for _, option := range []string{"--output-dir", "--to"} {
				if strings.Contains(line, option) && !strings.HasPrefix(line, "data") && !strings.Contains(said, option+": ") {
					t.Errorf("does not name %s:\n%s", option, said)
				}
			}
			for _, link := range []string{"gone", "file.tfrecord"} {
				if to, err := os.Readlink(b.path(link)); to != "purged/models" {
					t.Fatalf("the link is %q, %v", to, err)
				}
			}
			if _, err := os.Stat(b.path("purged")); err == nil {
				t.Error("its target is made")
			}
		})
	}
}

// TestOutputThroughLink verifies that a file whose name is a link is written where the link ends.
func TestOutputThroughLink(t *testing.T) {
	b := newBox(t)
	b.write("a.libsvm", "1 1:1\n0 2:1\n")
	b.write("there/b.tfrecord", "old")
	if err := os.Symlink(filepath.Join("there", "b.tfrecord"), b.path("link.tfrecord")); err != nil {
		t.Fatal(err)
	}
	b.must(73, "data", "convert", "a.libsvm", "--to", "link.tfrecord")
	b.must(0, "data", "convert", "a.libsvm", "--to", "link.tfrecord", "--overwrite")
	if to, err := os.Readlink(b.path("link.tfrecord")); to != filepath.Join("there", "b.tfrecord") {
		t.Errorf("the link is %q, %v", to, err)
	}
	if got := b.read("there", "b.tfrecord"); got == "old" {
		t.Error("the file behind the link is the old one")
	}
}
