package train

import (
	"fmt"
	"slices"
	"strings"

	"ringtrain/export/checkpoint"
	"ringtrain/model/graph"
)

// EarlyStopping says when a run ends before its steps are done: when so many evaluations
// in a row have not been better than the best by more than min_delta. The checkpoint of
// the best is kept, whatever checkpoint.keep says, and exported.
type EarlyStopping struct {
	Metric   string  `yaml:"metric"`    // of the evaluations that eval.every brings, and the last one
	Patience int     `yaml:"patience"`  // evaluations; 0: the run does all its steps
	MinDelta float64 `yaml:"min_delta"` // that a better one is better by
}

// A stopper is a metric that a run can end by.
type stopper struct {
	name  string
	falls bool             // smaller is better
	heads []graph.HeadKind // of the models that have it
	of    func(m *Metrics) *Number
}

func stoppers() []stopper {
	all := []graph.HeadKind{graph.HeadRegression, graph.HeadClasses, graph.HeadBinary}
	return []stopper{
		{"loss", true, all, func(m *Metrics) *Number { return &m.Loss }},
		{"accuracy", false, all[1:], func(m *Metrics) *Number { return m.Accuracy }},
		{"auc", false, all[2:], func(m *Metrics) *Number { return m.AUC }},
		{"rmse", true, all[:1], func(m *Metrics) *Number { return m.RMSE }},
		{"log_loss", true, all[1:], func(m *Metrics) *Number { return m.LogLoss }},
		{"normalized_entropy", true, all[2:], func(m *Metrics) *Number { return m.NormalizedEntropy }},
	}
}

// stopperNames are those of the metrics of models with a head, of all for 0.
func stopperNames(head graph.HeadKind) []string {
	var names []string
	for _, s := range stoppers() {
		if head == 0 || slices.Contains(s.heads, head) {
			names = append(names, s.name)
		}
	}
	return names
}

// stopper returns the metric that the job names.
func (s EarlyStopping) stopper() stopper {
	all := stoppers()
	i := slices.IndexFunc(all, func(m stopper) bool { return m.name == s.Metric })
	if i < 0 {
		panic("train: early_stopping.metric was not checked")
	}
	return all[i]
}

func (s EarlyStopping) check(f *faults, j *Job) {
	names := stopperNames(0)
	known := slices.Contains(names, s.Metric)
	if known && s.Patience > 0 && j.Model.Check(j.Loss) == nil {
		names = stopperNames(j.Model.Head(j.Loss).Kind)
	}
	if !slices.Contains(names, s.Metric) {
		f.add("train.early_stopping.metric is %q, want one of %s", s.Metric, strings.Join(names, ", "))
	}
	if s.Patience < 0 {
		f.add("train.early_stopping.patience is %d, want 0 or more", s.Patience)
	}
	f.wantFinite("train.early_stopping.min_delta", s.MinDelta)
	if s.Patience <= 0 {
		return
	}
	if j.Eval.Every == (Every{}) {
		f.add("train.early_stopping.patience is %d, which needs eval.every", s.Patience)
	}
	if j.Checkpoint.Dir == "" {
		f.add("train.early_stopping.patience is %d, which needs checkpoint.dir: the best checkpoint is kept there", s.Patience)
	}
}

// better reports whether a metric's value is better than the best so far. One that is
// not finite never is.
func (s EarlyStopping) better(value, best float64) bool {
	if !isFinite(value) {
		return false
	}
	if s.stopper().falls {
		return value < best-s.MinDelta
	}
	return value > best+s.MinDelta
}

// A best is what the evaluations of a run have come to. It is part of the state, so that
// a run that resumes or recovers counts on.
type best struct {
	step   int64   // of the best evaluation, 0 if there is none
	value  float64 // of the metric
	seen   int64   // step of the last evaluation that counts
	waited int64   // evaluations since the best
}

// observe counts an evaluation, once a step, and reports whether it is the best.
func (b *best) observe(s EarlyStopping, step int64, value float64) bool {
	if step <= b.seen {
		return false
	}
	b.seen = step
	if b.step == 0 && isFinite(value) || b.step > 0 && s.better(value, b.value) {
		b.step, b.value, b.waited = step, value, 0
		return true
	}
	b.waited++
	return false
}

// ends reports whether the run ends here.
func (b best) ends(s EarlyStopping) bool { return s.Patience > 0 && b.waited >= int64(s.Patience) }

// stored is b as a checkpoint has it.
func (b best) stored() *checkpoint.Best {
	if b == (best{}) {
		return nil
	}
	return &checkpoint.Best{Step: b.step, Value: checkpoint.Sum(b.value), Seen: b.seen, Waited: b.waited}
}

func restoredBest(b *checkpoint.Best) best {
	if b == nil {
		return best{}
	}
	return best{b.Step, float64(b.Value), b.Seen, b.Waited}
}

// observe counts an evaluation, alike on all ranks. The best one asks for a checkpoint;
// after the last that the run waits for, no step follows.
func (r *run) observe(m Metrics) {
	s := r.job.Train.EarlyStopping
	if s.Patience == 0 {
		return
	}
	value := s.stopper().of(&m)
	if value == nil {
		panic("train: a metric that the model has not")
	}
	if r.where.best.observe(s, m.Step, float64(*value)) {
		r.agreed.Checkpoint = true
		if r.folder != nil {
			r.folder.Pin(m.Step)
		}
	}
	if b := r.where.best; b.ends(s) && r.loop.Step < r.loop.Steps {
		r.loop.Steps = r.loop.Step
		if r.rank == 0 && r.job.Log.Every != (Every{}) && r.tracker.examples > 0 {
			r.report() // of the last step, as of every run
		}
		r.emit(Decision{What: "stop", Choice: fmt.Sprintf("step %d", m.Step), Why: b.why(s)})
	}
}

// why says why the run ends.
func (b best) why(s EarlyStopping) string {
	if b.step == 0 {
		return fmt.Sprintf("%s was not finite in %d evaluations", s.Metric, b.waited)
	}
	why := fmt.Sprintf("%s is best at step %d, %g: %d evaluations since are not better", s.Metric, b.step, b.value, b.waited)
	if s.MinDelta > 0 {
		why += fmt.Sprintf(" by more than %g", s.MinDelta)
	}
	return why
}

// asExported calls f with the values that are exported in the variables' place: those
// of the best step, where the run looks for one, and their average if the job says so.
func (r *run) asExported(f func(step int64) error) error {
	average, b := r.job.Train.Average.Export, r.where.best
	path, found := "", false
	if r.job.Train.EarlyStopping.Patience > 0 && b.step > 0 && b.step != r.loop.Step && r.folder != nil {
		if path, found = r.folder.OfStep(b.step); !found {
			r.opts.Notice(fmt.Sprintf("the checkpoint of step %d, the best, is gone: the last step is exported", b.step))
		}
	}
	if !found {
		return r.averages.during(average, func() error { return f(r.loop.Step) })
	}
	kept, err := readStored(path)
	if err != nil {
		return err
	}
	vars, from := r.model.Variables(), r.model.Variables()
	if average {
		if from, err = kept.averaged(vars); err != nil {
			return err
		}
	}
	own := make([][]float32, len(vars))
	for i, v := range vars {
		own[i] = slices.Clone(v.Value)
	}
	defer func() {
		for i, v := range vars {
			copy(v.Value, own[i])
		}
	}()
	if err := kept.assign(from); err != nil {
		return err
	}
	return f(kept.step)
}
