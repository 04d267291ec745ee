package train

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/export/bundle"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// highestSet returns the kernel set of a run with all ranks on this machine.
func highestSet() string {
	sets := model.KernelSets()
	return sets[len(sets)-1]
}

// kernelMembers returns the membership of a generation that has chosen a kernel set.
func kernelMembers(generation uint64, c ring.Choice) []ring.Membership {
	var all []ring.Membership
	for rank := range 2 {
		m := ringtest.Membership(2, rank)
		m.Generation, m.Choices = generation, []ring.Choice{c}
		all = append(all, m)
	}
	return all
}

// kernelDecisions returns a member's decisions about its kernel set.
func kernelDecisions(m *member) []report.Decision {
	return slices.DeleteFunc(eventsOf[report.Decision](m), func(d report.Decision) bool { return d.What != "kernels" })
}

// TestKernelsChosen verifies that a run uses the kernel set of its membership, in its first event
// and in its checkpoints. Rank 0 reports once which rank lacks a higher set.
func TestKernelsChosen(t *testing.T) {
	dir := t.TempDir()
	cfg := loadText(t, linearText, "checkpoint.dir="+dir)
	all := mustEnd(t, trainBy(t, 2, func(rank func(g *ring.Group) error) {
		ringtest.RunAs(t, kernelMembers(1, ring.Choice{Name: KernelsChoice, Value: "portable", Lacks: 1}), ring.DefaultConfig(), rank)
	}, cfg, linearData(), nil))
	if got := eventsOf[report.Start](all[0])[0].Kernels; got != "portable" {
		t.Errorf("the event start has %q, want portable", got)
	}
	if text := runState(t, dir, "step-000010", nil); !strings.Contains(text, `"kernels":"portable"`) {
		t.Errorf("the run state is\n%s\nwant portable in it", text)
	}
	want := []report.Decision{{What: "kernels", Choice: "portable", Why: "rank 1 on host1 has no higher one"}}
	if got := kernelDecisions(all[0]); !slices.Equal(got, want) {
		t.Errorf("rank 0 tells %+v, want %+v", got, want)
	}
	if len(kernelDecisions(all[1])) != 0 {
		t.Error("rank 1 tells it, too")
	}
}

// TestKernelsOfLaterGeneration verifies that a generation reports a kernel set that differs from
// the one before, also if rank 0 is a new process. A generation with the same set reports nothing.
func TestKernelsOfLaterGeneration(t *testing.T) {
	for _, killed := range []int{0, 1} {
		c := newProcesses(t, 2, loadText(t, linearText), linearData(), nil)
		links := func(generation uint64, choice ring.Choice, end bool) {
			c.runGeneration(func(rank func(g *ring.Group) error) {
				ringtest.RunAs(t, kernelMembers(generation, choice), ring.DefaultConfig(), func(g *ring.Group) error {
					m := c.members[g.Membership().Rank]
					m.team.Stop = nil
					if !end {
						m.stopAfter(3, exitcode.Terminated)
						m.trainer.opts.Checkpoint = m.opts.Checkpoint
					}
					return rank(g)
				})
			})
		}
		links(1, ring.Choice{Name: KernelsChoice, Value: model.KernelSets()[0], Lacks: -1}, false)
		if d := kernelDecisions(c.members[0]); len(d) != 0 {
			t.Errorf("the first generation has told %+v", d)
		}
		c.kill(killed)
		links(2, ring.Choice{Name: KernelsChoice, Value: "portable", Was: "avx512", Lacks: 1}, true)
		d := kernelDecisions(c.members[0])
		const why = "rank 1 on host1 has no higher one; generation 1 had avx512: from step 4 on bits may differ from those of a run without the change"
		if len(d) != 1 || d[0].Choice != "portable" || d[0].Why != why {
			t.Errorf("killed=%d: the second generation has told %+v, want %q", killed, d, why)
		}
		mustEnd(t, c.members)
	}
}

