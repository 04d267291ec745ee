package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestRunProgram verifies that `run` starts programs that do not know ringtrain, as
// mpirun does.
func TestRunProgram(t *testing.T) {
	tests := []struct {
		name, args string
		code       int
		out        []string // sorted lines of standard output
		last       string   // text of the last line of standard error
	}{
		{"program", "run -np 2 echo hi", 0, []string{"[0] hi", "[1] hi"}, ""},
		{"after --", "run -np 2 -- echo hi", 0, []string{"[0] hi", "[1] hi"}, ""},
		{"its flags are its own", "run -np 2 echo --json -np 7 --", 0, []string{"[0] --json -np 7 --", "[1] --json -np 7 --"}, ""},
		{"a job's name after --", "run -np 2 -- mnist", 127, nil, "mnist"},
		{"not found", "run -np 2 no-such-program", 127, nil, "no-such-program"},
		{"not executable", "run -np 2 ./file", 126, nil, "file"},
		{"not found by path", "run -np 2 ./no-such-program", 127, nil, "no-such-program"},
	}
	for _, tt := range tests {
		t.Run("run="+tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.write("file", "text")
			e := b.must(tt.code, strings.Fields(tt.args)...)
			if got := slices.Sorted(strings.Lines(e.stdout)); strings.Join(got, "") != joined(tt.out) {
				t.Errorf("standard output is %q, want %q", got, tt.out)
			}
			if !strings.Contains(e.last(), tt.last) {
				t.Errorf("last line %q, want %q in it", e.last(), tt.last)
			}
		})
	}
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// TestRunFails verifies that the launcher ends with the code of the first failed rank
// and names it.
func TestRunFails(t *testing.T) {
	e := newBox(t).must(3, "run", "-np", "2", "sh", "-c", "exit 3")
	if !strings.Contains(e.last(), "exit code 3") {
		t.Errorf("last line %q, want exit code 3 in it", e.last())
	}
	e = newBox(t).must(5, "run", "-np", "3", "--grace", "1s", "sh", "-c", "test $RINGTRAIN_RANK = 1 && exit 5; exec sleep 1000")
	if !strings.Contains(e.last(), "rank 1 ") {
		t.Errorf("last line %q, want rank 1 in it", e.last())
	}
	e = newBox(t).must(134, "run", "-np", "2", "sh", "-c", "kill -ABRT $$")
	if !strings.Contains(e.last(), "rank ") {
		t.Errorf("last line %q, want the rank in it", e.last())
	}
}

// TestRunEnvironment verifies the variables with place and rendezvous of a program.
func TestRunEnvironment(t *testing.T) {
	e := newBox(t).must(0, "run", "-np", "3", "env")
	for rank := range 3 {
		lines := linesOf(e.stdout, rank)
		r := string(rune('0' + rank))
		for _, want := range []string{
			"RINGTRAIN_RANK=" + r, "RINGTRAIN_WORLD_SIZE=3", "RINGTRAIN_LOCAL_RANK=" + r, "RINGTRAIN_LOCAL_SIZE=3",
			"RANK=" + r, "WORLD_SIZE=3", "LOCAL_RANK=" + r, "LOCAL_WORLD_SIZE=3",
		} {
			if !slices.Contains(lines, want) {
				t.Errorf("rank %d lacks %s: %q", rank, want, lines)
			}
		}
		for _, prefix := range []string{"RINGTRAIN_RENDEZVOUS=127.0.0.1:", "RINGTRAIN_TOKEN_FILE=/"} {
			if !slices.ContainsFunc(lines, func(s string) bool { return strings.HasPrefix(s, prefix) }) {
				t.Errorf("rank %d lacks %s", rank, prefix)
			}
		}
	}
}

