package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringtrain/export/savedmodel"
	"ringtrain/input"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Options are what a worker needs besides its job.
type Options struct {
	Roots   []string // folders in which relative input files are looked for, in turn
	Resume  string   // use of the newest checkpoint: auto, never or must
	Version string   // of the binary

	CacheDir string // folder of parsed records if input.cache is auto; "": none

	Trace  report.Trace         // receives the events
	Past   func(report.Stamped) // receives the events of earlier attempts before the start, on rank 0; may be nil
	Notice func(string)         // receives messages for the user; may be nil

	// Checkpoint reports whether this rank asks for a checkpoint after the coming step. Each true is one
	// request. May be nil.
	Checkpoint func() bool
}

// Team joins a worker to the others: the group, and its connection to the rendezvous.
type Team struct {
	Group      *ring.Group
	Rendezvous string // address, "" for world size 1
	Link       string // medium of the data: shm, tcp, shm+tcp, none
	Cores      int    // number of cores for this rank, from ShareCores; 0: as many as GOMAXPROCS

	Lost  []int       // ranks that the generation before has lost
	Cause *ring.Cause // of its end, with the last step that a rank is known to have completed; nil in the first generation

	// Stop ends when all ranks are told to stop, and Leave when this rank alone is told to leave. Their
	// causes have the exit codes. Nil: never.
	Stop, Leave context.Context

	// Progress receives each completed step and each change of phase: restore, warm-up, train, evaluate,
	// checkpoint, export, end. It must not block. May be nil.
	Progress func(step int64, phase string)

	// Reached reports whether the rendezvous hears this rank, without which no generation can follow. It
	// must not block. Nil: always.
	Reached func() bool

	Keys KeyLimits
}

// Result describes how a run ended.
type Result struct {
	Digest  string // of the variables, in hex
	Stopped int    // exit code of the signal that stopped the run, 0 if the run completed its steps
	Alone   bool   // only this rank stopped; the others continue
	Step    int64  // last completed step, -1 before training
}

// Trainer is one rank of a job before it joins the others: its input is open and its model is built.
// Between two generations it keeps the state of this process.
type Trainer struct {
	job  *job.Config
	opts Options
	data records.Set
	replica
	eval     evaluation
	outputs  outputs
	reporter reporter
	choice   codecChoice

	repeated        []string // notices of names of files, for the start
	wantsCheckpoint bool     // Options.Checkpoint has asked for one, and no step has agreed on it yet

	sent, sentBetween int64 // bytes, in the generations before
	memory            memory
}

// Prepare opens the job's input and builds its model. It reports faults of this machine before the
// ranks meet.
func Prepare(ctx context.Context, cfg *job.Config, o Options) (*Trainer, error) {
	if !slices.Contains([]string{"auto", "never", "must"}, o.Resume) {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--resume is %q, want auto, never or must", o.Resume))
	}
	if err := cfg.CheckKernels(); err != nil {
		return nil, err
	}
	own := *cfg // with the classes that its records have
	cfg = &own
	var repeated []string
	data, err := records.NewOpener(cfg, records.Options{
		Roots: o.Roots, CacheDir: o.CacheDir, Share: true, Notice: o.Notice, Repeated: func(text string) { repeated = append(repeated, text) },
	}).Open(ctx)
	if err != nil {
		return nil, err
	}
	t, err := newTrainer(cfg, o, data)
	if err != nil {
		data.Close()
		return nil, err
	}
	t.repeated = repeated
	return t, nil
}

