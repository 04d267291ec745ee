package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The names in a folder of checkpoints.
const (
	stateFile      = "checkpoint"
	prefixName     = "model.ckpt"
	stepPrefix     = "step-"
	replacedSuffix = ".replaced"
	temporary      = ".tmp-"
)

// stepName returns the name of a step's folder.
func stepName(step int64) string { return fmt.Sprintf("%s%06d", stepPrefix, step) }

// parseStep is the inverse of stepName.
func parseStep(name string) (step int64, ok bool) {
	digits, ok := strings.CutPrefix(name, stepPrefix)
	if !ok {
		return 0, false
	}
	step, err := strconv.ParseInt(digits, 10, 64)
	return step, err == nil && step >= 0 && stepName(step) == name
}

// isLeftover tells whether a name is what an interrupted Save leaves.
func isLeftover(name string) bool {
	before, _, ok := strings.Cut(name, temporary)
	_, isStep := parseStep(strings.TrimSuffix(before, replacedSuffix))
	return ok && (isStep || before == stateFile)
}

// folder is what lies in a folder of checkpoints.
type folder struct {
	steps     map[string]string // name of a step folder → where it is now
	replaced  []string          // steps whose old folder is still there
	leftovers []string
}

// list looks into a folder; one that does not exist is empty. A step folder that
// was being replaced when the machine stopped counts under its own name.
func list(dir string) (folder, error) {
	f := folder{steps: map[string]string{}}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	for _, e := range entries {
		name := e.Name()
		if isLeftover(name) {
			f.leftovers = append(f.leftovers, name)
		} else if _, ok := parseStep(name); ok && e.IsDir() {
			f.steps[name] = filepath.Join(dir, name)
		} else if step, ok := strings.CutSuffix(name, replacedSuffix); ok && e.IsDir() {
			if _, ok := parseStep(step); ok {
				f.replaced = append(f.replaced, step)
			}
		}
	}
	for _, name := range f.replaced {
		if f.steps[name] == "" {
			f.steps[name] = filepath.Join(dir, name+replacedSuffix)
		}
	}
	return f, nil
}
