package train

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/input"
	"ringtrain/model/kernel"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// TestNewestState verifies that a generation begins with the newest state, and that ranks that lack it
// receive it.
func TestNewestState(t *testing.T) {
	none, at := stateReport{}, func(step int64) stateReport { return stateReport{hasState: true, step: step} }
	for _, tt := range []struct {
		name  string
		all   []stateReport
		donor int
		level bool
	}{
		{"nobody", []stateReport{none, none}, -1, false},
		{"alone", []stateReport{none}, -1, false},
		{"one is new", []stateReport{at(5), none, at(5)}, 0, false},
		{"rank 0 is new", []stateReport{none, at(5), at(5)}, 1, false},
		{"one is ahead", []stateReport{at(5), none, at(6), at(5), at(6)}, 2, false},
		{"level", []stateReport{at(5), at(5)}, 0, true},
		{"before the first step", []stateReport{none, at(0)}, 1, false},
		{"left over", []stateReport{{step: 9}, at(3)}, 1, false},
		{"rows of level ranks", []stateReport{at(5), {hasState: true, rows: true, step: 5}}, 0, true},
	} {
		if donor, level := newestState(tt.all); donor != tt.donor || level != tt.level {
			t.Errorf("%s: rank %d, level %t, want %d, %t", tt.name, donor, level, tt.donor, tt.level)
		}
	}
	for _, s := range []stateReport{none, at(1 << 40), {hasState: true, rows: true, step: 3}} {
		if got := decodeStateReport(s.encode()); got != s {
			t.Errorf("%+v becomes %+v", s, got)
		}
	}
}

// TestRowsSuffice verifies that rows are sent exactly if no rank needs the tables.
func TestRowsSuffice(t *testing.T) {
	at := func(step int64) stateReport { return stateReport{true, true, step} }
	bare := stateReport{hasState: true, step: 6}
	for _, tt := range []struct {
		name  string
		all   []stateReport
		donor int
		want  bool
	}{
		{"one is behind", []stateReport{at(5), at(6), at(6)}, 1, true},
		{"the other has no rows", []stateReport{bare, at(5)}, 0, false},
		{"who is behind has none", []stateReport{{hasState: true, step: 5}, at(6)}, 1, true},
		{"a new rank", []stateReport{at(5), at(6), {}}, 1, false},
		{"two steps", []stateReport{at(4), at(6)}, 1, false},
	} {
		if got := rowsSuffice(tt.all, tt.donor); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}

// TestStateHeader verifies that a header decodes as encoded.
func TestStateHeader(t *testing.T) {
	h := stateHeader{
		progress: progress{restored: true, step: 7, steps: 90, position: input.Position{Epoch: 3, Offset: 4}, codec: 2, epoch: epochSum{-0.75, 8, 2, 0}, best: bestEvaluation{5, 0.5, 6, 1}, mix: 1<<63 + 5, saved: 6},
		agreed:   Agreed{Loss: -1.5, Examples: 100, First: true, Request: Request{Stop: 143, Checkpoint: true, Evaluate: true}},
		kind:     transferRows, rows: rowsHead{rows: 7, rate: 0.5, adjust: kernel.Adjust{L1: 1, L2: 2, Bound: 3, Factor: 4}},
	}
	for range 2 {
		if diff := cmp.Diff(h, decodeStateHeader(h.encode()), cmp.AllowUnexported(stateHeader{}, progress{}, epochSum{}, bestEvaluation{}, rowsHead{})); diff != "" {
			t.Error(diff)
		}
		h.agreed.First, h.agreed.Checkpoint, h.progress.restored = false, false, false
	}
}

// TestSegmentWriter verifies that a stream of the wrong length is an error, and that skipped bytes
// are not written.
func TestSegmentWriter(t *testing.T) {
	for _, tt := range []struct {
		stream string
		skip   int
		left   int
		err    string
	}{
		{"abcde", 0, 0, ""}, {"abcd", 0, 1, ""}, {"abcdef", 0, 0, "rank 3 sent too much state"},
		{"abcdexy", 2, 0, ""}, {"abcdex", 2, 1, ""}, {"abcdexyz", 2, 0, "rank 3 sent too much state"},
	} {
		for piece := 1; piece <= len(tt.stream); piece++ {
			a, b := make([]byte, 2), make([]byte, 3)
			w := &segmentWriter{rest: [][]byte{a, b}, skip: tt.skip, donor: 3}
			var err error
			for p := range slices.Chunk([]byte(tt.stream), piece) {
				if _, err = w.Write(p); err != nil {
					break
				}
			}
			if tt.err != "" && (err == nil || err.Error() != tt.err || exitcode.Of(err) != exitcode.Protocol) || tt.err == "" && err != nil {
				t.Errorf("%s: error %v, want %s", tt.stream, err, tt.err)
			}
			if left := length(w.rest) + w.skip; tt.err == "" && left != tt.left {
				t.Errorf("%s: %d bytes are missing, want %d", tt.stream, left, tt.left)
			}
			if got := strings.TrimRight(string(a)+string(b), "\x00"); !strings.HasPrefix(tt.stream, got) || len(got) < min(4, len(tt.stream)) {
				t.Errorf("%s: wrote %s", tt.stream, got)
			}
		}
	}
}

// TestRecoverAuto verifies that the next generation keeps the chosen codec without measuring or
// reporting it again, and that a choice in progress does not stop the job.
func TestRecoverAuto(t *testing.T) {
	for _, killed := range []int{0, 1} {
		for _, after := range []int64{2, 8} {
			t.Run(fmt.Sprintf("killed=%d/after=%d", killed, after), func(t *testing.T) {
				c := newProcesses(t, 3, loadText(t, wireText, "train.check_every=1"), digitsData(), nil)
				warm := 0
				next := c.members[2].team.Progress
				c.members[2].team.Progress = func(step int64, phase string) {
					next(step, phase)
					if phase == "warm-up" {
						warm++
					}
				}
				closeIn(c.members[killed], after, map[int64]string{2: "warm-up", 8: "train"}[after])
				generation := func() bool {
					return c.runGeneration(func(rank func(g *ring.Group) error) {
						ringtest.RunOnHostsOver(t, []int{0, 1, 2}, memlink.Mesh(3), ring.DefaultConfig(), rank)
					})
				}
				if generation() {
					t.Fatal("the generation has not ended")
				}
				c.kill(killed)
				generation()
				m := mustEnd(t, c.members)[0]
				// After 0, 1 and 2 steps, and again after 2, 3, 4 and 5. A rank may miss the
				// step before the end.
				if want := map[int64]int{2: 7, 8: 4}[after]; warm != want && (after == 8 || warm != want-1) {
					t.Errorf("%d times in warm-up, want %d", warm, want)
				}
				decisions := eventsOf[report.Decision](m)
				if len(decisions) != 1 {
					t.Fatalf("decisions are %+v, want one", decisions)
				}
				kept := strings.HasPrefix(decisions[0].Why, "measured earlier in this job")
				if want := killed == 0 && after == 8; kept != want {
					t.Errorf("decision is %+v, kept: %t, want %t", decisions[0], kept, want)
				}
				if m.trainer.progress.codec != c.members[2].trainer.progress.codec || m.trainer.progress.codec == 0 {
					t.Errorf("ranks keep codecs %d and %d", m.trainer.progress.codec, c.members[2].trainer.progress.codec)
				}
			})
		}
	}
}
