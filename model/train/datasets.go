package train

import (
	"errors"
	"fmt"
	"strings"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/input/synth"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// datasets are the records of a job.
type datasets struct {
	train, eval input.Dataset
	split       string // which the evaluation is on: "eval", or "train" where the job names no validation records
}

// Close releases the files.
func (d datasets) Close() error {
	err := d.train.Close()
	if d.eval != d.train {
		err = errors.Join(err, d.eval.Close())
	}
	return err
}

// openDatasets opens what the job names, or draws it. There is no falling back
// from one to the other.
func openDatasets(job *Job, roots []string) (datasets, error) {
	if job.Input.Synthetic {
		return drawDatasets(job)
	}
	if err := job.compileColumns(roots); err != nil {
		return datasets{}, err
	}
	train, err := openSplit(job, split{key: "input.train", files: job.Input.Train, features: job.declaredFeatures(), learn: true}, roots)
	if err != nil {
		return datasets{}, err
	}
	if job.Input.Eval.Format == "" {
		return datasets{train, train, "train"}, nil
	}
	// A feature that the model does not have is the validation file's fault.
	eval, err := openSplit(job, split{
		key: "input.eval", files: job.Input.Eval, features: max(job.Model.Features, train.Features()), later: true, classes: classNames(train),
	}, roots)
	if err != nil {
		train.Close()
		return datasets{}, err
	}
	return datasets{train, eval, "eval"}, nil
}

// declaredFeatures is the number of features of the training records as the job file says
// it, 0 where the records say it. LibSVM records alone do not say how wide an image is.
func (j *Job) declaredFeatures() int {
	if n := j.Model.Features; n > 0 || j.Model.Sparse() || j.Input.Train.Format != "libsvm" || len(j.Input.Shape) == 0 {
		return n
	}
	return graph.Shape(j.Input.Shape).Len()
}

// split is one of the two data sets that a job names.
type split struct {
	key      string
	files    Files
	features int  // of the model, 0 where the records say it
	later    bool // see convert.Spec
	learn    bool // likewise

	classes []string // of the training records, where these have names
}

// classNames are the names of the classes of d, nil where these have none.
func classNames(d input.Dataset) []string {
	if named, ok := d.(interface{ ClassNames() []string }); ok {
		return named.ClassNames()
	}
	return nil
}

// openSplit opens the files of s.
func openSplit(job *Job, s split, roots []string) (input.Dataset, error) {
	d, err := openSpec(job.splitSpec(s), s.files, roots)
	if err != nil {
		return nil, adviseOnMissing(job, fmt.Errorf("%s: %w", s.key, err))
	}
	if d.Len() == 0 {
		d.Close()
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("%s: no records in %s", s.key, strings.Join(s.files.names(), ", ")))
	}
	return d, nil
}

// splitSpec tells package convert what s is.
func (j *Job) splitSpec(s split) convert.Spec {
	training := s.key == "input.train"
	spec := j.spec(s.files, s.features)
	spec.Later, spec.Learn, spec.Names = s.later, s.learn, s.classes
	spec.Tolerate = training && j.Input.MaxBad > 0
	j.cacheSpec(&spec, training)
	return spec
}

const digitClasses = 10

// drawDatasets draws the records that suit the model.
func drawDatasets(job *Job) (datasets, error) {
	seed, head := job.Train.Seed, job.Model.Head(job.Loss)
	bad := func(format string, args ...any) (datasets, error) {
		return datasets{}, exitcode.With(exitcode.Usage, fmt.Errorf(format, args...))
	}
	switch {
	case job.Model.Sparse():
		if f := job.Model.Features; f != 0 && f < synth.ClicksFeatures {
			return bad("model.features is %d, want at least %d: input.synthetic draws ids below that", f, synth.ClicksFeatures)
		}
		return datasets{
			synth.Clicks(seed, synth.ClicksTrain, synth.Train), synth.Clicks(seed, synth.ClicksEval, synth.Eval), "eval",
		}, nil
	case head.Kind == graph.HeadRegression:
		points := synth.Linear(seed)
		return datasets{points, points, "train"}, nil
	case head.Kind == graph.HeadBinary:
		return bad("loss.kind is sigmoid, want softmax or squared: input.synthetic draws digits, or points of a line")
	case head.Classes != digitClasses && len(job.Model.Layers) > 0:
		return bad("the last layer has %d outputs, want %d: input.synthetic draws the ten digits", head.Classes, digitClasses)
	case head.Classes != digitClasses:
		return bad("model.classes is %d, want %d: input.synthetic draws the ten digits", head.Classes, digitClasses)
	}
	return datasets{
		synth.Digits(seed, synth.DigitsTrain, synth.Train), synth.Digits(seed, synth.DigitsEval, synth.Eval), "eval",
	}, nil
}

// spec tells package convert what f is for this job's model.
func (j *Job) spec(f Files, features int) convert.Spec {
	s := convert.Spec{
		Format: f.Format, Label: f.Label, IDs: f.IDs, Values: f.Values, Compression: f.Compression, Base: f.Base,
		Dense: !j.Model.Sparse(), Features: features, Columns: j.plan, Header: f.Header,
		Shape: j.Input.Shape, Resize: j.Input.Resize,
		Limits: input.Limits{MaxInflate: int64(j.Input.MaxInflate), MaxFeatures: j.Input.MaxFeatures},
	}
	s.Separator, _ = f.separator()
	switch h := j.Model.Head(j.Loss); h.Kind {
	case graph.HeadClasses:
		s.LabelRule.Classes = h.Classes
	case graph.HeadBinary:
		s.LabelRule.Binary = true
	}
	return s
}

// names returns the files as the job names them.
func (f Files) names() []string {
	if f.Format == "idx" || f.Format == "images" {
		return []string{f.Images}
	}
	return f.Files
}

// openSpec opens the files of f as s says.
func openSpec(s convert.Spec, f Files, roots []string) (input.Dataset, error) {
	if f.Format == "idx" {
		var err error
		if s.Images, err = oneFile(roots, f.Images); err != nil {
			return nil, err
		}
		if s.Labels, err = oneFile(roots, f.Labels); err != nil {
			return nil, err
		}
		return convert.Open(s)
	}
	var err error
	if f.Format == "images" && f.Images != "" {
		if s.Images, err = input.ExpandFolder(roots, f.Images); err != nil {
			return nil, err
		}
		return convert.Open(s)
	}
	if s.Files, err = f.expand(roots); err != nil {
		return nil, err
	}
	return convert.Open(s)
}

// expand finds the files of f. Of text a folder stands for its files.
func (f Files) expand(roots []string) ([]string, error) {
	if f.Format == "tfrecord" {
		return input.Expand(roots, f.Files)
	}
	return input.ExpandText(roots, f.Files)
}

// oneFile finds the one file called name, "" for "".
func oneFile(roots []string, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	files, err := input.Expand(roots, []string{name})
	if err != nil {
		return "", err
	}
	if len(files) > 1 {
		return "", exitcode.With(exitcode.Usage, fmt.Errorf("%s matches %d files, want one", name, len(files)))
	}
	return files[0], nil
}

// adviseOnMissing adds the two ways out when a built-in job's files are not there.
func adviseOnMissing(job *Job, err error) error {
	if exitcode.Of(err) != exitcode.NoInput {
		return err
	}
	set := map[string]string{"mnist": "mnist", "ctr": "a8a"}[job.Name]
	if set == "" {
		return err
	}
	return fmt.Errorf("%w; get them with \"ringtrain data fetch %s\", or try the job without any file by --set input.synthetic=true",
		err, set)
}
