package job

import (
	"fmt"

	"ringtrain/model/keys"
)

// NamedFiles is an item of input.evals: records that are evaluated besides input.eval, with an event of
// their own.
type NamedFiles struct {
	Name  string `yaml:"name" doc:"Name of the records in the event, and of the curves."`
	Files        // as in input.eval
}

// checkEvals checks the names of the items of input.evals, and that they have a format.
func (in *Input) checkEvals(f *faults) {
	for i, e := range in.Evals {
		key := EvalKey(e.Name, i)
		if e.Name == "" {
			f.add("%s.name is empty, want a name for its events", key)
		}
		if e.Format == "" && len(e.Check(key)) == 0 {
			f.add("%s.format is empty, want one of %s", key, e.Format.Takes())
		}
		*f = append(*f, keys.Check(key, &e.Files)...)
	}
}

// EvalKey returns the key of an item of input.evals, by its name, or by its number without a name.
func EvalKey(name string, i int) string {
	if name == "" {
		name = fmt.Sprint(i)
	}
	return "input.evals." + name
}