// TestKernelsWanted verifies that a job is refused before ranks meet if its kernel set is unknown
// or missing on this machine, that a named set is the only one the rank offers, and that a resume
// may name another set.
func TestKernelsWanted(t *testing.T) {
	if _, err := job.Load("linear", nil, []string{"train.kernels=sse"}); err == nil || exitcode.Of(err) != exitcode.Usage ||
		!strings.Contains(err.Error(), `train.kernels is "sse", want one of auto, portable, avx2, avx512`) {
		t.Errorf("train.kernels=sse: %v", err)
	}
	cfg := loadText(t, linearText, "train.kernels=portable")
	if got := cfg.KernelSets(); !slices.Equal(got, []string{"portable"}) || cfg.CheckKernels() != nil {
		t.Errorf("a job that wants portable offers %v (%v)", got, cfg.CheckKernels())
	}
	if got := loadText(t, linearText).KernelSets(); !slices.Equal(got, model.KernelSets()) {
		t.Errorf("a job without a wish offers %v, want all of %v", got, model.KernelSets())
	}
	cfg.Train.Kernels = "of another machine"
	_, err := Prepare(t.Context(), cfg, Options{Resume: "auto"})
	if want := "this machine has " + strings.Join(model.KernelSets(), ", "); err == nil || exitcode.Of(err) != exitcode.Usage || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("a set that this machine has not: %v, want %q", err, want)
	}
	dir := t.TempDir()
	mustTrain(t, 1, loadText(t, linearText, "checkpoint.dir="+dir, "train.kernels=portable"), linearData(), nil)
	mustTrain(t, 1, loadText(t, linearText, "checkpoint.dir="+dir, "train.steps=12"), linearData(), nil)
}

// TestResumeWithOtherKernels verifies that a checkpoint stores the kernel set, that a resume with the same
// set reports nothing, and that a resume with another set continues and reports the change in one
// event. A finished run computes nothing and reports nothing.
func TestResumeWithOtherKernels(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ckpt")
	cfg := func(steps string) *job.Config {
		return loadText(t, linearText, "checkpoint.dir="+dir, "train.steps="+steps)
	}
	mustTrain(t, 2, cfg("10"), linearData(), nil)
	stored := `"kernels":"` + highestSet() + `"`
	if text := runState(t, dir, "step-000010", nil); !strings.Contains(text, stored) {
		t.Fatalf("the run state is\n%s\nwant %s in it", text, stored)
	}
	if d := kernelDecisions(mustTrain(t, 2, cfg("15"), linearData(), nil)[0]); len(d) != 0 {
		t.Errorf("a resume with the same kernel set has decided %+v", d)
	}
	runState(t, dir, "step-000015", func(text string) string {
		return strings.Replace(text, stored, `"kernels":"portable-other"`, 1)
	})
	if d := kernelDecisions(mustTrain(t, 2, cfg("15"), linearData(), nil)[0]); len(d) != 0 {
		t.Errorf("a finished run has decided %+v", d)
	}
	d := kernelDecisions(mustTrain(t, 2, cfg("20"), linearData(), nil)[0])
	if len(d) != 1 || d[0].Choice != highestSet() || !strings.Contains(d[0].Why, "portable-other") || !strings.Contains(d[0].Why, "step 16") {
		t.Errorf("a resume with another kernel set has decided %+v, want one decision that names both and step 16", d)
	}
	if d := kernelDecisions(mustTrain(t, 2, cfg("25"), linearData(), nil)[0]); len(d) != 0 {
		t.Errorf("the resume after that has decided %+v", d)
	}
}

// runState returns the stored run state of a checkpoint. If change is not nil it replaces the state by
// the changed one.
func runState(t *testing.T, dir, step string, change func(text string) string) string {
	t.Helper()
	prefix := filepath.Join(dir, step, "model.ckpt")
	r, err := bundle.Open(prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tensors, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for i := range tensors {
		if tensors[i].Name == "_ringtrain/run" {
			text = tensors[i].Strings[0]
			if change != nil {
				tensors[i].Strings = []string{change(text)}
			}
		}
	}
	if change != nil {
		for _, name := range []string{prefix + ".index", prefix + ".data-00000-of-00001"} {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := bundle.Write(bundle.OS, prefix, tensors); err != nil {
			t.Fatal(err)
		}
	}
	return text
}
