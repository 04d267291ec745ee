package main

import (
	"strings"
	"testing"
)

// TestNearJobFile verifies that a word that is no job and no program gets the job file in its folder
// that has its name or a similar one, before a rank starts, and no name where the word may be a program.
func TestNearJobFile(t *testing.T) {
	const noJob = ": no such job file, and no built-in job (did you mean "
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"run -np 2 churn", 127, "no job or program churn (did you mean churn.yaml?)"},
		{"run -np 2 chrun", 127, "no job or program chrun (did you mean churn.yaml?)"},
		{"run -np 2 jobs/clicks", 127, "no job or program jobs/clicks (did you mean jobs/clicks.yml?)"},
		{"run -np 2 mnits", 127, "no job or program mnits (did you mean mnist?)"},
		{"run -np 2 chrun.yaml", 66, "chrun.yaml" + noJob + "churn.yaml?)"},
		{"run -np 2 jobs/click.yaml", 66, "jobs/click.yaml" + noJob + "jobs/clicks.yml?)"},
		{"train churn", 66, "churn" + noJob + "churn.yaml?)"},
		{"train churn.yml", 66, "churn.yml" + noJob + "churn.yaml?)"},
		{"eval chrun", 66, "chrun" + noJob + "churn.yaml?)"},
		{"run -np 2 other.yaml", 66, "other.yaml: no such job file, and no built-in job (ctr, linear, mnist)"},
		{"run -np 2 churn.sh", 127, "start rank 0: program churn.sh: not found in PATH"}, // it is there, but not in PATH
		{"run -H nosuch.invalid --ssh false churn", 138, "nosuch.invalid"},               // a program there
	} {
		t.Run("args="+tt.args, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.write("churn.yaml", "model: {kind: linear}\n")
			b.write("churn.sh", "")
			b.write("jobs/clicks.yml", "")
			e := b.must(tt.code, strings.Fields(tt.args)...)
			if !strings.Contains(e.last(), tt.want) || strings.Contains(e.stderr, "[0] ") {
				t.Errorf("says %q, want %q in its last line, and no rank", e.stderr, tt.want)
			}
		})
	}
}

// TestRunChecksJob verifies that run tells each fault of a job once, on a line of its own, before any
// rank starts, and that the error event has them in one line. A rank alone has such lines, too.
func TestRunChecksJob(t *testing.T) {
	b := newBox(t)
	b.write("job.yaml", "model: {kind: linear, fetures: 3}\ninput:\n  bach: 7\n")
	faults := []string{
		`job.yaml:1:23: no key "fetures" in model (did you mean "features"?)`,
		`job.yaml:3:3: no key "bach" in input (did you mean "batch"?)`,
	}
	const hint = "ringtrain: what to do: ringtrain help docs/when-it-breaks#job-file\n"
	text := "ringtrain: " + strings.Join(faults, "\nringtrain: ") + "\n"
	e := b.must(64, "run", "-np", "2", "job.yaml", "--set", "optimizer.learning_rate=1", "--set", "input.synthetic=true")
	if want := hint + text; e.stderr != want || e.stdout != "" {
		t.Errorf("says %q, want %q", e.stderr, want)
	}
	e = b.must(64, "run", "-np", "2", "--json", "job.yaml", "--set", "optimizer.learning_rate=1", "--set", "input.synthetic=true")
	v := e.only(t, "error")
	checkFields(t, v)
	if v.text("cause") != strings.Join(faults, " ") || v.num("rank") != -1 || v.num("exit_code") != 64 {
		t.Errorf("event %v, want both faults and no rank", v)
	}

	e = b.must(64, "train", "job.yaml", "--set", "optimizer.learning_rate=1", "--set", "input.synthetic=true")
	if lines := strings.Split(e.stderr, "\n"); len(lines) != 3 || !strings.HasSuffix(lines[0], ": "+faults[0]) || lines[1] != "ringtrain: "+faults[1] {
		t.Errorf("a rank alone says %q, want a line for each fault", e.stderr)
	}
	e = b.must(64, "run", "-np", "2", "-x", "RINGTRAIN_INPUT_BACH=3", "linear", "--codec", "zip")
	if strings.Count(e.stderr, "\n") != 3 || !strings.Contains(e.stderr, "did you mean RINGTRAIN_INPUT_BATCH?") || !strings.Contains(e.stderr, "\nringtrain: --codec is \"zip\", want") {
		t.Errorf("says %q, want the fault of -x and of --codec", e.stderr)
	}
}
