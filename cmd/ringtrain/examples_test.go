package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/docs"
)

// exampleElsewhere lists the examples that need what CI has not: other hosts, a scheduler, or packages of Python.
// Their scripts are read, not run.
var exampleElsewhere = []string{"ssh", "slurm", "kubernetes", "python"}

// TestExamples runs the script of each example in a copy of its folder. Each command must
// end with 0, and what resumes must train.
func TestExamples(t *testing.T) {
	scripts, err := filepath.Glob("../../examples/*/run.sh")
	if err != nil || len(scripts) < 6 {
		t.Fatalf("%d scripts, %v, want those of all examples", len(scripts), err)
	}
	onlyRead := exampleElsewhere
	if short(t) {
		onlyRead = append([]string{"images"}, onlyRead...)
	}
	for _, script := range scripts {
		name := filepath.Base(filepath.Dir(script))
		t.Run("example="+name, func(t *testing.T) {
			if slices.Contains(onlyRead, name) {
				if out, err := exec.Command("sh", "-n", script).CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
				parseBlock(t, "examples/"+name, docBlock{text: readFile(t, script)})
				return
			}
			b := newBox(t).lasting(3 * time.Minute).inPath()
			if err := os.CopyFS(b.dir, os.DirFS(filepath.Dir(script))); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), b.limit)
			defer cancel()
			sh := exec.CommandContext(ctx, "sh", "run.sh")
			sh.Dir, sh.Env = b.dir, b.env
			out, err := sh.CombinedOutput()
			if err != nil {
				t.Errorf("%v:\n%s", err, out)
			}
			digests := regexp.MustCompile(`digest=[0-9a-f]+`).FindAllString(string(out), -1)
			slices.Sort(digests)
			if runs := slices.Compact(digests); name == "resume" && len(runs) != 2 {
				t.Errorf("the runs end with the digests %q, want two: the second run trains", runs)
			}
		})
	}
}

// TestExampleAllReduce verifies that the example program of package ring prints the sum on each of three
// ranks, and that docs/architecture.md shows this program.
func TestExampleAllReduce(t *testing.T) {
	source := readFile(t, "../../examples/allreduce/main.go")
	if page, _ := docs.Page("architecture"); !strings.Contains(page, "```go\n"+source[strings.Index(source, "func main"):]+"```\n") {
		t.Error("docs/architecture.md does not show the function main of examples/allreduce")
	}
	b := newBox(t)
	program := b.path("allreduce")
	build := exec.Command("go", "build", "-o", program, "ringtrain/examples/allreduce")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := b.must(0, "run", "-np", "3", program).stdout
	for _, want := range []string{"[0] rank 0 of 3: sum [3 3]\n", "[1] rank 1 of 3: sum [3 3]\n", "[2] rank 2 of 3: sum [3 3]\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("the ranks print %q, want %q", got, want)
		}
	}
}
