package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// Options are what a worker knows besides its job.
type Options struct {
	Roots   []string // folders in which relative input files are looked for, in turn
	Resume  string   // auto, never or must
	Version string   // of the binary

	CacheDir string // where parsed records are kept if input.cache is auto; "": nowhere

	Trace  Trace        // receives the events
	Notice func(string) // told what a person should know; may be nil
	Stop   func() int   // exit code that a signal asks this rank to stop the job with, 0 for none; may be nil

	// Depart says that this rank asks to leave alone, as long as it is true; may be
	// nil. Where all ask at once the job stops as by Stop.
	Depart func() bool

	// Checkpoint says that this rank asks for a checkpoint after the coming step;
	// each true is one. May be nil.
	Checkpoint func() bool
}

// Team is what joins a worker to the others: the group, and what the
// rendezvous was told and should be told.
type Team struct {
	Group      *ring.Group
	Rendezvous string // address, "" for world size 1
	Link       string // what the data travel over: shm, tcp, grpc, shm+tcp, shm+grpc, none
	Cores      int    // that this rank may use, as ShareCores says; 0: as many as GOMAXPROCS

	// Progress is told of each completed step, and of each change of phase: restore,
	// warm-up, train, evaluate, checkpoint, export, end. It must not block. May be nil.
	Progress func(step int64, phase string)
}

// Result is how a run ended.
type Result struct {
	Digest  string // of the variables, in hex
	Stopped int    // exit code of the signal that stopped it, 0 if it went to its end
	Alone   bool   // this rank alone has stopped: the others go on
	Step    int64  // the last one that was completed, -1 before training
}

// Trainer is one rank of a job that is ready to meet the others: its input is
// open and its model is described. Between two generations it keeps what this
// process holds.
type Trainer struct {
	job     *Job
	opts    Options
	model   *model.Model
	data    datasets
	pending *pending  // the rest of data.eval
	evals   []evalSet // of input.evals
	held
}

// Prepare opens the job's input and builds its model. What is wrong on this
// machine alone shows here, before the others are met.
func Prepare(job *Job, o Options) (*Trainer, error) {
	if !slices.Contains([]string{"auto", "never", "must"}, o.Resume) {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--resume is %q, want auto, never or must", o.Resume))
	}
	if err := job.checkKernels(); err != nil {
		return nil, err
	}
	job.keep = keeping{o.CacheDir, o.Notice}
	data, err := openDatasets(job, o.Roots)
	if err != nil {
		return nil, err
	}
	t, err := newTrainer(job, o, data)
	if err == nil {
		t.evals, err = openEvals(job, o.Roots, max(job.Model.Features, data.train.Features()), classNames(data.train))
	}
	if err != nil {
		data.Close()
		return nil, err
	}
	return t, nil
}