// TestRunTrain verifies the form of mpirun: run -np N ringtrain train JOB.
func TestRunTrain(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e := newBox(t).must(0, "run", "-np", "2", "--json", self, "train", "linear", "--set", "train.steps=5", "--set", "export.if=always")
	if got := e.only(t, "start").num("world_size"); got != 2 {
		t.Errorf("world size %v, want 2", got)
	}
}

// TestRunJSONOutput verifies that standard output has rank 0's lines, without a prefix,
// and no others with --json.
func TestRunJSONOutput(t *testing.T) {
	e := newBox(t).must(0, "run", "-np", "3", "--json", "sh", "-c", "echo out $RINGTRAIN_RANK $RINGTRAIN_JSON")
	if e.stdout != "out 0 1\n" {
		t.Errorf("standard output is %q, want rank 0's line alone", e.stdout)
	}
	for _, rank := range []int{1, 2} {
		if got := linesOf(e.stderr, rank); len(got) != 1 {
			t.Errorf("rank %d: standard error has %q, want its one line", rank, got)
		}
	}
}

// TestRunJobFileElsewhere verifies that the last line says where the launcher's host has the job file
// that ranks do not find.
func TestRunJobFileElsewhere(t *testing.T) {
	b := newBox(t)
	b.write("job.yaml", "name: x\n")
	b.write("other/empty", "")
	want := "; this host has " + b.path("job.yaml") + ": copy it to every host, into the folder that ranks run in"
	if e := b.must(66, "run", "-np", "2", "--wdir", "other", "job.yaml"); !strings.HasSuffix(e.last(), want) {
		t.Errorf("last line %q, want %q at its end", e.last(), want)
	}
	if e := b.must(66, "run", "-np", "2", "--wdir", "other", "none.yaml"); strings.Contains(e.stderr, "this host has") {
		t.Errorf("says %q of a file that is nowhere", e.stderr)
	}
}

// TestRunOwnWord verifies that the word ringtrain is the launcher's own program, which need not be in
// PATH, and that behind "--" it is looked for in PATH.
func TestRunOwnWord(t *testing.T) {
	b := newBox(t)
	if e := b.must(0, "run", "-np", "2", "ringtrain", "version"); len(linesOf(e.stdout, 1)) == 0 {
		t.Errorf("prints %q, want lines of each rank", e.stdout)
	}
	if e := b.must(127, "run", "-np", "1", "--", "ringtrain", "version"); !strings.Contains(e.last(), "program ringtrain: not found in PATH") {
		t.Errorf("last line %q", e.last())
	}
}

// TestRunExplains verifies that the launcher names the entry of its own errors, and that an error of
// the command line is one line.
func TestRunExplains(t *testing.T) {
	for _, tt := range []struct{ args, entry, want string }{
		{"run -np 3 -H localhost:2 linear", "slots", "3 ranks are asked for, more than 2 slots"},
		{"run -np 2 --wdir nowhere linear", "option", "want a folder that is there"},
		{"run -np 1 true : -np 0 true", "option", "-np is 0, want 1 or more"},
		{"run -np 0 mnist", "", "-np is 0, want 1 or more"},
		{"run -np 2 --interface q linear", "", `--interface is "q", want`},
		{"run -np 2 --bogus linear", "", "unknown option --bogus"},
	} {
		t.Run("args="+tt.args, func(t *testing.T) {
			e := newBox(t).must(64, strings.Fields(tt.args)...)
			lines := strings.Split(strings.TrimSuffix(e.stderr, "\n"), "\n")
			if !strings.Contains(lines[len(lines)-1], tt.want) {
				t.Errorf("last line %q, want %q in it", lines[len(lines)-1], tt.want)
			}
			if want := "docs/when-it-breaks#" + tt.entry; tt.entry != "" && (len(lines) < 2 || !strings.HasSuffix(lines[len(lines)-2], want)) {
				t.Errorf("says %q, want %q before the last line", e.stderr, want)
			}
			if tt.entry == "" && len(lines) != 1 {
				t.Errorf("says %q, want one line", e.stderr)
			}
		})
	}
}
