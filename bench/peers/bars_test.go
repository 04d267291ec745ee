package peers

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// figuresOf adds one sample for each line "contender ranks bytes variant seconds".
func figuresOf(t *testing.T, lines ...string) *figures {
	t.Helper()
	f := newFigures()
	for _, line := range lines {
		var who string
		var ranks int
		var s Sample
		if _, err := fmt.Sscan(line, &who, &ranks, &s.Bytes, &s.Way, &s.Time); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		f.add(strings.ReplaceAll(who, "_", " "), ranks, s)
	}
	return f
}

// TestFigures verifies that the median of the best variant counts.
func TestFigures(t *testing.T) {
	f := figuresOf(t,
		"gloo 2 8 ring 3", "gloo 2 8 ring 100", "gloo 2 8 ring 1",
		"gloo 2 8 chunked 2", "gloo 2 8 chunked 2.5",
		"ringtrain 4 16 none 1")
	if got, ok := f.time("gloo", 2, 8); !ok || got != 2.25 {
		t.Errorf("time is %v, want 2.25: the median of the chunked ring", got)
	}
	if _, ok := f.time("gloo", 4, 8); ok {
		t.Error("there is a time of what was not measured")
	}
	if !slices.Equal(f.ranks(), []int{2, 4}) || !slices.Equal(f.sizes(), []int{8, 16}) {
		t.Errorf("ranks %v, sizes %v", f.ranks(), f.sizes())
	}
}

// TestBar verifies that a bar counts the cells of its range, compares with the best
// contender, and is not met below its ratios.
func TestBar(t *testing.T) {
	f := figuresOf(t,
		"ringtrain 2 8 none 1", "gloo 2 8 ring 4", "openmpi_tcp 2 8 own 2",
		"ringtrain 2 16 none 1", "gloo 2 16 ring 8",
		"ringtrain 4 8 none 2", "gloo 4 8 ring 1",
		"ringtrain 2 1024 none 1", "gloo 2 1024 ring 0.001")
	both := bar{text: "x", ours: ours, theirs: []string{gloo, mpiTCP}, to: 16, ranks: []int{2}, mean: 4, least: 2}
	v := both.evaluate(f)
	if v.Cells != 2 || !(math.Abs(v.Mean-4) <= 1e-9) || v.Least != 2 || v.Ranks != 2 || v.Bytes != 8 || !v.Met {
		t.Errorf("verdict is %+v, want 2 cells of ratios 2 and 8, met", v)
	}
	all := both
	all.ranks = nil
	if v := all.evaluate(f); v.Cells != 3 || v.Least != 0.5 || v.Ranks != 4 || v.Met {
		t.Errorf("verdict is %+v, want 3 cells, the least 0.5 at 4 ranks, not met", v)
	}
	if v := (bar{ours: ours, theirs: []string{pytorch}, to: 16, least: 1}).evaluate(f); v.Cells != 0 || v.Met || !strings.Contains(v.String(), "not measured") {
		t.Errorf("verdict without a peer is %+v, want none", v)
	}
}

// TestBarWithoutSome verifies that a cell that only ringtrain lacks makes a bar not met,
// and that missing contenders are listed.
func TestBarWithoutSome(t *testing.T) {
	both := bar{text: "x", ours: ours, theirs: []string{gloo, mpiTCP}, to: 16, least: 2}
	v := both.evaluate(figuresOf(t, "ringtrain 2 8 none 1", "gloo 2 8 ring 4", "ringtrain 2 16 none 1", "gloo 2 16 ring 4", "openmpi_tcp 2 16 own 3"))
	if !v.Met || v.Cells != 2 || !strings.HasSuffix(v.String(), "2 cells; without openmpi tcp in 1") {
		t.Errorf("verdict is %+v: %v; want it met without Open MPI in one cell", v, v)
	}
	f := figuresOf(t, "ringtrain 2 8 none 1", "gloo 2 8 ring 4", "gloo 2 16 ring 4")
	if v := both.evaluate(f); v.Met || v.Cells != 1 || !slices.Equal(v.Missing, []Point{{2, 16}}) || !strings.Contains(v.String(), "NOT MET") {
		t.Errorf("verdict is %+v: %v; want it not met for 16 bytes", v, v)
	}
	f.fail(Failure{Who: ours, Ranks: 2}, []int{8})
	f.fail(Failure{Who: ours, Ranks: 4}, []int{8}) // no contender has this cell
	if v := both.evaluate(f); v.Cells != 0 || !strings.HasSuffix(v.String(), "NOT MET; missing: 2 ranks, 8; 2 ranks, 16; 4 ranks, 8") {
		t.Errorf("verdict is %+v: %v; want three cells missing", v, v)
	}
	limit := bar{ours: ours, theirs: []string{wireLimit}, to: 16, least: 0.9}
	g := figuresOf(t, "ringtrain 2 8 none 1")
	g.fail(Failure{Who: wireLimit, Ranks: 2}, []int{8})
	if v := limit.evaluate(g); v.Met || len(v.Missing) != 1 {
		t.Errorf("verdict is %+v, want it not met: the limit, which is ringtrain's own, failed", v)
	}
}