// newTrainer builds the job's model for data, which the Trainer closes.
func newTrainer(job *Job, o Options, data datasets) (*Trainer, error) {
	if o.Stop == nil {
		o.Stop = func() int { return 0 }
	}
	if o.Depart == nil {
		o.Depart = func() bool { return false }
	}
	if o.Checkpoint == nil {
		o.Checkpoint = func() bool { return false }
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	m, err := job.newModel(data.train)
	if err != nil {
		return nil, err
	}
	t := &Trainer{job: job, opts: o, data: data, pending: newPending(data.eval), model: m, held: newHeld()}
	return t, t.checkMemory(1, 1)
}

// newModel builds the model of the job for records like d's.
func (j *Job) newModel(d input.Dataset) (*model.Model, error) {
	in, err := j.inputs(d)
	if err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	g, err := j.Model.GraphOf(in, j.Loss)
	if err != nil {
		return nil, j.located(err)
	}
	if names := classNames(d); g.Head.Kind == graph.HeadClasses && len(names) == g.Head.Classes {
		g.Head.Labels = names // which a serving client is told
	}
	g.Columns = j.columns()
	m := model.New(g)
	if s := j.Loss.LabelSmoothing; s > 0 {
		m.Smooth(float32(s))
	}
	return m, nil
}

// inputs returns what the model reads of the records.
func (j *Job) inputs(d input.Dataset) (model.Inputs, error) {
	if j.plan != nil {
		return j.columnInputs(j.plan.Columns())
	}
	shape, err := j.shape(d)
	if err != nil {
		return model.Inputs{}, err
	}
	if j.Model.Sparse() {
		return model.Inputs{IDs: shape.Len()}, nil
	}
	return model.Inputs{Dense: shape}, nil
}

// shape returns the shape of the records as the model sees them.
func (j *Job) shape(d input.Dataset) (graph.Shape, error) {
	features := j.Model.Features
	if features == 0 {
		features = d.Features()
	}
	if j.Model.Sparse() {
		return graph.Shape{features}, nil
	}
	if features != d.Features() {
		return nil, fmt.Errorf("model.features is %d, want %d as the records have", features, d.Features())
	}
	if len(j.Input.Shape) == 0 {
		return input.ShapeOf(d), nil
	}
	if s := graph.Shape(j.Input.Shape); s.Len() != features {
		return nil, fmt.Errorf("input.shape is %v, which is %d values, want %d as the records have", s, s.Len(), features)
	}
	return j.Input.Shape, nil
}

// Close releases the input, lets go of the folder of checkpoints, and ends the event file.
func (t *Trainer) Close() error {
	defer t.pending.wait() // which then ends
	var err error
	if t.folder != nil {
		err = t.folder.Close()
	}
	if t.summary != nil {
		err = errors.Join(err, t.summary.Close())
	}
	return errors.Join(err, t.data.Close(), closeEvals(t.evals))
}

// Agree returns what must be equal on all ranks, as "key=value" lines.
func (t *Trainer) Agree() []string {
	var lines []string
	for _, o := range t.agreedOptions() {
		lines = append(lines, o.Key+"="+o.Value)
	}
	return append(lines, "variables="+t.shapes())
}

// local are the keys that ranks, and runs of one job, may differ in: places on
// a disk, and what rank 0 alone decides.
var local = []string{
	"input.train.files", "input.train.images", "input.train.labels",
	"input.eval.files", "input.eval.images", "input.eval.labels", "input.evals",
	"input.prefetch", "input.cache", "input.max_bad_records", "input.max_features", "input.max_inflate", "eval.every", "log.every",
	"train.init_from.path", "train.init_from.include", "train.init_from.exclude",
	"checkpoint.dir", "checkpoint.every", "checkpoint.keep", "export.savedmodel", "summary.dir",
}

// agreedOptions are the options that must be equal on all ranks and in all
// runs of a job, the manifests of the data among them.
func (t *Trainer) agreedOptions() []Option {
	options := slices.DeleteFunc(t.job.Options(), func(o Option) bool { return slices.Contains(local, o.Key) })
	for i, e := range t.evals {
		options = append(options, e.agreed(i)...)
	}
	if s, ok := t.data.train.(input.Sequential); ok && s.Sequential() {
		options = append(options, Option{"input.train.order", "files"}) // of compressed text without a cache
	}
	if c := t.job.columns(); c != nil {
		options = append(options, Option{"input.columns.learnt", digestOfColumns(c)})
	}
	return append(options,
		Option{"input.train.manifest", strings.Join(t.data.train.Manifest(), " ")},
		Option{"input.eval.manifest", strings.Join(t.data.eval.Manifest(), " ")})
}

// shapes describes the variables on one line.
func (t *Trainer) shapes() string {
	var b strings.Builder
	for _, v := range t.model.Variables() {
		fmt.Fprintf(&b, " %s%v", v.Name, v.Shape)
	}
	return strings.TrimPrefix(b.String(), " ")
}

// Run trains with the team until the job is done, a signal stops all ranks at
// one agreed step, ranks leave, or something fails. It is called on all ranks,
// and again with the team of the next generation when one has ended, in whatever
// it was doing; also when Run had returned and the end was not agreed on by all.
//
// What this process holds survives: the newest state among the ranks goes to all
// that are behind, so that at most the step in flight is repeated, without a disk.
// With a codec that loses nothing, the same world size and the same layout the
// run has the bits of one without an interruption. Residuals of a lossy codec,
// and the directions of powersgd, begin anew.
//
// A rank that asked by Options.Depart returns a Result that is Stopped; the
// others then return an error with a *Departed in it. After an error of the job
// itself, one of package exitcode below 128, there is no use in another call.
func (t *Trainer) Run(ctx context.Context, team Team) (Result, error) {
	r, err := t.newRun(ctx, team)
	if err != nil {
		return t.reached(), err
	}
	defer r.close()
	if err := r.begin(ctx); err != nil {
		return t.reached(), err
	}
	goOn, err := r.heed(ctx) // what the generation before has left to do
	if err == nil && goOn {
		err = r.loop.Run(ctx)
	}
	switch {
	case err != nil:
		return r.result(), err
	case r.departs:
		return r.leave(), nil
	case r.stopped != 0:
		return r.stop(ctx)
	}
	return r.finish(ctx)
}
