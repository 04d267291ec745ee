package train

import (
	"slices"
	"strings"
	"testing"

	"ringtrain/model/job"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// encrypted is a link with a key.
type encrypted struct{ ring.Link }

func (encrypted) Facts() ring.LinkFacts { return ring.LinkFacts{TLS: true} }

// keyRun trains a job on three ranks, over links with keys. It runs generations until no rank ends one for new
// keys, and returns the causes by which they did so: equal on all ranks, and after the last step of each.
func keyRun(t *testing.T, cfg *job.Config, change func(m *member)) (members []*member, ends []*ring.Cause) {
	t.Helper()
	p := newProcesses(t, 3, cfg, digitsData(), change)
	for {
		p.runGeneration(func(rank func(g *ring.Group) error) {
			links := memlink.Ring(len(p.members))
			for r := range links {
				links[r] = encrypted{links[r]}
			}
			ringtest.RunOver(t, links, ring.DefaultConfig(), rank)
		})
		first := p.members[0]
		if first.err == nil || first.cause().Operation != ring.OpKeys || len(ends) > 50 {
			return p.members, ends
		}
		ends = append(ends, first.cause())
		for _, m := range p.members {
			if c := m.cause(); *c != *first.cause() || c.Step != m.result.Step || c.Rank != -1 || c.ExitCode != exitcode.Retry {
				t.Fatalf("rank %d ends the generation with %+v after step %d, rank 0 with %+v", m.rank, c, m.result.Step, first.cause())
			}
			m.team.Cause = first.cause()
		}
	}
}

func endSteps(ends []*ring.Cause) (steps []int64) {
	for _, c := range ends {
		steps = append(steps, c.Step)
	}
	return steps
}

// TestNewKeys lowers the limit of a link's key so that a run regroups five times. It verifies the steps, which
// depend on nothing but the bytes sent, and that no step is repeated. With an exact codec the run has the bits
// of an undisturbed one, and with a lossy one two runs are equal.
func TestNewKeys(t *testing.T) {
	for _, tt := range []struct {
		codec, steps string
		limit        int64 // a step sends 42 kB, or 11 kB; the first values of int8 are 31 kB
		want         []int64
	}{
		{"none", "18", 80e3, []int64{3, 6, 9, 12, 15}},
		{"int8", "27", 40e3, []int64{2, 7, 12, 17, 22}},
	} {
		t.Run("codec="+tt.codec, func(t *testing.T) {
			job := loadText(t, digitsText, "allreduce.codec="+tt.codec, "allreduce.levels=flat", "train.steps="+tt.steps, "train.check_every=1")
			run := func(limit int64) *member {
				members, ends := keyRun(t, job, func(m *member) { m.team.Keys.Renew = limit })
				if got := endSteps(ends); limit > 0 && !slices.Equal(got, tt.want) || limit == 0 && len(got) > 0 {
					t.Errorf("with the limit %d the ranks regroup after steps %d, want %d", limit, got, tt.want)
				}
				return mustEnd(t, members)[0]
			}
			one, want := run(tt.limit), run(map[string]int64{"int8": tt.limit}[tt.codec])
			if one.result != want.result || !slices.Equal(one.losses(), want.losses()) {
				t.Errorf("ended with %+v, want %+v", one.result, want.result)
			}
			for i, e := range eventsOf[report.Generation](one) {
				if len(e.Lost) > 0 || e.StepsRepeated != 0 || e.RestoredStep != tt.want[i] || !strings.Contains(e.Cause, "rank 0 has sent 0.0 GiB under one key: all links get new ones") {
					t.Errorf("generation %+v, want nobody lost and no step repeated", e)
				}
			}
		})
	}
}

// TestOldKeys lets one rank not reach the rendezvous. It verifies that all ranks train on with the old keys until
// the rank reaches it again. If it does not before the second limit, rank 0 saves and the generation ends. A stop
// comes first.
func TestOldKeys(t *testing.T) {
	for _, tt := range []struct {
		name  string
		back  int64 // step after which the rank reaches the rendezvous
		stop  int   // exit code of a stop in step 5
		ends  []int64
		says  string
		saved []int64
	}{
		{"back", 4, 0, []int64{5, 8}, "rank 0 has sent 0.0 GiB under one key: all links get new ones", []int64{11}},
		{"never", 100, 0, []int64{5}, "rank 0 has sent 0.0 GiB under one key, and rank 1 does not reach the rendezvous for new ones", []int64{5, 11}},
		{"stop", 4, 143, nil, "", []int64{5}},
	} {
		t.Run("rendezvous="+tt.name, func(t *testing.T) {
			members, ends := keyRun(t, loadText(t, digitsText, "train.steps=11", "checkpoint.dir="+t.TempDir()), func(m *member) {
				m.team.Keys = KeyLimits{80e3, 200e3}
				m.team.Reached = func() bool { return m.rank != 1 || m.trainer.progress.step >= tt.back }
				if m.rank == 2 && tt.stop != 0 {
					m.stopAfter(5, tt.stop)
				}
			})
			if got := endSteps(ends); !slices.Equal(got, tt.ends) {
				t.Fatalf("generations end after steps %d, want %d", got, tt.ends)
			}
			if len(ends) > 0 && !strings.Contains(ends[0].Text, tt.says) {
				t.Errorf("the cause is %q, want %q", ends[0].Text, tt.says)
			}
			mustEnd(t, members)
			var saved []int64
			for _, e := range eventsOf[report.Checkpointed](members[0]) {
				saved = append(saved, e.Step)
			}
			if !slices.Equal(saved, tt.saved) {
				t.Errorf("saves after steps %d, want %d", saved, tt.saved)
			}
		})
	}
}
