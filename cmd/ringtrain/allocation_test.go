package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// allocationSSH is a replacement for ssh that runs the host's command line here, in the
// environment of a login, with the host's name in THERE.
func allocationSSH(b *box) string {
	b.Helper()
	script := `#!/bin/sh
while test "$1" != --; do shift; done
exec env -i PATH="$PATH" HOME="$HOME" THERE="$2" ` + asRingtrain + `=1 "` + inBox + b.dir + `" "` + underRace + `" sh -c "$3"
`
	name := filepath.Join(b.TempDir(), "ssh")
	if err := os.WriteFile(name, []byte(script), 0o755); err != nil {
		b.Fatal(err)
	}
	return name
}

// TestRunAllocation verifies, for each scheduler, that ranks use the allocated
// slots, that the launcher reports them, and that -H and a surrounding launcher take
// precedence.
func TestRunAllocation(t *testing.T) {
	t.Parallel()
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	short, _, _ := strings.Cut(here, ".")
	slurm := []string{"SLURM_JOB_ID=4711", "SLURM_JOB_NODELIST=a[08-09],b", "SLURM_TASKS_PER_NODE=2(x2),1"}
	tests := []struct {
		name string
		env  []string
		args string
		at   []string // where each rank is, "" for this host, sorted
		says string   // text of standard error
	}{
		{"slurm", slurm, "", []string{"a08", "a08", "a09", "a09", "b"}, "hosts of the Slurm allocation 4711: a08:2, a09:2, b:1\n"},
		{"slurm, fewer ranks", slurm, "-np 3", []string{"a08", "a08", "a09"}, "hosts of the Slurm allocation 4711: a08:2"},
		{"slurm, tasks of each", []string{"SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=a,b", "SLURM_NTASKS_PER_NODE=2"}, "", []string{"a", "a", "b", "b"}, "allocation 1: a:2, b:2\n"},
		{"slurm, cores", []string{"SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=a,b", "SLURM_JOB_CPUS_PER_NODE=4,1", "SLURM_CPUS_PER_TASK=2"}, "", []string{"a", "a", "b"}, "allocation 1: a:2, b:1\n"},
		{"slurm, own name", append(slices.Clone(slurm), "SLURMD_NODENAME=b"), "", []string{"", "a08", "a08", "a09", "a09"}, "b:1\n"},
		{"slurm, shell of salloc in a step", append(slices.Clone(slurm), "SLURM_STEP_ID=4294967290"), "-np 1", []string{"a08"}, "allocation 4711"},
		{"slurm, this host alone", []string{"SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=" + short + ".cluster", "SLURM_TASKS_PER_NODE=2"}, "", []string{"", ""}, "allocation 1: " + short},
		{"pbs", []string{"PBS_JOBID=8.head", "PBS_NODEFILE=nodes"}, "", []string{"", "p", "p"}, "hosts of the PBS allocation 8.head: p:2, localhost:1\n"},
		{"lsf, file", []string{"LSB_JOBID=9", "LSB_DJOB_HOSTFILE=nodes", "LSB_MCPU_HOSTS=x 1"}, "", []string{"", "p", "p"}, "hosts of the LSF allocation 9: p:2, localhost:1\n"},
		{"lsf, list", []string{"LSB_JOBID=9", "LSB_MCPU_HOSTS=p 2 q 1"}, "", []string{"p", "p", "q"}, "hosts of the LSF allocation 9: p:2, q:1\n"},
	}
	for _, tt := range tests {
		t.Run("in="+tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.write("nodes", "p\np\nlocalhost\n\n")
			b = b.with(append(tt.env, "RINGTRAIN_SSH="+allocationSSH(b))...)
			e := b.must(0, append(append([]string{"run"}, strings.Fields(tt.args)...), "--", "sh", "-c", "echo at $THERE.")...)
			var at []string
			for rank := range len(tt.at) {
				at = append(at, strings.Join(linesOf(e.stdout, rank), ""))
			}
			slices.Sort(at)
			for i, host := range tt.at {
				if want := strings.TrimSpace("at "+host) + "."; strings.ReplaceAll(at[i], "at .", "at.") != want {
					t.Errorf("ranks are %q, want them at %q", at, tt.at)
					break
				}
			}
			if strings.Count(e.stdout, "at ") != len(tt.at) || !strings.Contains(e.stderr, tt.says) {
				t.Errorf("%d ranks, want %d; standard error is %q, want %q in it", strings.Count(e.stdout, "at "), len(tt.at), e.stderr, tt.says)
			}
		})
	}
}

