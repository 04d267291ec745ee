package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestParameterServerCluster verifies that a cluster description for parameter servers
// works unchanged.
func TestParameterServerCluster(t *testing.T) {
	b := newBox(t)
	p := freePorts(t, 5)
	cluster := fmt.Sprintf(`{"chief":["127.0.0.1:%d"],"worker":["127.0.0.1:%d","127.0.0.1:%d"],"ps":["127.0.0.1:%d"],"evaluator":["127.0.0.1:%d"]}`,
		p[0], p[1], p[2], p[3], p[4])
	tasks := []string{"chief 0", "worker 0", "worker 1", "ps 0", "evaluator 0"}
	var started []*testProcess
	for _, task := range tasks {
		typ, index, _ := strings.Cut(task, " ")
		config := fmt.Sprintf(`TF_CONFIG={"cluster":%s,"task":{"type":%q,"index":%s}}`, cluster, typ, index)
		started = append(started, b.with(config).start("train", "linear", "--set", "train.steps=5", "--set", "export.if=always"))
	}
	for i, task := range tasks {
		e := started[i].wait()
		want := "digest="
		if i > 2 {
			want = "not needed"
		}
		if e.code != 0 || !strings.Contains(e.last(), want) {
			t.Errorf("%s ended with %d and %q, want 0 and %q", task, e.code, e.last(), want)
		}
		if says := strings.Contains(e.stderr, "1 ps and 1 evaluator entries are passed over"); says != (i == 0) {
			t.Errorf("%s: notice of the entries that are passed over: %v, want it of rank 0 alone\n%s", task, says, e.stderr)
		}
	}
}

// TestS11Environments verifies that an incomplete or contradictory environment ends with
// an error, without waiting and without training as world size 1 (S7f, S11).
func TestS11Environments(t *testing.T) {
	tests := []struct {
		name string
		env  []string
		want string
	}{
		{"RANK alone", []string{"RANK=0"}, "WORLD_SIZE, MASTER_ADDR and MASTER_PORT are missing"},
		{"RINGTRAIN_RANK alone", []string{"RINGTRAIN_RANK=0"}, "RINGTRAIN_WORLD_SIZE"},
		{"rank beyond the world", rankVariables(4, 4, 29400), "RANK is 4, want 0 to 3"},
		{"TF_CONFIG no JSON", []string{"TF_CONFIG={"}, "TF_CONFIG"},
		{"TF_CONFIG no task", []string{`TF_CONFIG={"cluster":{"worker":["a:1","b:1"]}}`}, "task is missing"},
		{"TF_CONFIG outside", []string{`TF_CONFIG={"cluster":{"worker":["a:1","b:1"]},"task":{"type":"worker","index":2}}`}, "task.index is 2, but cluster.worker has 2 entries"},
		{"TF_CONFIG duplicate", []string{`TF_CONFIG={"cluster":{"worker":["a:1","a:1"]},"task":{"type":"worker","index":0}}`}, `cluster.worker[0] and cluster.worker[1] are both "a:1"`},
		{"TF_CONFIG unknown task", []string{`TF_CONFIG={"cluster":{"worker":["a:1","b:1"]},"task":{"type":"wroker","index":0}}`}, `task.type is "wroker"`},
		{"Slurm", []string{"SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_NTASKS=2"}, "SLURM_JOB_ID and SLURM_STEP_NODELIST are missing"},
		{"PMI", []string{"PMI_RANK=0", "PMI_SIZE=2"}, "PMI_FD is missing"},
		{"PMI without mpiexec", []string{"PMI_RANK=0", "PMI_SIZE=2", "PMI_FD=77"}, "PMI_FD is 77, and no socket to mpiexec is open there"},
		{"PET", []string{"PET_NNODES=2"}, "PET_NODE_RANK, PET_MASTER_ADDR and PET_MASTER_PORT are missing"},
		{"Kubernetes", []string{"JOB_COMPLETION_INDEX=0"}, "RINGTRAIN_WORLD_SIZE"},
	}
	for _, tt := range tests {
		t.Run("env="+tt.name, func(t *testing.T) {
			b := newBox(t)
			e := b.with(tt.env...).must(64, "train", "linear")
			if !strings.Contains(e.last(), tt.want) || strings.Count(e.stderr, "\n") != 1 {
				t.Errorf("says %q, want one line with %q", e.stderr, tt.want)
			}
			if files := b.files(); len(files) > 0 {
				t.Errorf("trained all the same: %v", files)
			}
		})
	}
}

// TestRunSilencesOthers verifies that `run` ignores the variables of a surrounding
// allocation.
func TestRunSilencesOthers(t *testing.T) {
	b := newBox(t).with(append(rankVariables(3, 4, 29400), `TF_CONFIG={"cluster":{"worker":["a:1"]},"task":{"type":"worker","index":0}}`)...)
	e := b.must(0, "run", "-np", "2", "--json", "linear", "--set", "train.steps=2", "--set", "export.if=always")
	if got := e.only(t, "start").num("world_size"); got != 2 {
		t.Errorf("world size %v, want 2", got)
	}
}

// TestNoOutputs verifies that a job without checkpoint and export writes no files.
func TestNoOutputs(t *testing.T) {
	b := newBox(t)
	e := b.must(0, "run", "-np", "2", "--json", "linear", "--set", "train.steps=2", "--set", "checkpoint.dir=", "--set", "export.savedmodel=")
	if files := b.files(); len(files) > 0 || strings.Contains(e.stdout, `"event":"checkpoint"`) || strings.Contains(e.stdout, `"event":"export"`) {
		t.Errorf("wrote %v\n%s", files, e.stdout)
	}
}
