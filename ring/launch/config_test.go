package launch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/join"
	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/rendezvous"
)

// TestParseExport verifies the forms of -x, and that a name or a pattern of no variable is an error.
func TestParseExport(t *testing.T) {
	env := []string{"A=1", "B=", "A=2=3", "AWS_REGION=r", "AWS_SECRET=s", "AWSOME=1"}
	for _, tt := range []struct{ word, want string }{
		{"A", "A=1 A=2=3"}, {"AWS_*", "AWS_REGION=r AWS_SECRET=s"}, {"AWT*", ""}, {"*", ""}, {"A*S", ""}, {"AWS_*=1", ""}, {"A**", ""}, {"B", "B="}, {"C=x y", "C=x y"}, {"C=", "C="}, {"C", ""}, {"", ""}, {"=x", ""}, {"a b=x", ""},
	} {
		all, err := ParseExport(tt.word, env)
		got := strings.Join(all, " ")
		if got != tt.want || (tt.want == "") != (exitcode.Of(err) == exitcode.Usage) {
			t.Errorf("word=%q: %q, error %v, want %q", tt.word, got, err, tt.want)
		}
	}
}

// TestOrders verifies that each rank gets the program and the variables of its place in the
// command line.
func TestOrders(t *testing.T) {
	c := Config{NP: 1, Program: []string{"a"}, Self: true, More: []App{{2, []string{"b"}}, {1, []string{"c"}}}}
	list, err := hosts.Assign(c.worldSize(), nil, hosts.BySlot)
	if err != nil || len(list) != 4 {
		t.Fatalf("assignments %v, error %v, want 4", list, err)
	}
	for rank, want := range []string{"a", "b", "b", "c"} {
		o := c.order(list[rank])
		if o.Program[0] != want || o.Self != (rank == 0) || !slices.Contains(o.Env, "RINGTRAIN_WORLD_SIZE=4") || o.Local != rank || o.Of != 4 {
			t.Errorf("rank %d: order is %+v, want program %s", rank, o, want)
		}
	}
}

// TestRemoteEnv verifies that other hosts get only RINGTRAIN_* variables and exported ones.
func TestRemoteEnv(t *testing.T) {
	c := Config{Env: []string{"HOME=/h", "RINGTRAIN_INPUT_BATCH=7", process.GuardVariable + "=1", "PATH=/p"}, Export: []string{"PATH=/q"}}
	if got, want := strings.Join(c.remoteEnv(), " "), "RINGTRAIN_INPUT_BATCH=7 PATH=/q"; got != want {
		t.Errorf("variables for other hosts are %q, want %q", got, want)
	}
}

// TestConfigFaults verifies that all faults of a Config are reported at once.
func TestConfigFaults(t *testing.T) {
	_, err := Run(t.Context(), Config{NP: 0, More: []App{{NP: -1, Program: []string{""}}}, Restarts: -1, Timeout: -1, Grace: -1, StartTimeout: -1})
	if exitcode.Of(err) != exitcode.Usage {
		t.Fatalf("error %v with code %d, want 64", err, exitcode.Of(err))
	}
	for _, want := range []string{"np is 0", "np is -1", "program is missing", "restarts are -1", "timeout is -1ns", "grace is -1ns", "start timeout is -1ns"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

// TestConfigTimes verifies that the default times are the documented ones.
func TestConfigTimes(t *testing.T) {
	c := Config{NP: 1, Program: []string{"a"}}
	if err := c.check(); err != nil || c.StartTimeout != 300*time.Second || c.Grace != 10*time.Second || c.Timeout != 0 {
		t.Errorf("start timeout %v, grace %v, timeout %v, error %v; want 300 s, 10 s and none", c.StartTimeout, c.Grace, c.Timeout, err)
	}
}

// TestRunTooManyRanks verifies that Run refuses more ranks than the hosts have slots.
func TestRunTooManyRanks(t *testing.T) {
	list, _ := hosts.Parse("a:2,[fd00::1]:1")
	if _, err := Run(t.Context(), Config{NP: 4, Program: []string{"true"}, Hosts: list}); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v, want code 64", err)
	}
}

// TestWorldSizeBound verifies that a world size beyond the bound is reported before
// anything is started, with one bound: by the launcher, by each rank, whatever says its
// place, and by a rendezvous alone.
func TestWorldSizeBound(t *testing.T) {
	launcher := func(size int) error {
		c := Config{NP: size, Program: []string{"true"}, Hosts: []hosts.Host{{Name: "nowhere", Slots: 1 << 15}}, SSH: []string{"false"}, StartTimeout: time.Second}
		_, err := Run(t.Context(), c)
		return err
	}
	served := func(size int) error {
		a, err := join.Serve("127.0.0.1:0", false, rendezvous.ServerConfig{WorldSize: size})
		if err == nil {
			a.Close()
		}
		return err
	}
	rank := func(of string) func(size int) error {
		return func(size int) error {
			variables := strings.Fields(fmt.Sprintf(of, size))
			getenv := func(name string) string {
				for _, kv := range variables {
					if value, ok := strings.CutPrefix(kv, name+"="); ok {
						return value
					}
				}
				return ""
			}
			_, err := place.Find(getenv, variables, place.Flags{Rank: -1})
			return err
		}
	}
	for name, of := range map[string]func(size int) error{
		"launcher":   launcher,
		"rendezvous": served,
		"rank=ours":  rank("RINGTRAIN_RANK=1 RINGTRAIN_WORLD_SIZE=%d RINGTRAIN_RENDEZVOUS=a:1"),
		"rank=torch": rank("RANK=1 WORLD_SIZE=%d MASTER_ADDR=a MASTER_PORT=1"),
		"rank=srun":  rank("SLURM_PROCID=1 SLURM_NTASKS=%d SLURM_JOB_ID=1 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=a SLURM_STEP_NUM_NODES=2"),
		"rank=given": rank("RINGTRAIN_WORLD_SIZE=%d RINGTRAIN_RENDEZVOUS=a:1"),
	} {
		t.Run(name, func(t *testing.T) {
			if err := of(4097); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "4096") {
				t.Errorf("4097 ranks: error %v with code %d, want code 64 and the bound", err, exitcode.Of(err))
			}
			if err := of(4096); exitcode.Of(err) == exitcode.Usage {
				t.Errorf("4096 ranks: %v", err)
			}
		})
	}
}
