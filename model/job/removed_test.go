package job

import (
	"slices"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// goneValues has a value of each pattern in the table of what is gone.
var goneValues = map[string]string{"": "2", "grpc": "grpc", "measured": "measured", "fold": "fold", "tree": "tree", "*:*": "<=2KiB:fold,ring", "int8u": "int8u", "s2": "s2", "huff0": "huff0", "none": "none"}

// TestRemoved verifies that what is gone is refused from each source, with what to do instead and beside
// other faults, and that a checkpoint that has it is read.
func TestRemoved(t *testing.T) {
	for _, r := range removed {
		value, ok := goneValues[r.value]
		if !ok {
			t.Fatalf("%s: no value for the pattern %q", r.key, r.value)
		}
		group, name, _ := strings.Cut(r.key, ".")
		file := group + ":\n  " + name + ": \"" + value + "\"\n  bucket: 8192\n"
		for source, load := range map[string]func() error{
			"file": func() error { _, err := load(t, small+file+"train: {steps: x}\n", nil, nil); return err },
			"environment": func() error {
				_, err := load(t, small, []string{variable(r.key) + "=" + value, "RINGTRAIN_TRAIN_STEPS=x"}, nil)
				return err
			},
			"set": func() error {
				_, err := load(t, small, nil, []string{r.key + "=" + value, "train.steps=x"})
				return err
			},
		} {
			err := load()
			if exitcode.Of(err) != exitcode.Usage || !containsAll(err.Error(), r.key+" is ", r.instead, "train.steps is x, want a whole number") {
				t.Errorf("source=%s/key=%s/value=%s: %v, want %q and the other fault", source, r.key, value, err, r.instead)
			}
		}
		if job, err := Parse("stored", []byte(file)); err != nil || job.AllReduce.Bucket != 8192 {
			t.Errorf("key=%s/value=%s of a checkpoint: %v, want the rest of the file", r.key, value, err)
		}
		if lines := RemovedFrom(map[string]string{r.key: value, "name": "x"}); len(lines) != 1 || !containsAll(lines[0], r.key, value) {
			t.Errorf("key=%s/value=%s of a checkpoint: lines %q, want one", r.key, value, lines)
		}
		if lines := RemovedFrom(map[string]string{r.key: Auto}); len(lines) != 0 {
			t.Errorf("key=%s/value=auto of a checkpoint: lines %q, want none", r.key, lines)
		}
	}
}

func containsAll(s string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(s, p) })
}
