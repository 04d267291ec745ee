package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/export/bundle"
	"ringtrain/model/job"
	"ringtrain/model/train/report"
)

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
	if d := decisions(mustTrain(t, 2, cfg("15"), linearData(), nil)[0]); len(d) != 0 {
		t.Errorf("a resume with the same kernel set has decided %+v", d)
	}
	runState(t, dir, "step-000015", func(text string) string {
		return strings.Replace(text, stored, `"kernels":"portable-other"`, 1)
	})
	if d := decisions(mustTrain(t, 2, cfg("15"), linearData(), nil)[0]); len(d) != 0 {
		t.Errorf("a finished run has decided %+v", d)
	}
	d := decisions(mustTrain(t, 2, cfg("20"), linearData(), nil)[0])
	if len(d) != 1 || d[0].Choice != highestSet() || !strings.Contains(d[0].Why, "portable-other") || !strings.Contains(d[0].Why, "step 16") {
		t.Errorf("a resume with another kernel set has decided %+v, want one decision that names both and step 16", d)
	}
	if d := decisions(mustTrain(t, 2, cfg("25"), linearData(), nil)[0]); len(d) != 0 {
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

func decisions(m *member) []report.Decision {
	var all []report.Decision
	for _, d := range eventsOf[report.Decision](m) {
		if d.What == "kernels" {
			all = append(all, d)
		}
	}
	return all
}