// TestRunBesideAllocation verifies that ranks stay on this host in spite of an
// allocation if the user or a surrounding launcher demands it.
func TestRunBesideAllocation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		env, args string
	}{
		"-H localhost": {"", "-H localhost:2"},
		"step of srun": {"SLURM_STEP_ID=0 SLURM_PROCID=0", "-np 2"},
		"rank of run":  {"RINGTRAIN_RANK=0 RINGTRAIN_WORLD_SIZE=1", "-np 2"},
		"mpirun":       {"OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1", "-np 2"},
	} {
		t.Run("by="+name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t).with("SLURM_JOB_ID=4711", "SLURM_JOB_NODELIST=a,b", "SLURM_TASKS_PER_NODE=2(x2)", "RINGTRAIN_SSH=false").with(strings.Fields(tt.env)...)
			e := b.must(0, append(append([]string{"run"}, strings.Fields(tt.args)...), "echo", "hi")...)
			if !strings.Contains(e.stderr, "2 ranks on 1 host\n") || strings.Contains(e.stderr, "allocation") {
				t.Errorf("standard error is %q, want 2 ranks on this host", e.stderr)
			}
		})
	}
}

// TestRunAllocationBroken verifies that an invalid allocation ends with one error
// that names the variable, the file and the remedy.
func TestRunAllocationBroken(t *testing.T) {
	t.Parallel()
	slurm := func(list, tasks string) []string {
		return []string{"SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=" + list, "SLURM_TASKS_PER_NODE=" + tasks}
	}
	tests := []struct {
		name string
		env  []string
		code int
		says string
	}{
		{"no list", []string{"SLURM_JOB_ID=1"}, 64, "SLURM_JOB_ID is set, SLURM_JOB_NODELIST is missing"},
		{"no job", []string{"SLURM_JOB_NODELIST=a"}, 64, "SLURM_JOB_NODELIST is set, SLURM_JOB_ID is missing"},
		{"no tasks", []string{"SLURM_JOB_ID=1", "SLURM_JOB_NODELIST=a"}, 64, "SLURM_JOB_NODELIST is set, SLURM_TASKS_PER_NODE is missing"},
		{"list torn", slurm("a[1-", "1"), 64, `SLURM_JOB_NODELIST: "a[1-" is no list of hosts`},
		{"list endless", slurm("a[1-99999999]", "1"), 64, `SLURM_JOB_NODELIST: "a[1-99999999]" has more than`},
		{"list an option", slurm("-oProxyCommand", "1"), 64, "SLURM_JOB_NODELIST: host 1 is"},
		{"too few numbers", slurm("a,b", "3"), 64, "want one number for each of the 2 hosts of SLURM_JOB_NODELIST"},
		{"too many numbers", slurm("a,b", "3(x30000000)"), 64, "want one number for each of the 2 hosts of SLURM_JOB_NODELIST"},
		{"numbers torn", slurm("a,b", "3(x2"), 64, `SLURM_TASKS_PER_NODE is "3(x2", want numbers between commas`},
		{"number too high", slurm("a", "99999999"), 64, `SLURM_TASKS_PER_NODE is "99999999", want numbers between commas`},
		{"mixed job", append(slurm("a", "1"), "SLURM_HET_SIZE=2"), 64, "hosts of a heterogeneous job are not read"},
		{"file missing", []string{"PBS_JOBID=1", "PBS_NODEFILE=/none/such"}, 66, "PBS_NODEFILE: open /none/such: no such file"},
		{"file empty", []string{"PBS_JOBID=1", "PBS_NODEFILE=empty"}, 64, "PBS_NODEFILE: empty: no host in it"},
		{"file garbage", []string{"PBS_JOBID=1", "PBS_NODEFILE=garbage"}, 64, `PBS_NODEFILE: garbage: host 2 is "b c", want a name or an address`},
		{"no file", []string{"PBS_JOBID=1"}, 64, "PBS_JOBID is set, PBS_NODEFILE is missing"},
		{"no hosts", []string{"LSB_JOBID=1"}, 64, "LSB_JOBID is set, LSB_DJOB_HOSTFILE is missing"},
		{"odd words", []string{"LSB_JOBID=1", "LSB_MCPU_HOSTS=a 2 b"}, 64, `LSB_MCPU_HOSTS is "a 2 b", want hosts and their slots`},
	}
	for _, tt := range tests {
		t.Run("with="+tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t).with(tt.env...)
			b.write("empty", "\n")
			b.write("garbage", "a\nb c\n")
			e := b.must(tt.code, "run", "-np", "1", "--ssh", "false", "true")
			if !strings.Contains(e.stderr, tt.says) || strings.Count(e.stderr, "\n") != 1 || !strings.Contains(e.stderr, "-H localhost:N keeps the ranks here") {
				t.Errorf("standard error is %q, want one line with %q and the way out", e.stderr, tt.says)
			}
		})
	}
}
