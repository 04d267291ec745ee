package job

import (
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/model/kernel"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
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
	Decay    float64 `yaml:"decay" takes:"0 or more and below 1" doc:"Decay of a moving average of the variables, which is kept beside them. 0: none. Of a table, a step moves the average of the rows that it touches."`
	Evaluate bool    `yaml:"evaluate" doc:"Evaluations are of the moving average."`
	Export   bool    `yaml:"export" doc:"The serving export is of the moving average."`
}

func (a Average) check(f *faults) {
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
	Metric   StopMetric `yaml:"metric" default:"loss" doc:"Metric that ends a run."`
	Patience int        `yaml:"patience" takes:"0 or more" doc:"Evaluations (eval.every) in a row without a better one that end the run. 0: never. The best one's checkpoint is kept, whatever checkpoint.keep says. It is the result: what is exported and what ‘eval’ and ‘predict’ read."`
	MinDelta float64    `yaml:"min_delta" takes:"0 or more" doc:"By how much an evaluation must be better to count."`
}

func (s EarlyStopping) check(f *faults, j *Config) {
	if s.Patience <= 0 {
		return
	}
	m, known := metricOf(string(s.Metric))
	if classes := j.knownClasses(); known && classes >= 0 && !m.has(classes) {
		f.add("train.early_stopping.metric is %q, want one of %s", s.Metric, strings.Join(metricNames(classes, metric.stops), ", "))
	}
	if !j.HasValidation() && !j.Eval.Training {
		f.add("train.early_stopping.patience is %d, which needs validation records: add input.split, as in {share: 0.1}", s.Patience)
	}
	if j.Eval.Every == (Every{}) {
		f.add("train.early_stopping.patience is %d, which needs eval.every", s.Patience)
	}
	if j.Checkpoint.Dir == "" {
		f.add("train.early_stopping.patience is %d, which needs checkpoint.dir: the best checkpoint is kept there", s.Patience)
	}
}

// HasValidation reports whether the job has validation records.
func (cfg *Config) HasValidation() bool {
	if cfg.Input.Synthetic { // points of a line are for training alone
		return cfg.ReadsIDs() || cfg.Model.Head(cfg.Loss).Kind != graph.HeadRegression
	}
	return cfg.Input.Eval.Format != "" || cfg.Input.Split.Validates()
}

// Value returns the metric among those of an evaluation, nil if it is not there.
func (s EarlyStopping) Value(m *report.Metrics) *report.Number {
	for _, n := range m.Numbers() {
		if n.Name == string(s.Metric) {
			return &n.Value
		}
	}
	return nil
}

// Better reports whether a metric's value is better than the best so far. A value that is not finite
// never is.
func (s EarlyStopping) Better(value, best float64) bool {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return false
	}
	if m, _ := metricOf(string(s.Metric)); m.better == lower {
		return value < best-s.MinDelta
	}
	return value > best+s.MinDelta
}

// InitFrom names variables of a fresh run that start with trained values. A pattern is a glob of a
// variable's name or of its layer's name: "hidden_*" and "hidden_*/kernel" match variables of the hidden
// layers.
type InitFrom struct {
	Path    string   `yaml:"path" doc:"Checkpoint or serving bundle, on rank 0's disk, that a fresh run takes its first values from. The run tells what it takes and what not. Columns whose ids mean another thing are refused if a variable with a row for each id is taken. A run that resumes takes nothing, and says so."`
	Include []string `yaml:"include" doc:"Globs of variables (‘*/kernel’) or layers (‘hidden_*’) to take. Empty: all."`
	Exclude []string `yaml:"exclude" doc:"Globs of variables or layers to leave."`
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

// knownClasses returns the number of classes of the model, 0 of a regression. It is negative if the number is not known
// yet, or if Check has another fault to report.
func (cfg *Config) knownClasses() int {
	if cfg.Model.Unnamed() || cfg.Model.Check(cfg.Loss) != nil {
		return -1
	}
	return cfg.Model.Head(cfg.Loss).Classes
}

// CheckClasses returns what is wrong with the job once the names of the classes are known.
func (cfg *Config) CheckClasses() error {
	var f faults
	cfg.checkClassWeights(&f)
	cfg.Train.EarlyStopping.check(&f, cfg)
	cfg.Eval.Threshold.check(&f, cfg)
	cfg.Export.If.check(&f, cfg)
	return exitcode.With(exitcode.Usage, errors.Join(cfg.Model.Check(cfg.Loss), f.err()))
}

// Labels returns the rule for the labels of the job's records.
func (cfg *Config) Labels() input.Labels {
	switch h := cfg.Model.Head(cfg.Loss); h.Kind {
	case graph.HeadClasses:
		why := fmt.Sprintf(": model.classes is %d", h.Classes)
		if len(cfg.Model.Layers) > 0 {
			why = fmt.Sprintf(": the last layer has %d outputs", h.Classes)
		}
		return input.Labels{Classes: h.Classes, Why: why}
	case graph.HeadBinary:
		return input.Labels{Binary: true}
	}
	return input.Labels{}
}

// DeclaredFeatures returns the number of features of the training records, 0 if the records give it.
// Records of some formats do not give the width of an image.
func (cfg *Config) DeclaredFeatures() int {
	f, _ := convert.FormatOf(cfg.Input.Train.Format)
	if n := cfg.Model.Features; n > 0 || cfg.ReadsIDs() || !f.Wide || len(cfg.Input.Shape) == 0 {
		return n
	}
	return graph.Shape(cfg.Input.Shape).Len()
}

// Kernels is the value of train.kernels: a kernel set, or auto.
type Kernels string

// Takes returns the names of all kernel sets.
func (Kernels) Takes() string { return Auto + ", " + strings.Join(kernel.SetNames(), ", ") }

// KernelSets returns the kernel sets that this machine offers to the job, in ascending order: all that
// it has, or the set that the job wants.
func (cfg *Config) KernelSets() []string {
	if cfg.Train.Kernels == Auto {
		return model.KernelSets()
	}
	return []string{string(cfg.Train.Kernels)}
}

// CheckKernels returns an error if this machine lacks the kernel set that the job wants.
func (cfg *Config) CheckKernels() error {
	has := model.KernelSets()
	if want := cfg.Train.Kernels; want != Auto && !slices.Contains(has, string(want)) {
		return exitcode.With(exitcode.Usage, fmt.Errorf("train.kernels is %s, this machine has %s", want, strings.Join(has, ", ")))
	}
	return nil
}
