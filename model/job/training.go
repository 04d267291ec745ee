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

// Average says how an exponential moving average of the variables is kept, beside
// them: after each update
//
//	a ← a − (1−decay)·(a − w)
//
// in float32, from the variable's first value on, as TensorFlow's
// ExponentialMovingAverage does it. It is the average of the last 1/(1−decay) steps,
// about, and often better on new records than the last of them. Of a variable by rows a
// step moves the average of the rows that it touches: it is that of the last steps that
// touched a row.
type Average struct {
	Decay    float64 `yaml:"decay"`    // of the average, below 1; 0: none is kept
	Evaluate bool    `yaml:"evaluate"` // evaluations are of the average
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

// EarlyStopping says when a run ends before its steps are done: when so many evaluations
// in a row have not been better than the best by more than min_delta. The checkpoint of
// the best is kept, whatever checkpoint.keep says, and exported.
type EarlyStopping struct {
	Metric   string  `yaml:"metric"`    // of the evaluations that eval.every brings, and the last one
	Patience int     `yaml:"patience"`  // evaluations; 0: the run does all its steps
	MinDelta float64 `yaml:"min_delta"` // that a better one is better by
}

// A stopper is a metric that a run can end by.
type stopMetric struct {
	name          string
	lowerIsBetter bool             // smaller is better
	heads         []graph.HeadKind // of the models that have it
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

// stopperNames are those of the metrics of models with a head, of all for 0.
func stopMetricNames(head graph.HeadKind) []string {
	var names []string
	for _, s := range stopMetrics() {
		if head == 0 || slices.Contains(s.heads, head) {
			names = append(names, s.name)
		}
	}
	return names
}

// stopper returns the metric that the job names.
func (s EarlyStopping) stopMetric() stopMetric {
	all := stopMetrics()
	i := slices.IndexFunc(all, func(m stopMetric) bool { return m.name == s.Metric })
	if i < 0 {
		panic("train: early_stopping.metric was not checked")
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

// Better reports whether a metric's value is better than the best so far. One that is
// not finite never is.
func (s EarlyStopping) Better(value, best float64) bool {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return false
	}
	if s.stopMetric().lowerIsBetter {
		return value < best-s.MinDelta
	}
	return value > best+s.MinDelta
}

// InitFrom says which variables of a fresh run begin with what was trained before. A
// pattern is a glob of a variable's name or of its layer's: "hidden_*" and
// "hidden_*/kernel" name variables of the hidden layers.
type InitFrom struct {
	Path    string   `yaml:"path"`    // checkpoint or serving bundle, on rank 0's disk; empty: none
	Include []string `yaml:"include"` // patterns of what is taken; empty: all that it has
	Exclude []string `yaml:"exclude"` // patterns of what is not
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

// Excluded says why a variable is not taken, "" if it is taken.
func (in InitFrom) Excluded(name string) string {
	switch {
	case len(in.Include) > 0 && !matchesAny(in.Include, name):
		return "not included"
	case matchesAny(in.Exclude, name):
		return "excluded"
	}
	return ""
}

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

// check returns what is wrong with the weights of the job, whose input has checked that
// labels are classes.
func (j *Config) checkClassWeights(f *faults) {
	w := j.Train.ClassWeights
	if len(w) == 0 {
		return
	}
	for i, x := range w {
		f.wantFloat32(fmt.Sprintf("train.class_weights[%d]", i), x)
	}
	if j.Model.Check(j.Loss) != nil {
		return // said already
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

// labels returns the rule for the labels of the job's records.
func (j *Config) Labels() input.Labels {
	switch h := j.Model.Head(j.Loss); h.Kind {
	case graph.HeadClasses:
		return input.Labels{Classes: h.Classes}
	case graph.HeadBinary:
		return input.Labels{Binary: true}
	}
	return input.Labels{}
}

// declaredFeatures is the number of features of the training records as the job file says
// it, 0 where the records say it. LibSVM records alone do not say how wide an image is.
func (j *Config) DeclaredFeatures() int {
	if n := j.Model.Features; n > 0 || j.Model.Sparse() || j.Input.Train.Format != "libsvm" || len(j.Input.Shape) == 0 {
		return n
	}
	return graph.Shape(j.Input.Shape).Len()
}

// KernelSets returns the kernel sets that this machine offers to the job, in ascending order: all
// that it has, or the one that the job wants.
func (j *Config) KernelSets() []string {
	if j.Train.Kernels == Auto {
		return model.KernelSets()
	}
	return []string{j.Train.Kernels}
}

// CheckKernels fails if this machine lacks the kernel set that the job wants.
func (j *Config) CheckKernels() error {
	has := model.KernelSets()
	if want := j.Train.Kernels; want != Auto && !slices.Contains(has, want) {
		return exitcode.With(exitcode.Usage, fmt.Errorf("train.kernels is %s, this machine has %s", want, strings.Join(has, ", ")))
	}
	return nil
}
