package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRunHosts verifies host lists like mpirun's, with hosts that are all this one.
func TestRunHosts(t *testing.T) {
	tests := []struct {
		name, args string
		code       int
		out        []string // sorted lines of standard output
		says       string   // text of standard error
	}{
		{"all slots", "run -H localhost:2 echo hi", 0, []string{"[0] hi", "[1] hi"}, "2 ranks on 1 host\n"},
		{"less than all", "run -np 1 --host localhost:2 echo hi", 0, []string{"[0] hi"}, "1 rank on 1 host\n"},
		{"hosts by two flags", "run -H localhost:2 -H 127.0.0.1 echo hi", 0, []string{"[0] hi", "[1] hi", "[2] hi"}, "3 ranks on 1 host\n"},
		{"hosts a range", "run -H node[1-2]:2 echo hi", 64, nil, `host is "node[1-2]:2"`},
		{"folder missing", "run -np 2 --wdir /none/such echo hi", 64, nil, "--wdir is /none/such, want a folder that is there"},
		{"folder a file", "run --np 1 --wdir hosts ./echo hi", 64, nil, "/hosts, want a folder that is there"},
		{"hostfile", "run --hostfile hosts echo hi", 0, []string{"[0] hi", "[1] hi", "[2] hi"}, "3 ranks on 1 host\n"},
		{"no bound without hosts", "run -np 3 echo hi", 0, []string{"[0] hi", "[1] hi", "[2] hi"}, "3 ranks on 1 host\n"},
		{"too few slots", "run -np 3 -H localhost:2 echo hi", 64, nil, "3 ranks are asked for, more than 2 slots on 1 host (localhost:2)"},
		{"hosts twice", "run -H localhost --hostfile hosts echo hi", 64, nil, "hosts are given by -H and by --hostfile"},
		{"hostfile missing", "run --hostfile none echo hi", 66, nil, "none"},
		{"hostfile wrong", "run --hostfile wrong echo hi", 64, nil, `wrong:2: "slot=4" after host b`},
		{"host an option", "run -H -oProxyCommand=x echo hi", 64, nil, "-oProxyCommand=x"},
		{"mapping unknown", "run -H localhost:2 --map-by core echo hi", 64, nil, `--map-by is "core", want slot or node`},
		{"binding unknown", "run -np 2 --bind-to socket echo hi", 64, nil, `--bind-to is "socket", want core or none`},
		{"fan-out negative", "run -H localhost:2 --fanout -1 echo hi", 64, nil, "--fanout is -1, want 0 or more"},
		{"ssh empty", "run -np 2 --ssh= echo hi", 64, nil, "ssh command is empty"},
		{"tags", "run -np 2 --tag-output echo hi", 0, []string{"[0,stdout] hi", "[1,stdout] hi"}, ""},
		{"programs", "run -np 1 echo a : -np 2 echo b : -n 1 -- echo c", 0, []string{"[0] a", "[1] b", "[2] b", "[3] c"}, "4 ranks"},
		{"programs without a number", "run -np 1 echo a : echo b", 0, []string{"[0] a : echo b"}, ""},
		{"programs, one missing", "run -np 1 echo a : -np 2", 64, nil, "nothing to run after : -np"},
		{"programs, number wrong", "run -np 1 echo a : -np x echo b", 64, nil, `-np is "x", want a number`},
		{"time", "run -np 2 --timeout 100ms --grace 1s sleep 1000", 110, nil, "not done after 100ms (--timeout)"},
	}
	for _, tt := range tests {
		t.Run("run="+tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.write("hosts", "# all here\nlocalhost slots=2\n127.0.0.1:1\n")
			b.write("wrong", "a slots=1\nb slot=4\n")
			e := b.must(tt.code, strings.Fields(tt.args)...)
			if got := strings.Join(slices.Sorted(strings.Lines(e.stdout)), ""); got != joined(tt.out) {
				t.Errorf("standard output is %q, want %q", got, joined(tt.out))
			}
			if !strings.Contains(e.stderr, tt.says) {
				t.Errorf("standard error is %q, want %q in it", e.stderr, tt.says)
			}
		})
	}
}

