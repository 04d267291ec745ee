package checkpoint

import (
	"encoding/json"
	"fmt"

	"ringtrain/export/bundle"
	"ringtrain/input"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// State is the content of a checkpoint.
type State struct {
	Step    int64           // optimizer updates done; global_step
	Tensors []bundle.Tensor // variables and slot variables, by TensorFlow's names
	Run     Run

	Evaluation *Evaluation // of a checkpoint that was read; nil if it has none
}

// Run is the state of a run besides its tensors. It is zero, without Options, in a
// checkpoint of another program.
type Run struct {
	Seed      uint64            `json:"seed"`
	Position  input.Position    `json:"position"`            // in the training data
	Epoch     *EpochSum         `json:"epoch,omitempty"`     // nil in checkpoints of older versions
	Best      *Best             `json:"best,omitempty"`      // nil without early stopping or before the first evaluation
	Steps     int64             `json:"steps"`               // of the whole run, as it was asked for then
	Options   map[string]string `json:"options,omitempty"`   // a resumed run must have the same values
	Decisions map[string]string `json:"decisions,omitempty"` // choices by measurement
	Kernels   string            `json:"kernels,omitempty"`   // kernel set of the ranks; "" in checkpoints of older versions
	Finished  bool              `json:"finished"`            // the run completed all its steps
	JobFile   string            `json:"job_file,omitempty"`  // a copy of the job, in file form
	Shape     []int             `json:"shape,omitempty"`     // of the model's input; nil in checkpoints of older versions
	Columns   *graph.Columns    `json:"columns,omitempty"`   // with statistics of the training data; nil without input.columns
	Classes   []string          `json:"classes,omitempty"`   // names, in the order of the classes; nil: they have none
}

// EpochSum accumulates the epoch of the last step, so that a resumed run reports the
// correct mean.
type EpochSum struct {
	Loss     Sum   `json:"loss"` // sum over the examples
	Examples int64 `json:"examples"`
	Bad      int64 `json:"bad,omitempty"` // records that are bad and no examples

	Before int64 `json:"before,omitempty"` // examples of the epochs before
}

// Best is the state of early stopping.
type Best struct {
	Step   int64 `json:"step"`   // of the best evaluation, 0 before the first
	Value  Sum   `json:"value"`  // of the metric
	Seen   int64 `json:"seen"`   // step of the last evaluation that counts
	Waited int64 `json:"waited"` // evaluations since the best
}

func (b *Best) check() error {
	if b != nil && (b.Step < 0 || b.Seen < b.Step || b.Waited < 0) {
		return fmt.Errorf("best step %d, last evaluation at step %d, %d since the best: want 0 or more, in ascending order of steps", b.Step, b.Seen, b.Waited)
	}
	return nil
}

// The tensors that are not variables or slots.
const (
	globalStep = "global_step"
	runTensor  = "_ringtrain/run"
)

// schema is the version of the JSON. Readers ignore unknown fields, so the version grows
// only if an old reader would misread the state.
const schema = 1

type versionedRun struct {
	Schema  int   `json:"schema"`
	Attempt int64 `json:"attempt,omitempty"` // of the writer; 0 in checkpoints of older versions
	Run
}

// tensors returns the tensors of a checkpoint that attempt writes.
func (s State) tensors(attempt int64) []bundle.Tensor {
	text, err := json.Marshal(versionedRun{schema, attempt, s.Run})
	if err != nil {
		panic("checkpoint: run state cannot be encoded")
	}
	all := make([]bundle.Tensor, 0, len(s.Tensors)+2)
	all = append(all, s.Tensors...)
	return append(all, bundle.Int64(globalStep, s.Step), bundle.String(runTensor, string(text)))
}

// newState is the inverse of tensors. A checkpoint of another program may lack the run
// state, and without run state also the step.
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
	if err := v.Best.check(); err != nil {
		return versionedRun{}, exitcode.With(exitcode.BadData, fmt.Errorf("%s: %w", runTensor, err))
	}
	return v, nil
}
