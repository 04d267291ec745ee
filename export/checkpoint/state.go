package checkpoint

import (
	"encoding/json"
	"fmt"

	"ringtrain/export/bundle"
	"ringtrain/input"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// State is what a checkpoint holds.
type State struct {
	Step    int64           // optimizer updates done; global_step
	Tensors []bundle.Tensor // variables and slot variables, by TensorFlow's names
	Run     Run
}

// Run is what a run needs besides tensors to go on exactly where it was. In a
// checkpoint that another program wrote it is zero, without Options.
type Run struct {
	Seed      uint64            `json:"seed"`
	Position  input.Position    `json:"position"`            // in the training data
	Epoch     *EpochSum         `json:"epoch,omitempty"`     // nil in checkpoints from before it was stored
	Best      *Best             `json:"best,omitempty"`      // nil where no run ends by it, or no evaluation was
	Steps     int64             `json:"steps"`               // of the whole run as first started
	Options   map[string]string `json:"options,omitempty"`   // those that a resumed run must have equal
	Decisions map[string]string `json:"decisions,omitempty"` // what was chosen by measurement
	Kernels   string            `json:"kernels,omitempty"`   // kernel set of the ranks; "" in checkpoints from before it was stored
	Finished  bool              `json:"finished"`            // the run did all its steps
	JobFile   string            `json:"job_file,omitempty"`  // a copy of the job, in file form
	Shape     []int             `json:"shape,omitempty"`     // of the model's input; nil in checkpoints from before it was stored
	Columns   *graph.Columns    `json:"columns,omitempty"`   // with what was learnt of the training data; nil without input.columns
}

// EpochSum is what the epoch that the last step belongs to has come to, so that its
// mean is right where a run was stopped amid it.
type EpochSum struct {
	Loss     Sum   `json:"loss"` // over its examples
	Examples int64 `json:"examples"`
	Bad      int64 `json:"bad,omitempty"` // examples whose records are bad
}

// Best is what the evaluations of a run that may end by them have come to.
type Best struct {
	Step   int64 `json:"step"`  // of the best, 0 if there is none
	Value  Sum   `json:"value"` // of the metric
	Seen   int64 `json:"seen"`  // step of the last that counts
	Waited int64 `json:"waited"`
}

// The tensors that are not variables or slots.
const (
	globalStep = "global_step"
	runTensor  = "_ringtrain/run"
)

// schema is the version of the JSON. Readers ignore fields that they do not
// know, so it grows only when an old reader would go wrong.
const schema = 1

type versionedRun struct {
	Schema  int   `json:"schema"`
	Attempt int64 `json:"attempt,omitempty"` // that wrote the checkpoint; 0: from before there were attempts
	Run
}

// tensors returns all that an attempt stores.
func (s State) tensors(attempt int64) []bundle.Tensor {
	text, err := json.Marshal(versionedRun{schema, attempt, s.Run})
	if err != nil {
		panic("checkpoint: run state cannot be encoded")
	}
	all := make([]bundle.Tensor, 0, len(s.Tensors)+2)
	all = append(all, s.Tensors...)
	return append(all, bundle.Int64(globalStep, s.Step), bundle.String(runTensor, string(text)))
}

// newState is the inverse of tensors. A checkpoint of another program may lack
// the run state, and then the step too.
func newState(tensors []bundle.Tensor) (State, error) {
	var s State
	var hasStep, hasRun bool
	var err error
	for _, t := range tensors {
		switch t.Name {
		case globalStep:
			hasStep = true
			s.Step, err = t.Int64()
		case runTensor:
			hasRun = true
			var run versionedRun
			run, err = parseRun(t)
			s.Run = run.Run
		default:
			s.Tensors = append(s.Tensors, t)
		}
		if err != nil {
			return State{}, err
		}
	}
	if hasRun && !hasStep || s.Step < 0 {
		return State{}, exitcode.With(exitcode.BadData, fmt.Errorf("%s is %d or missing, want 0 or more", globalStep, s.Step))
	}
	return s, nil
}

func parseRun(t bundle.Tensor) (versionedRun, error) {
	text, err := t.Text()
	if err != nil {
		return versionedRun{}, err
	}
	var v versionedRun
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return versionedRun{}, exitcode.With(exitcode.BadData, fmt.Errorf("%s: %w", runTensor, err))
	}
	if v.Schema != schema {
		return versionedRun{}, exitcode.With(exitcode.BadData, fmt.Errorf("%s has schema %d, this ringtrain reads %d", runTensor, v.Schema, schema))
	}
	if v.Attempt < 0 {
		return versionedRun{}, exitcode.With(exitcode.BadData, fmt.Errorf("%s: attempt is %d, want 0 or more", runTensor, v.Attempt))
	}
	if e := v.Epoch; e != nil && e.Examples < 0 {
		return versionedRun{}, exitcode.With(exitcode.BadData, fmt.Errorf("%s: epoch has %d examples, want 0 or more", runTensor, e.Examples))
	}
	if b := v.Best; b != nil && (b.Step < 0 || b.Seen < b.Step || b.Waited < 0) {
		return versionedRun{}, exitcode.With(exitcode.BadData, fmt.Errorf("%s: best step %d, last evaluation at step %d, %d since the best: want them in order and none negative",
			runTensor, b.Step, b.Seen, b.Waited))
	}
	return v, nil
}
