package main

import (
	"testing"

	"ringtrain/model/job"
)

// TestHistoryFile verifies that a history is told where rank 0 writes one: in checkpoint.dir, from the folder that rank
// 0 runs in, and not without log.history or checkpoint.dir.
func TestHistoryFile(t *testing.T) {
	kept, off := job.Log{History: true}, job.Log{}
	for _, tt := range []struct {
		dir  string
		cfg  *job.Config
		want string
	}{
		{"/home/a", &job.Config{Checkpoint: job.Checkpoint{Dir: "ckpt/mnist"}, Log: kept}, "/home/a/ckpt/mnist/history.jsonl"},
		{"", &job.Config{Checkpoint: job.Checkpoint{Dir: "ckpt/mnist"}, Log: kept}, "ckpt/mnist/history.jsonl"},
		{"/home/a", &job.Config{Checkpoint: job.Checkpoint{Dir: "/data"}, Log: kept}, "/data/history.jsonl"},
		{"/home/a", &job.Config{Checkpoint: job.Checkpoint{Dir: "ckpt/mnist"}, Log: off}, ""},
		{"/home/a", &job.Config{Log: kept}, ""},
		{"/home/a", nil, ""},
	} {
		if got := historyFile(tt.dir, tt.cfg); got != tt.want {
			t.Errorf("in %q the history of %+v is %q, want %q", tt.dir, tt.cfg, got, tt.want)
		}
	}
}