// newTrainer builds the job's model for data. The Trainer closes data.
func newTrainer(cfg *job.Config, o Options, data records.Set) (*Trainer, error) {
	if o.Checkpoint == nil {
		o.Checkpoint = func() bool { return false }
	}
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Past == nil {
		o.Past = func(report.Stamped) {}
	}
	m, err := data.NewModel(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Export.SavedModel != "" {
		if err := savedmodel.CheckColumns(m.Graph().Columns); err != nil {
			return nil, cfg.Locate(err)
		}
	}
	t := &Trainer{
		job: cfg, opts: o, data: data, replica: replica{model: m}, eval: newEvaluation(cfg, data, m),
		outputs: outputs{saved: saved{step: -1}}, reporter: reporter{trace: o.Trace, notice: o.Notice, absent: map[string]bool{}},
	}
	return t, t.checkMemory(1, 1)
}

// Close closes the input, the folder of checkpoints with its history, and the event file.
func (t *Trainer) Close() error {
	defer t.eval.loader.Wait() // closed data ends its reading
	err := t.reporter.closeHistory()
	if t.outputs.folder != nil {
		err = errors.Join(err, t.outputs.folder.Close())
	}
	return errors.Join(err, t.reporter.curves.close(), t.data.Close())
}

// Agree returns the options that must be equal on all ranks, as "key=value" lines. The records of large
// text are counted later, when the ranks have met. A value that is not printable is quoted: two such
// values would be one foreign text.
func (t *Trainer) Agree() []string {
	var lines []string
	for _, o := range append(t.agreedOptions(), t.data.Elsewhere...) {
		value := t.uncounted(o)
		if phrase.Foreign(value, len(value)) != value {
			value = strconv.Quote(value)
		}
		lines = append(lines, aboutFiles(o.Key)+"="+value)
	}
	return append(lines, "variables="+t.shapes())
}

// local are the keys that may differ between ranks and between runs of one job: paths on a disk, and
// options that only rank 0 uses.
var local = []string{
	"input.train.files", "input.train.images", "input.train.labels",
	"input.eval.files", "input.eval.images", "input.eval.labels", "input.evals",
	"input.prefetch", "input.cache", "input.cache_size", "input.s3.region", "input.s3.path_style", "input.s3.anonymous", "input.max_bad_records", "input.max_features", "input.max_inflate", "eval.every", "log.every", "log.history",
	"train.init_from.path", "train.init_from.include", "train.init_from.exclude",
	"checkpoint.dir", "checkpoint.every", "checkpoint.keep", "export.savedmodel", "export.if", "export.keep", "summary.dir",
}

// agreedOptions returns the options that must be equal on all ranks and in all runs of a job, with the
// manifests of the data.
func (t *Trainer) agreedOptions() []job.Option {
	options := slices.DeleteFunc(t.job.Options(), func(o job.Option) bool { return slices.Contains(local, o.Key) })
	for i, e := range t.data.Evals {
		options = append(options, e.Agreed(i)...)
	}
	if t.data.Train.Facts().Sequential {
		options = append(options, job.Option{Key: "input.train.order", Value: "files"}) // compressed text without a cache
	}
	if t.data.Plan != nil {
		options = append(options, job.Option{Key: "input.columns.learnt", Value: t.data.Plan.LearnedDigest()})
	}
	if t.job.Model.Classes.IsAuto() || t.job.Model.Classes.File() != "" {
		options = append(options, job.Option{Key: "model.classes.learnt", Value: strings.Join(t.job.Model.Names(), ", ")})
	}
	for _, c := range t.countables() {
		options = append(options, job.Option{Key: c.key, Value: input.ManifestText(c.data.Facts().Manifest)})
	}
	return options
}

// shapes describes the variables on one line.
func (t *Trainer) shapes() string {
	var b strings.Builder
	for _, v := range t.model.Variables() {
		fmt.Fprintf(&b, " %s%v", v.Name, v.Shape)
	}
	return strings.TrimPrefix(b.String(), " ")
}

// Run trains with the team until the job is done, a signal stops all ranks after one agreed step, this
// rank leaves, or an error occurs. All ranks call it. They call it again with the team of the next
// generation when a generation has ended. They also do so after Run returned, if the ranks did not
// agree on the end.
//
// The state of this process survives a generation. The newest state among the ranks is sent to all
// ranks that are behind, so at most the step in flight is repeated, without a disk. With an exact
// codec, the same world size and the same layout the run has the bits of a run without an
// interruption. Residuals of a lossy codec and the directions of powersgd start again.
//
// While no step is under way, a signal ends the work of this rank at once. Before the first step Run then
// returns the cause of Team.Stop or Team.Leave; see also [Trainer.Lost]. After the last step the state is
// saved, and what is left to do comes with the next start of the job. After an error of the job itself,
// with an exit code below 128, another call is of no use.
func (t *Trainer) Run(ctx context.Context, team Team) (Result, error) {
	s, release := signalsOf(ctx, team)
	defer release()
	result, err := t.run(ctx, s, team)
	if err != nil && exitcode.Of(err) >= exitcode.Interrupted {
		err = cmp.Or(s.told(), err) // what failed, failed for the signal
	}
	return result, err
}

func (t *Trainer) run(ctx context.Context, s signals, team Team) (Result, error) {
	if err := t.count(s.any, team.Group); err != nil {
		return t.reached(), err
	}
	r, err := t.newRun(s.any, team)
	if err != nil {
		return t.reached(), err
	}
	defer r.close()
	r.signals = s
	if err := r.setUp(ctx); err != nil {
		return t.reached(), err
	}
	goOn, err := r.carryOut(ctx) // requests left by the generation before
	if err == nil && goOn {
		err = r.loop.Run(ctx)
	}
	switch {
	case err != nil:
		return r.result(), err
	case r.leaves:
		return r.leave()
	case r.stopped != 0:
		return r.stop(ctx)
	}
	return r.finish(ctx)
}
