package trained

import (
	"strings"
	"testing"

	"ringtrain/model"
	"ringtrain/model/job"
)

// TestKernelSetOf verifies that a saved model computes with the kernel set that trained it, that
// train.kernels overrides it, and that the note names a set that this machine lacks.
func TestKernelSetOf(t *testing.T) {
	sets := model.KernelSets()
	highest := sets[len(sets)-1]
	for _, c := range []struct{ name, key, stored, want, note string }{
		{"set=stored", "auto", "portable", "portable", ""},
		{"set=job", highest, "portable", highest, ""},
		{"set=unknown", "auto", "", highest, ""},
		{"set=lacking", "auto", "quantum", highest, "was trained with the kernels quantum"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := job.Default()
			cfg.Train.Kernels = job.Kernels(c.key)
			set, note := kernelSetOf(&cfg, Variables{Kernels: c.stored})
			if got := set.String(); got != c.want || !strings.Contains(note, c.note) || c.note == "" && note != "" {
				t.Errorf("kernels are %s, note %q, want %s and %q", got, note, c.want, c.note)
			}
		})
	}
}
