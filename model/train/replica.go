package train

import (
	"context"
	"fmt"
	"slices"

	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/optimizer"
	"ringtrain/model/tensor"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// replica is the state that all ranks hold alike after a step. A process keeps it from one generation
// to the next. It changes only after an update, so a step in flight leaves no trace in it.
type replica struct {
	model     *model.Model
	optimizer *optimizer.Optimizer // nil before the first generation
	averages  *averages            // allocated with the optimizer; nil if the job keeps none
	hasState  bool                 // variables and slots have the values after progress.step
	fromSeed  bool                 // the state at step 0 depends on the seed alone
	progress  progress
	agreed    Agreed   // requests after progress.step that are not carried out yet
	lastRows  lastRows // of the last step of the generation before
}

// reached returns the progress of the process as a Result.
func (r *replica) reached() Result {
	if !r.hasState {
		return Result{Step: -1}
	}
	return Result{Step: r.progress.step}
}

// allocate allocates the variables, slots and averages, which belong to no group. It does so in the
// first generation, and after a generation that left the slots half received.
func (r *replica) allocate(cfg *job.Config) error {
	if r.optimizer != nil {
		return nil
	}
	vars := r.model.Variables()
	model.AllocateAll(vars)
	var err error
	r.optimizer, err = optimizer.New(cfg.Optimizer, vars, r.model.Engine)
	r.averages = newAverages(cfg.Train.Average, vars, r.model.Engine)
	return err
}

// initialize gives the variables their first values, which the seed determines.
func (r *replica) initialize(ctx context.Context, seed uint64) error {
	err := r.model.Init(ctx, seed)
	r.averages.reset()
	return err
}

// slots returns the slots of the optimizer and the averages: all tensors with the shape of a variable
// except the variables.
func (r *replica) slots() []optimizer.Slot {
	return append(r.optimizer.Slots(), r.averages.slots()...)
}

// variablesWith returns the variables and slots, by the names of their tensors.
func (r *replica) variablesWith(slots []optimizer.Slot) []*model.Variable {
	vars := slices.Clone(r.model.Variables())
	for _, s := range slots {
		vars = append(vars, &model.Variable{Name: s.Name, Shape: s.Shape, Value: s.Value, ByRows: s.ByRows})
	}
	return vars
}

// segments returns the bytes of all variables and slots, in the same order on all ranks. It includes
// tables only if the caller asks for them.
func (r *replica) segments(tables bool) [][]byte {
	var s [][]byte
	for _, v := range r.variablesWith(r.slots()) {
		if b := bytesOf(v.Value); len(b) > 0 && (tables || !v.ByRows) {
			s = append(s, b)
		}
	}
	return s
}

// tableRows returns the number of rows of the tables, 0 without tables. All tables have a row for each
// id.
func (r *replica) tableRows() int {
	for _, v := range r.model.Variables() {
		if v.ByRows {
			return v.Shape[0]
		}
	}
	return 0
}

// wantFinite returns an error that names the first variable with a NaN or an infinity. The last
// update may have produced it, and only the next loss would show it. Replicas are equal, so all ranks
// return the same error.
func (r *replica) wantFinite() error {
	for _, v := range r.model.Variables() {
		if !tensor.Finite(v.Value) {
			return &ring.Cause{
				Rank: -1, Step: r.progress.step, Operation: "checkpoint", ExitCode: exitcode.NotFinite,
				Text: fmt.Sprintf("variable %s is not finite; %s", v.Name, notFiniteAdvice),
			}
		}
	}
	return nil
}
