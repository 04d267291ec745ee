package train

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"ringtrain/export/checkpoint"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring/phrase"
)

// bestEvaluation records the best evaluation of a run so far. It is part of the state, so a run that
// resumes or recovers continues to count.
type bestEvaluation struct {
	step   int64   // of the best evaluation, 0 if there is none
	value  float64 // of the metric at that step
	seen   int64   // step of the last evaluation that counted
	waited int64   // number of evaluations since the best one
}

// observe counts an evaluation, once a step. It reports whether the evaluation is the best so far.
func (b *bestEvaluation) observe(s job.EarlyStopping, step int64, value float64) bool {
	if step <= b.seen {
		return false
	}
	b.seen = step
	if b.step == 0 && isFinite(value) || b.step > 0 && s.Better(value, b.value) {
		b.step, b.value, b.waited = step, value, 0
		return true
	}
	b.waited++
	return false
}

// ends reports whether the run ends after this evaluation.
func (b bestEvaluation) ends(s job.EarlyStopping) bool {
	return s.Patience > 0 && b.waited >= int64(s.Patience)
}

// stored returns b in the form of a checkpoint.
func (b bestEvaluation) stored() *checkpoint.Best {
	if b == (bestEvaluation{}) {
		return nil
	}
	return &checkpoint.Best{Step: b.step, Value: checkpoint.Sum(b.value), Seen: b.seen, Waited: b.waited}
}

// restoredBest is the inverse of stored.
func restoredBest(b *checkpoint.Best) bestEvaluation {
	if b == nil {
		return bestEvaluation{}
	}
	return bestEvaluation{b.Step, float64(b.Value), b.Seen, b.Waited}
}

// observe counts an evaluation. All ranks come to the same result. The best evaluation asks for a
// checkpoint. After the last evaluation that the run waits for, no step follows.
func (r *run) observe(m report.Metrics) {
	s := r.job.Train.EarlyStopping
	if s.Patience == 0 {
		return
	}
	value := s.Value(&m)
	if value == nil {
		panic("train: a metric that the model has not")
	}
	if r.progress.best.observe(s, m.Step, float64(*value)) {
		r.agreed.Checkpoint = true
		r.outputs.pin(m.Step)
	}
	if b := r.progress.best; b.ends(s) && r.loop.Step < r.loop.Steps {
		r.loop.Steps = r.loop.Step
		r.tellSteps() // of the last step, as at the end of every run
		r.reporter.emit(report.Decision{What: "stop", Choice: fmt.Sprintf("step %d", m.Step), Why: b.why(s)})
	}
}

// why returns the reason why the run ends.
func (b bestEvaluation) why(s job.EarlyStopping) string {
	since := phrase.Count(int(b.waited), "evaluation")
	if b.step == 0 {
		return fmt.Sprintf("%s was not finite in %s", s.Metric, since)
	}
	are := "are"
	if b.waited == 1 {
		are = "is"
	}
	why := fmt.Sprintf("%s is best at step %d, %.6g: %s since %s not better", s.Metric, b.step, b.value, since, are)
	if s.MinDelta > 0 {
		why += fmt.Sprintf(" by more than %g", s.MinDelta)
	}
	return why
}

// asResult calls f while the variables and averages of all ranks have the values of the result: those of
// the best step if the run looks for one, else those of the last. It is collective. Only rank 0 needs the
// checkpoint of the best step.
func (r *run) asResult(ctx context.Context, f func(step, epoch int64) error) error {
	last, b := r.loop.Source.Position().LastEpoch(), r.progress.best
	if r.job.Train.EarlyStopping.Patience == 0 || b.step == 0 || b.step == r.loop.Step {
		return f(r.loop.Step, last)
	}
	vars := r.variablesWith(r.averages.slots())
	own := make([][]float32, len(vars))
	for i, v := range vars {
		own[i] = slices.Clone(v.Value)
	}
	defer func() {
		for i, v := range vars {
			copy(v.Value, own[i])
		}
	}()
	epoch, err := r.takeBest(ctx, vars)
	switch {
	case err != nil:
		return err
	case epoch < 0:
		return f(r.loop.Step, last)
	}
	return f(b.step, epoch)
}

// takeBest gives vars on all ranks the values of the best step, and returns its epoch. The epoch is −1
// if rank 0 no longer has that checkpoint; vars are then as they were.
func (r *run) takeBest(ctx context.Context, vars []*model.Variable) (epoch int64, err error) {
	head, step := make([]byte, 8), r.progress.best.step
	if r.rank == 0 {
		if epoch, err = r.outputs.read(step, vars); err != nil {
			return 0, err
		}
		if epoch < 0 {
			r.reporter.notice(fmt.Sprintf("the checkpoint of step %d, the best, is gone: the last step is the result", step))
		}
		binary.LittleEndian.PutUint64(head, uint64(epoch))
	}
	if err := share(ctx, r.team.Group, 0, [][]byte{head}); err != nil {
		return 0, err
	}
	if epoch = int64(binary.LittleEndian.Uint64(head)); epoch < 0 {
		return epoch, nil
	}
	var values [][]byte
	for _, v := range vars {
		values = append(values, bytesOf(v.Value))
	}
	return epoch, share(ctx, r.team.Group, 0, values)
}

// read reads vars from the checkpoint of a step, and returns its epoch, −1 if it is gone.
func (o *outputs) read(step int64, vars []*model.Variable) (epoch int64, err error) {
	path, found := o.folder.OfStep(step)
	if !found {
		return -1, nil
	}
	kept, err := trained.Read(path)
	if err == nil {
		err = kept.Assign(vars)
	}
	return kept.Epoch, err
}
