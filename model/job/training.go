package job

import (
	"fmt"
	"math"
	"path"
	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
	"slices"
	"strings"
)

// Average configures an exponential moving average of the variables, which is kept beside them. After
// each update
//
//	a ← a − (1−decay)·(a − w)
//
// in float32, from the variable's first value on, as in TensorFlow's ExponentialMovingAverage. It
// averages about the last 1/(1−decay) steps, and often predicts new records better than the last step.
// For a variable by rows a step moves only the average of the rows that it updates.
type Average struct {
	Decay    float64 `yaml:"decay"`    // of the average, below 1; 0: no average
	Evaluate bool    `yaml:"evaluate"` // evaluations use the average
	Export   bool    `yaml:"export"`   // the serving bundle has the average
}

func (a Average) check(f *faults) {
	if !(a.Decay >= 0 && a.Decay < 1) {
		f.add("train.average.decay is %v, want 0 or more and less than 1", a.Decay)
		return
	}
	if float32(a.Decay) == 1 {
		f.add("train.average.decay is %v, which is 1 in float32: the average would stay as it begins", a.Decay)
	}
	if a.Decay == 0 && a.Evaluate {
		f.add("train.average.evaluate is true, want false without train.average.decay")
	}
	if a.Decay == 0 && a.Export {
		f.add("train.average.export is true, want false without train.average.decay")
	}
}

// EarlyStopping ends a run before its steps are done: after so many evaluations in a row that did not
// improve on the best one by more than min_delta. The checkpoint of the best evaluation is kept in
// addition to checkpoint.keep. It is the result of the run.
type EarlyStopping struct {
	Metric   string  `yaml:"metric"`    // of the evaluations of eval.every and of the last evaluation
	Patience int     `yaml:"patience"`  // evaluations; 0: the run does all its steps
	MinDelta float64 `yaml:"min_delta"` // least improvement that counts
}

// stopMetric is a metric that can end a run.
type stopMetric struct {
	name          string
	lowerIsBetter bool
	heads         []graph.HeadKind // heads of the models that have the metric
}

func stopMetrics() []stopMetric {
	all := []graph.HeadKind{graph.HeadRegression, graph.HeadClasses, graph.HeadBinary}
	return []stopMetric{
		{"loss", true, all},
		{"accuracy", false, all[1:]},
		{"auc", false, all[2:]},
		{"rmse", true, all[:1]},
		{"log_loss", true, all[1:]},
		{"normalized_entropy", true, all[2:]},
	}
}

// stopMetricNames returns the names of the metrics of models with a head, of all models for head 0.
func stopMetricNames(head graph.HeadKind) []string {
	var names []string
	for _, s := range stopMetrics() {
		if head == 0 || slices.Contains(s.heads, head) {
			names = append(names, s.name)
		}
	}
	return names
}

// stopMetric returns the metric that the job names.
func (s EarlyStopping) stopMetric() stopMetric {
	all := stopMetrics()
	i := slices.IndexFunc(all, func(m stopMetric) bool { return m.name == s.Metric })
	if i < 0 {
		panic("job: early_stopping.metric was not checked")
	}
	return all[i]
}

