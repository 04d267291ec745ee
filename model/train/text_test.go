package train

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/input/synth"
	"ringtrain/model/train/records"
	"ringtrain/ring/exitcode"
)

// longText writes 2,600 records over more than one window of blocks. Most of each line is a comment.
func longText(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "long.libsvm")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	filler := strings.Repeat("x", 8<<10)
	for i := range 2600 {
		fmt.Fprintf(f, "%d %d:1 %d:0.5 # %s\n", i%3%2, i%100, 100+i%24, filler)
	}
	return name
}

// TestTextAndCache verifies that a run over text, and a run that is stopped within an epoch and
// continues from the cache, end with the same bits, and the reverse: the order of the records is
// the same.
func TestTextAndCache(t *testing.T) {
	name := longText(t)
	spec := convert.Spec{Origin: convert.Origin{Format: "libsvm", Files: []string{name}}, Features: 124, Cache: t.TempDir()}
	if _, _, err := convert.MakeCache(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	open := func(cached bool) records.Set {
		s := spec
		if !cached {
			s.Cache = convert.CacheOff
		}
		d, err := convert.Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		if blocks := d.Facts().Blocks.Len(); blocks <= input.WindowBlocks {
			t.Fatalf("%d blocks, want more than a window", blocks)
		}
		return records.Set{Train: d, Eval: synth.Clicks(1, 10, synth.Eval), Split: "eval"}
	}
	whole := mustTrain(t, 2, loadText(t, countedText), open(false), nil)[0]
	for _, first := range []bool{false, true} {
		job := loadText(t, countedText, "checkpoint.dir="+t.TempDir())
		stopped := mustTrain(t, 2, job, open(first), func(m *member) { m.stopAfter(11, exitcode.Terminated) })[0]
		resumed := mustTrain(t, 2, job, open(!first), func(m *member) { m.opts.Resume = "must" })[0]
		if resumed.result != whole.result {
			t.Errorf("cache first %t: 11 + 15 steps end with %+v, 26 with %+v", first, resumed.result, whole.result)
		}
		if got, want := slices.Concat(stopped.losses(), resumed.losses()), whole.losses(); !slices.Equal(got, want) {
			t.Errorf("cache first %t: losses are %v, want %v", first, got, want)
		}
	}
}