// TestRunExports verifies the exported variables and the folder of the ranks.
func TestRunExports(t *testing.T) {
	b := newBox(t).with("GIVEN=here")
	b.write("sub/file", "")
	e := b.must(0, "run", "-np", "2", "-x", "GIVEN", "-x", "MADE=a b", "--wdir", "sub", "--bind-to", "none", "sh", "-c", "echo $GIVEN $MADE $(ls)")
	for rank := range 2 {
		if got, want := linesOf(e.stdout, rank), []string{"here a b file"}; !slices.Equal(got, want) {
			t.Errorf("rank %d says %q, want %q", rank, got, want)
		}
	}
	if e := b.must(64, "run", "-np", "2", "-x", "NOT_GIVEN", "true"); !strings.Contains(e.stderr, "NOT_GIVEN") {
		t.Errorf("a variable that is not set: %q", e.stderr)
	}
}

// TestRunOutputDir verifies the files with the ranks' output.
func TestRunOutputDir(t *testing.T) {
	b := newBox(t)
	e := b.must(0, "run", "-np", "2", "--output-dir", "log/job", "sh", "-c", `printf "out $RANK"; echo err >&2`)
	if e.stdout != "[0] out 0\n[1] out 1\n" && e.stdout != "[1] out 1\n[0] out 0\n" {
		t.Errorf("standard output is %q", e.stdout)
	}
	want := map[string]string{"0/stdout": "out 0", "0/stderr": "err\n", "1/stdout": "out 1", "1/stderr": "err\n"}
	for name, text := range want {
		if got := b.read("log", "job", "rank."+filepath.FromSlash(name)); got != text {
			t.Errorf("rank.%s has %q, want %q", name, got, text)
		}
	}
	if n := len(b.files()); n != len(want) {
		t.Errorf("%d files, want %d: %v", n, len(want), b.files())
	}
	b.write("plain", "")
	b.must(73, "run", "-np", "1", "--output-dir", "plain", "true")
}

// TestRunOutputDirOfJob verifies that the files of a job have what people read: sentences on standard
// output, or with --json the lines of JSON there and the sentences on standard error.
func TestRunOutputDirOfJob(t *testing.T) {
	for _, format := range []string{"--progress=plain", "--json"} {
		b := newBox(t)
		e := b.must(0, "run", "-np", "2", "--output-dir", "log", format, "linear", "--set", "train.steps=20", "--set", "checkpoint.dir=", "--set", "export.savedmodel=")
		out, sentences := b.read("log", "rank.0", "stdout"), b.read("log", "rank.0", "stderr")
		if format != "--json" {
			e.stdout, sentences = strings.ReplaceAll(e.stdout, "[0] ", ""), out
		}
		if out == "" || out != e.stdout {
			t.Errorf("%s: the file of standard output has %q, want %q", format, out, e.stdout)
		}
		if !strings.Contains(sentences, "linear · ") || !strings.Contains(sentences, "\nstep 20 of 20") {
			t.Errorf("%s: people find %q in the files, want the start and a step", format, sentences)
		}
	}
}

// TestRunSSHVariable verifies that ranks start although RINGTRAIN_SSH is set.
func TestRunSSHVariable(t *testing.T) {
	newBox(t).with("RINGTRAIN_SSH=ssh -v").must(0, "run", "-np", "2", "linear", "--set", "train.steps=2", "--set", "export.if=always")
}

// TestAgentAlone verifies that the hidden command is not listed and ends without a
// launcher.
func TestAgentAlone(t *testing.T) {
	b := newBox(t)
	if e := b.must(0, "--help"); strings.Contains(e.stdout, "agent") {
		t.Errorf("help tells of the agent:\n%s", e.stdout)
	}
	if e := b.must(76, "agent"); !strings.HasPrefix(e.stdout, "\nringtrain-agent\n") || e.stderr != "" {
		t.Errorf("says %q and %q", e.stdout, e.stderr)
	}
}