func (s EarlyStopping) check(f *faults, j *Config) {
	names := stopMetricNames(0)
	known := slices.Contains(names, s.Metric)
	if known && s.Patience > 0 && j.Model.Check(j.Loss) == nil {
		names = stopMetricNames(j.Model.Head(j.Loss).Kind)
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

// Better reports whether a metric's value is better than the best so far. A value that is not finite
// never is.
func (s EarlyStopping) Better(value, best float64) bool {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return false
	}
	if s.stopMetric().lowerIsBetter {
		return value < best-s.MinDelta
	}
	return value > best+s.MinDelta
}

// InitFrom names variables of a fresh run that start with trained values. A pattern is a glob of a
// variable's name or of its layer's name: "hidden_*" and "hidden_*/kernel" match variables of the hidden
// layers.
type InitFrom struct {
	Path    string   `yaml:"path"`    // checkpoint or serving bundle, on rank 0's disk; empty: none
	Include []string `yaml:"include"` // patterns of variables to take; empty: all that path has
	Exclude []string `yaml:"exclude"` // patterns of variables not to take
}

func (in InitFrom) check(f *faults) {
	for _, list := range []struct {
		key      string
		patterns []string
	}{{"train.init_from.include", in.Include}, {"train.init_from.exclude", in.Exclude}} {
		if len(list.patterns) > 0 && in.Path == "" {
			f.add("%s is %v, which needs train.init_from.path", list.key, list.patterns)
		}
		for i, p := range list.patterns {
			if _, err := path.Match(p, ""); err != nil {
				f.add("%s[%d] is %s, want a glob", list.key, i, abbreviated(p))
			}
		}
	}
}

// matches reports whether pattern matches the name of a variable: all of it, or the parts before
// one of its slashes.
func matches(pattern, name string) bool {
	for at := range len(name) + 1 {
		if at < len(name) && name[at] != '/' {
			continue
		}
		if ok, err := path.Match(pattern, name[:at]); ok && err == nil {
			return true
		}
	}
	return false
}

// Excluded returns the reason why a variable is not taken, "" if it is taken.
func (in InitFrom) Excluded(name string) string {
	switch {
	case len(in.Include) > 0 && !matchesAny(in.Include, name):
		return "not included"
	case matchesAny(in.Exclude, name):
		return "excluded"
	}
	return ""
}

// matchesAny reports whether one of the patterns matches the name of a variable.
func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

// CheckUsed returns an error for each pattern that matches none of vars.
func (in InitFrom) CheckUsed(vars []*model.Variable) error {
	var f faults
	all := make([]string, len(vars))
	for i, v := range vars {
		all[i] = v.Name
	}
	for _, p := range slices.Concat(in.Include, in.Exclude) {
		if !slices.ContainsFunc(vars, func(v *model.Variable) bool { return matches(p, v.Name) }) {
			f.add("train.init_from: no variable matches %s, want some of %s", p, strings.Join(all, ", "))
		}
	}
	return f.err()
}

// checkClassWeights adds the faults of train.class_weights.
func (j *Config) checkClassWeights(f *faults) {
	w := j.Train.ClassWeights
	if len(w) == 0 {
		return
	}
	for i, x := range w {
		f.wantFloat32(fmt.Sprintf("train.class_weights[%d]", i), x)
	}
	if j.Model.Check(j.Loss) != nil {
		return // Check reports this fault
	}
	labels := j.Labels()
	classes := labels.Classes
	if labels.Binary {
		classes = 2
	}
	switch {
	case classes == 0:
		f.add("train.class_weights is %v, want none: labels are no classes", w)
	case len(w) != classes:
		f.add("train.class_weights has %d weights, want one for each of %d classes", len(w), classes)
	}
}

// Labels returns the rule for the labels of the job's records.
func (j *Config) Labels() input.Labels {
	switch h := j.Model.Head(j.Loss); h.Kind {
	case graph.HeadClasses:
		why := fmt.Sprintf(": model.classes is %d", h.Classes)
		if len(j.Model.Layers) > 0 {
			why = fmt.Sprintf(": the last layer has %d outputs", h.Classes)
		}
		return input.Labels{Classes: h.Classes, Why: why}
	case graph.HeadBinary:
		return input.Labels{Binary: true}
	}
	return input.Labels{}
}

// DeclaredFeatures returns the number of features of the training records, 0 if the records give it.
// Only the records of LibSVM and libffm do not give the width of an image.
func (j *Config) DeclaredFeatures() int {
	if n := j.Model.Features; n > 0 || j.Model.Sparse() || j.Input.Train.Format != "libsvm" && j.Input.Train.Format != "libffm" || len(j.Input.Shape) == 0 {
		return n
	}
	return graph.Shape(j.Input.Shape).Len()
}

// KernelSets returns the kernel sets that this machine offers to the job, in ascending order: all that
// it has, or the set that the job wants.
func (j *Config) KernelSets() []string {
	if j.Train.Kernels == Auto {
		return model.KernelSets()
	}
	return []string{j.Train.Kernels}
}

// CheckKernels returns an error if this machine lacks the kernel set that the job wants.
func (j *Config) CheckKernels() error {
	has := model.KernelSets()
	if want := j.Train.Kernels; want != Auto && !slices.Contains(has, want) {
		return exitcode.With(exitcode.Usage, fmt.Errorf("train.kernels is %s, this machine has %s", want, strings.Join(has, ", ")))
	}
	return nil
}
