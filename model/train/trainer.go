package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// Options are what a worker knows besides its job.
type Options struct {
	Roots   []string // folders in which relative input files are looked for, in turn
	Resume  string   // auto, never or must
	Version string   // of the binary

	CacheDir string // where parsed records are kept if input.cache is auto; "": nowhere

	Trace  report.Trace // receives the events
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
	job     *job.Config
	opts    Options
	model   *model.Model
	data    records.Set
	pending *records.Loader   // the rest of data.Eval
	evals   []records.EvalSet // of input.evals
	trainerState
}

// Prepare opens the job's input and builds its model. What is wrong on this
// machine alone shows here, before the others are met.
func Prepare(cfg *job.Config, o Options) (*Trainer, error) {
	if !slices.Contains([]string{"auto", "never", "must"}, o.Resume) {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--resume is %q, want auto, never or must", o.Resume))
	}
	if err := cfg.CheckKernels(); err != nil {
		return nil, err
	}
	opener := records.NewOpener(cfg, records.Options{Roots: o.Roots, CacheDir: o.CacheDir, Notice: o.Notice})
	data, err := opener.Open()
	if err != nil {
		return nil, err
	}
	t, err := newTrainer(cfg, o, data)
	if err == nil {
		t.evals, err = opener.OpenEvals(max(cfg.Model.Features, data.Train.Features()), records.ClassNames(data.Train))
	}
	if err != nil {
		data.Close()
		return nil, err
	}
	return t, nil
}

// newTrainer builds the job's model for data, which the Trainer closes.
func newTrainer(cfg *job.Config, o Options, data records.Set) (*Trainer, error) {
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
	m, err := data.NewModel(cfg)
	if err != nil {
		return nil, err
	}
	t := &Trainer{job: cfg, opts: o, data: data, pending: records.NewLoader(data.Eval), model: m, trainerState: newTrainerState()}
	return t, t.checkMemory(1, 1)
}

// Close releases the input, lets go of the folder of checkpoints, and ends the event file.
func (t *Trainer) Close() error {
	defer t.pending.Wait() // which then ends
	var err error
	if t.folder != nil {
		err = t.folder.Close()
	}
	if t.summary != nil {
		err = errors.Join(err, t.summary.Close())
	}
	return errors.Join(err, t.data.Close(), records.CloseEvals(t.evals))
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
func (t *Trainer) agreedOptions() []job.Option {
	options := slices.DeleteFunc(t.job.Options(), func(o job.Option) bool { return slices.Contains(local, o.Key) })
	for i, e := range t.evals {
		options = append(options, e.Agreed(i)...)
	}
	if s, ok := t.data.Train.(input.Sequential); ok && s.Sequential() {
		options = append(options, job.Option{Key: "input.train.order", Value: "files"}) // of compressed text without a cache
	}
	if t.data.Plan != nil {
		options = append(options, job.Option{Key: "input.columns.learnt", Value: t.data.Plan.LearnedDigest()})
	}
	return append(options,
		job.Option{Key: "input.train.manifest", Value: strings.Join(t.data.Train.Manifest(), " ")},
		job.Option{Key: "input.eval.manifest", Value: strings.Join(t.data.Eval.Manifest(), " ")})
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
	if err := r.setUp(ctx); err != nil {
		return t.reached(), err
	}
	goOn, err := r.carryOut(ctx) // what the generation before has left to do
	if err == nil && goOn {
		err = r.loop.Run(ctx)
	}
	switch {
	case err != nil:
		return r.result(), err
	case r.leaves:
		return r.leave(), nil
	case r.stopped != 0:
		return r.stop(ctx)
	}
	return r.finish(ctx)
}
