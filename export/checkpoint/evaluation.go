package checkpoint

import (
	"encoding/json"
	"os"
	"path/filepath"

	"ringtrain/export/bundle"
)

// evaluationFile lies beside the bundle in a step folder, because a run evaluates after it has saved.
const evaluationFile = "evaluation.json"

// Evaluation is what the evaluation of a checkpoint found.
type Evaluation struct {
	Loss     Sum   `json:"loss"`
	Constant Sum   `json:"constant"`       // loss of a constant prediction; 0 if all labels are equal
	Best     *Best `json:"best,omitempty"` // after this evaluation; nil without early stopping

	Metrics map[string]Sum `json:"metrics,omitempty"` // by name, those that fit the model

	// Threshold is that of the best F1, 0 or more and below 1; nil if the job does not look for it.
	Threshold *float64 `json:"threshold,omitempty"`
}

// SaveEvaluation stores the evaluation of the newest checkpoint of a step, if there is one.
func (f *Folder) SaveEvaluation(step int64, e Evaluation) error {
	path, found := f.OfStep(step)
	if !found {
		return nil
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return f.replace(filepath.Join(path, evaluationFile), text, bundle.WriteFile)
}

// readEvaluation returns the evaluation of a checkpoint, nil if none can be read. path is a step folder
// or a prefix.
func readEvaluation(path string) *Evaluation {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(prefix(path)), evaluationFile))
	var e Evaluation
	if err != nil || json.Unmarshal(text, &e) != nil || e.Best.check() != nil {
		return nil
	}
	if t := e.Threshold; t != nil && !(*t >= 0 && *t < 1) {
		return nil
	}
	return &e
}

// BestStep returns the step of the best evaluation up to the newest checkpoint of a folder, and the
// checkpoint of that step, "" if it is gone. The step is 0 if the newest is the best or has none.
func BestStep(dir string) (step int64, path string) {
	last, run, found := NewestRun(dir)
	if !found {
		return 0, ""
	}
	run.takeBest(readEvaluation(last))
	if at, _, _ := parseStep(filepath.Base(last)); run.Best == nil || run.Best.Step == 0 || run.Best.Step == at {
		return 0, ""
	}
	all, _ := candidates(dir)
	for _, c := range all {
		if _, err := os.Stat(prefix(c.path) + ".index"); c.step == run.Best.Step && err == nil {
			return c.step, c.path
		}
	}
	return run.Best.Step, ""
}

// takeBest replaces what r knows of the best step by what the evaluation of its checkpoint knows, if there
// is one: it comes after r was saved.
func (r *Run) takeBest(e *Evaluation) {
	if e != nil {
		r.Best = e.Best
	}
}

// Metric returns a metric of the evaluation, which may be nil, and whether it has it.
func (e *Evaluation) Metric(name string) (value float64, known bool) {
	if e == nil {
		return 0, false
	}
	sum, known := e.Metrics[name]
	return float64(sum), known
}
