package main

import (
	"net"
	"strings"
	"testing"
)

// small is a short job.
func small(more ...string) []string {
	return append([]string{"train", "linear", "--start-timeout", "3s", "--set", "train.steps=5", "--set", "export.if=always"}, more...)
}

// TestS15DifferentJobs verifies that two ranks with different jobs end with an error
// that names the difference (S15, R10).
func TestS15DifferentJobs(t *testing.T) {
	for rank0, rank1 := range map[string]string{
		"optimizer.learning_rate=0.01": "optimizer.learning_rate=0.02",
		"train.seed=1":                 "train.seed=2",
		"allreduce.codec=none":         "allreduce.codec=int8",
		"input.batch=1":                "input.batch=2",
	} {
		key, first, _ := strings.Cut(rank0, "=")
		_, second, _ := strings.Cut(rank1, "=")
		t.Run("key="+key, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			port := freePorts(t, 1)[0]
			ranks := []*testProcess{
				b.with(rankVariables(0, 2, port)...).start(small("--set", rank0)...),
				b.with(rankVariables(1, 2, port)...).start(small("--set", rank1)...),
			}
			for rank, p := range ranks {
				e := p.wait()
				if e.code != 64 {
					t.Errorf("rank %d ended with %d, want 64\n%s", rank, e.code, e.stderr)
				}
				for _, want := range []string{key, first, second, "rank 0", "rank 1"} {
					if !strings.Contains(e.last(), want) {
						t.Errorf("rank %d ends with %q, want %q in it", rank, e.last(), want)
					}
				}
			}
		})
	}
}

// TestFaultOfOneRank verifies that a fault of rank 1 of 3 keeps it out, and that the
// others name it.
func TestFaultOfOneRank(t *testing.T) {
	t.Parallel()
	used, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { used.Close() })
	token := strings.Repeat("ab", 32)
	contradiction := `TF_CONFIG={"cluster":{"worker":["127.0.0.1:1","127.0.0.1:2"]},"task":{"type":"worker","index":0}}`
	tests := []struct {
		name         string
		env, args    []string // arguments and environment of rank 1
		code, others int
		want         string
	}{
		{"token=wrong", []string{"RINGTRAIN_TOKEN=" + strings.Repeat("cd", 32)}, nil, 77, 138, "token"},
		{"token=missing", []string{"RINGTRAIN_TOKEN="}, nil, 77, 138, "token"},
		{"token=missing beyond loopback", []string{"RINGTRAIN_TOKEN="}, []string{"--listen", "0.0.0.0"}, 77, 138, "--insecure"},
		{"token=unreadable", []string{"RINGTRAIN_TOKEN=short"}, nil, 77, 138, "RINGTRAIN_TOKEN"},
		{"environment=half", []string{"MASTER_PORT="}, nil, 64, 138, "MASTER_PORT is missing"},
		{"environment=contradicts", []string{contradiction}, nil, 64, 138, "TF_CONFIG"},
		{"port=in use", nil, []string{"--listen", used.Addr().String()}, 138, 138, used.Addr().String()},
		{"variable=unknown", []string{"RINGTRAIN_INPUT_BACH=3"}, nil, 64, 64, "RINGTRAIN_INPUT_BATCH"},
	}
	type started struct {
		*box
		ranks []*testProcess
	}
	var all []started // parallel: the cases mostly wait
	ports := freePorts(t, len(tests))
	for i, tt := range tests {
		s := started{box: newBox(t).with("RINGTRAIN_TOKEN=" + token)}
		for rank := range 3 {
			own, args := s.with(rankVariables(rank, 3, ports[i])...), small()
			if rank == 1 {
				own, args = own.with(tt.env...), small(tt.args...)
			}
			s.ranks = append(s.ranks, own.start(args...))
		}
		all = append(all, s)
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for rank, p := range all[i].ranks {
				code, want := tt.others, "rank 1"
				if rank == 1 {
					code, want = tt.code, tt.want
				}
				e := p.wait()
				if e.code != code || !strings.Contains(e.last(), want) {
					t.Errorf("rank %d ended with %d and %q, want %d and %q\n%s", rank, e.code, e.last(), code, want, e.stderr)
				}
				if strings.Contains(e.stdout+e.stderr, token) {
					t.Errorf("rank %d prints the token", rank)
				}
			}
			if files := all[i].files(); len(files) > 0 {
				t.Errorf("a job that never began wrote %v", files)
			}
		})
	}
}

// TestPortInUse verifies that rank 0 ends with a code for a retry if the port of the
// rendezvous is in use.
func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e := newBox(t).with(rankVariables(0, 2, l.Addr().(*net.TCPAddr).Port)...).must(138, small()...)
	if !strings.Contains(e.last(), l.Addr().String()) || !strings.Contains(e.last(), "in use") {
		t.Errorf("last line %q, want %s in use", e.last(), l.Addr())
	}
}
