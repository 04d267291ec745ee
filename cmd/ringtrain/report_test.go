package main

import (
	"strings"
	"testing"
)

// TestReport verifies that a report of a job, of a folder and of saved lines is one page that has each run
// by its name, and that one of a run that failed or made no step is a page, too.
func TestReport(t *testing.T) {
	b := newBox(t)
	job := []string{"train", "mnist", "--set", "input.synthetic=true", "--set", "train.steps=20", "--set", "export.savedmodel="}
	b.must(0, job...)
	saved := b.must(0, append(job, "--set", "checkpoint.dir=", "--json")...).stdout
	b.write("night.jsonl", saved)
	b.must(80, append(job, "--set", "checkpoint.dir=failed", "--set", "optimizer.learning_rate=1e38")...)
	b.must(0, append(job, "--set", "checkpoint.dir=none", "--set", "train.steps=1")...)
	b.must(0, append(job, "--set", "checkpoint.dir=none", "--set", "train.steps=1")...) // finished: no step
	for _, tt := range []struct {
		args  string
		names []string
	}{
		{"mnist", []string{"mnist"}},
		{"mnist night.jsonl failed", []string{"mnist", "night", "failed"}},
		{"ckpt/mnist/history.jsonl none", []string{"mnist", "none"}},
	} {
		b.must(0, append([]string{"report"}, strings.Fields(tt.args+" -o all.html")...)...)
		page := b.read("all.html")
		for _, name := range tt.names {
			if !strings.Contains(page, `{"name":"`+name+`"`) {
				t.Errorf("the report of %s does not have the run %s", tt.args, name)
			}
		}
		if got := strings.Count(page, `class="run">{`); got != len(tt.names) || !strings.HasPrefix(page, "<!") {
			t.Errorf("the report of %s has %d runs, want %d; it begins %.40q", tt.args, got, len(tt.names), page)
		}
	}
}

// TestReportOfOtherFiles verifies that a file that is no history is refused by file and line.
func TestReportOfOtherFiles(t *testing.T) {
	b := newBox(t)
	b.write("runs.csv", "epoch,loss\n1,0.5\n")
	if e := b.must(65, "report", "runs.csv"); !strings.Contains(e.stderr, "runs.csv:1: ") {
		t.Errorf("says %q, want the file and its line", e.stderr)
	}
}

// TestRunsOfOneName verifies that runs whose folders have one name are told apart by the file of the second one, in a file and on standard output.
func TestRunsOfOneName(t *testing.T) {
	b := newBox(t)
	line := `{"event":"start","time":"2026-03-01T12:00:00Z","job":"mnist"}` + "\n"
	b.write("a/run.jsonl", line)
	b.write("b/run.jsonl", line)
	b.must(0, "report", "a/run.jsonl", "b/run.jsonl")
	page := b.read("report.html")
	if e := b.must(0, "report", "a/run.jsonl", "b/run.jsonl", "-o", "-"); e.stdout != page {
		t.Errorf("standard output has %.80q, and the file %.80q", e.stdout, page)
	}
	for _, name := range []string{"run", "b/run.jsonl"} {
		if !strings.Contains(page, `{"name":"`+name+`"`) {
			t.Errorf("no run is named %s", name)
		}
	}
}
