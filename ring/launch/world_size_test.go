package launch

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/join"
	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/place"
)

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
		a, err := join.ServeStandalone(join.StandaloneConfig{Listen: "127.0.0.1:0", WorldSize: size})
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