// TestBarsOfRanks verifies that the bars of 64 ranks and of few ranks do not apply to
// each other's cells.
func TestBarsOfRanks(t *testing.T) {
	for _, b := range append(oneHostBars(), manyRanksBars()...) {
		if strings.Contains(b.text, "64 ranks") == b.appliesTo(2) || b.appliesTo(2) == b.appliesTo(64) {
			t.Errorf("%q is for 2 ranks: %v, for 64: %v", b.text, b.appliesTo(2), b.appliesTo(64))
		}
	}
}

// TestParts verifies that the parts of the one-host tables together are the whole, and
// that each part has only the contenders that it needs.
func TestParts(t *testing.T) {
	whole, memory, flat := oneHost("x", false), oneHost("x", false).part(PartOneHost), oneHost("x", false).part(PartFlat)
	if n := len(memory.bars) + len(flat.bars); n != len(whole.bars) || len(flat.bars) != 2 {
		t.Errorf("the parts have %d bars, %d of them flat, want all %d, 2 of them flat", n, len(flat.bars), len(whole.bars))
	}
	if len(memory.steps) != len(whole.steps)-len(fewRanks()) || len(flat.steps) != len(whole.steps)-1 {
		t.Errorf("the parts have %d and %d steps, want of %d all but PyTorch's, and all but that of 64 ranks", len(memory.steps), len(flat.steps), len(whole.steps))
	}
	f := figuresOf(t, "ringtrain_flat 2 8 none 1e-6", "gloo 2 8 ring 3e-6")
	r, _, printed, _ := recorder()
	r.report(flat, f, 1)
	if table := strings.Join(*printed, "\n"); !strings.Contains(table, "1.0         3.0   3.00") {
		t.Errorf("ratios are not those to the flat ring:\n%s", table)
	}
}

// TestBarOfBytes verifies a bar of bytes between hosts.
func TestBarOfBytes(t *testing.T) {
	f := newFigures()
	f.add(ours, 4, Sample{Bytes: 8, Time: 3, Between: 200})
	f.add(ringtrainFlat, 4, Sample{Bytes: 8, Time: 3, Between: 300})
	b := bar{ours: ours, theirs: []string{ringtrainFlat}, to: 8, between: true, least: 1.5}
	if v := b.evaluate(f); v.Least != 1.5 || !v.Met {
		t.Errorf("verdict is %+v, want a ratio of 1.5, met", v)
	}
}

// TestLevelsBars verifies the bar of bytes on two levels: two hosts of two ranks send
// 2/3 of a flat ring's bytes, of four ranks 4/7.
func TestLevelsBars(t *testing.T) {
	for perHost, share := range map[int]float64{2: 2.0 / 3, 4: 4.0 / 7} {
		b := levelsBars(2, perHost)[0]
		if !b.between || !(math.Abs(b.least-0.99/share) <= 1e-9) {
			t.Errorf("ranks a host=%d: bar is %v, want 0.99 / %v", perHost, b.least, share)
		}
	}
}

// TestBarsSpeakOfContenders verifies that each bar names contenders and sizes of its
// suite.
func TestBarsSpeakOfContenders(t *testing.T) {
	for _, s := range []suite{
		oneHost("ringtrain", false),
		oneHost("ringtrain", false).part(PartOneHost),
		oneHost("ringtrain", true).part(PartFlat),
		overHosts("ringtrain", "1gbit", Topology{Hosts: fourHosts(), PerHost: 1}, false),
		overHosts("ringtrain", "1gbit", Topology{Hosts: fourHosts(), PerHost: 2}, false),
		overHosts("ringtrain", "100mbit", Topology{Hosts: fourHosts(), PerHost: 1}, true),
	} {
		f := newFigures()
		for _, st := range s.steps {
			for _, who := range st.contenders {
				for _, n := range st.work.Sizes {
					f.add(who.Name, st.work.Ranks, Sample{Bytes: n, Time: 1, Between: 1})
				}
			}
		}
		for _, b := range s.bars {
			if v := b.evaluate(f); v.Cells == 0 {
				t.Errorf("%s: %q compares nothing", s.title, b.text)
			}
			for _, who := range append(b.theirs, b.ours) {
				if !f.has(who) {
					t.Errorf("%s: %q speaks of %s, who does not take part", s.title, b.text, who)
				}
			}
		}
	}
}
