package train

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/export/checkpoint"
	"ringtrain/input"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// TestReplicaDiffersAmidTraining flips one bit of a variable on one rank after a step: in the bias,
// or in a row of the table that the next step updates. It verifies that the next comparison finds
// the rank.
func TestReplicaDiffersAmidTraining(t *testing.T) {
	for _, tt := range []struct{ world, odd, after, every, bias, row int }{
		{3, 0, 1, 4, 4, 4}, {3, 1, 4, 4, 4, 8}, {3, 2, 5, 4, 8, 8}, {5, 4, 3, 1, 3, 4},
		{2, 0, 3, 4, 4, 4}, {2, 1, 3, 4, 4, 4},
		{3, 1, 8, 7, 12, 12}, // after the last comparison: found at the end
		{3, 1, 2, 0, 12, 12}, // none but at the end
	} {
		for variable, found := range []int{tt.row, tt.bias} {
			t.Run(fmt.Sprintf("world=%d/odd=%d/after=%d/every=%d/variable=%d", tt.world, tt.odd, tt.after, tt.every, variable), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "ckpt")
				job := loadText(t, clicksText, "train.steps=12", "checkpoint.dir="+dir, fmt.Sprintf("train.check_every=%d", tt.every))
				at := []int{frequent(t, clicksData().Train), 0}[variable]
				members := trainOn(t, tt.world, job, clicksData(), func(m *member) {
					m.team.Progress = func(step int64, phase string) {
						if phase == "train" && step == int64(tt.after) && m.rank == tt.odd {
							v := m.trainer.model.Variables()[variable].Value
							v[at] = math.Float32frombits(math.Float32bits(v[at]) ^ 1<<22)
						}
					}
				})
				odd := tt.odd
				if tt.world == 2 {
					odd = -1 // no majority: the error names both
				}
				wantDiverged(t, members, odd, int64(found))
				if _, _, found, err := checkpoint.Newest(dir); found || err != nil {
					t.Errorf("there is a checkpoint, or an error: %v", err)
				}
			})
		}
	}
}

// frequent returns the id that occurs in most records of d.
func frequent(t *testing.T, d input.Dataset) int {
	t.Helper()
	var b input.Batch
	if err := input.ReadRecords(&b, d, 0, d.Facts().Records, false); err != nil {
		t.Fatal(err)
	}
	counts, most := make([]int, d.Facts().Features), 0
	for _, slot := range b.X.Bags.Slot {
		id := int(b.X.Bags.IDs[slot])
		if counts[id]++; counts[id] > counts[most] {
			most = id
		}
	}
	return most
}

// TestDiverged verifies that the error names the ranks that differ and no others.
func TestDiverged(t *testing.T) {
	for _, tt := range []struct {
		digests string // a letter a rank
		rank    int
		text    string
	}{
		{"aab", 2, "b on rank 2, want a as on 2 of 3 ranks"},
		{"baaa", 0, "b on rank 0, want a as on 3 of 4 ranks"},
		{"abaca", -1, "b on rank 1, c on rank 3, want a as on 3 of 5 ranks"},
		{"ab", -1, "a on rank 0, b on rank 1; no majority tells which is right"},
		{"aabb", -1, "a on rank 0, a on rank 1, b on rank 2, b on rank 3; no majority tells which is right"},
		{"abcdefg", -1, "a on rank 0, b on rank 1, c on rank 2, d on rank 3, another on 3 more; no majority tells which is right"},
	} {
		err := diverged(ringtest.Membership(len(tt.digests), 0), strings.Split(tt.digests, ""), 7)
		c := ring.CauseOf(err, 9, "", -1)
		if c.Rank != tt.rank || c.Step != 7 || c.ExitCode != exitcode.Diverged || c.Text != "replicas diverged: digest of the variables is "+tt.text {
			t.Errorf("digests=%s: %+v, want rank %d: %s", tt.digests, c, tt.rank, tt.text)
		}
		if want := map[bool]string{true: fmt.Sprintf("host%d", tt.rank), false: ""}[tt.rank >= 0]; c.Host != want {
			t.Errorf("digests=%s: host is %q, want %q", tt.digests, c.Host, want)
		}
	}
}

// TestCheckEveryMayChange verifies that a resumed run may compare replicas more often, and that all
// ranks compare after the same steps.
func TestCheckEveryMayChange(t *testing.T) {
	job := loadText(t, clicksText, "checkpoint.dir="+t.TempDir(), "train.check_every=2")
	first := mustTrain(t, 2, job, clicksData(), func(m *member) { m.stopAfter(5, 143) })[0]
	job.Train.CheckEvery = 1
	if got := mustTrain(t, 2, job, clicksData(), nil)[0].result; got.Step != 10 || first.result.Step != 5 {
		t.Errorf("ended with %+v after %+v", got, first.result)
	}
	if agree := strings.Join(first.trainer.Agree(), "\n"); !strings.Contains(agree, "train.check_every=2") {
		t.Errorf("ranks agree on\n%s\nwant train.check_every among it", agree)
	}
}
