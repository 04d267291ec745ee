package train

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringtrain/model"
	"ringtrain/model/optimizer"
	"ringtrain/ring/codec"
)

// Job is what a job file says. A key is the dotted path of a field: the line
// "batch:" under "input:" is the key input.batch, which --set input.batch=64
// and the variable RINGTRAIN_INPUT_BATCH set too. The comments of the fields
// are the documentation of the keys.
type Job struct {
	Name       string                   `yaml:"name"`       // name of the job, for people
	Model      model.Config             `yaml:"model"`      // what is trained
	Input      Input                    `yaml:"input"`      // what it is trained on
	Loss       model.LossConfig         `yaml:"loss"`       // what is made small
	Optimizer  optimizer.Config         `yaml:"optimizer"`  // how variables move
	Schedule   optimizer.ScheduleConfig `yaml:"schedule"`   // how the learning rate moves
	AllReduce  AllReduce                `yaml:"allreduce"`  // how gradients are summed
	Train      Train                    `yaml:"train"`      // how long
	Eval       Eval                     `yaml:"eval"`       // when it is evaluated
	Log        Log                      `yaml:"log"`        // when it is reported
	Checkpoint Checkpoint               `yaml:"checkpoint"` // where state is saved
	Export     Export                   `yaml:"export"`     // where the serving bundle goes
}

// Input says which records are read and how they make batches.
type Input struct {
	Train      Files `yaml:"train"`       // training records
	Eval       Files `yaml:"eval"`        // validation records; none: evaluation is on the training records
	Batch      int   `yaml:"batch"`       // examples per step over all ranks
	LocalBatch int   `yaml:"local_batch"` // examples per step on each rank, instead of input.batch
	Shuffle    bool  `yaml:"shuffle"`     // another order in each epoch, from train.seed alone
	Prefetch   int   `yaml:"prefetch"`    // batches read ahead
	Synthetic  bool  `yaml:"synthetic"`   // ringtrain draws the records itself, from train.seed
}

// Files names the files of one data set, relative to the data folder, and what
// their records look like.
type Files struct {
	Format      string   `yaml:"format"`      // idx, tfrecord or libsvm
	Files       []string `yaml:"files"`       // tfrecord, libsvm: files or globs
	Images      string   `yaml:"images"`      // idx: file of images
	Labels      string   `yaml:"labels"`      // idx: file of labels
	Label       string   `yaml:"label"`       // tfrecord: name of the feature that holds the label
	IDs         string   `yaml:"ids"`         // tfrecord: name of the feature that holds sparse ids
	Values      string   `yaml:"values"`      // tfrecord: name of the feature that holds the values
	Compression string   `yaml:"compression"` // tfrecord: auto, none, gzip or zlib
	Base        int      `yaml:"base"`        // libsvm: subtracted from ids
}

// AllReduce says how gradients are summed over the ranks.
type AllReduce struct {
	Codec         string `yaml:"codec"`          // none, bf16, fp16 or int8
	Bucket        Size   `yaml:"bucket"`         // gradients are summed in buckets of this many bytes
	Link          string `yaml:"link"`           // auto, tcp or grpc
	Levels        string `yaml:"levels"`         // auto or flat
	Algorithm     string `yaml:"algorithm"`      // auto or ring
	ErrorFeedback bool   `yaml:"error_feedback"` // add what a lossy codec lost to the next step
	Lossless      string `yaml:"lossless"`       // none, s2 or zstd around the codec's bytes
}

// Train says how long training goes on.
type Train struct {
	Epochs int    `yaml:"epochs"` // passes over the training records
	Steps  int64  `yaml:"steps"`  // optimizer steps, instead of train.epochs; 0: by epochs
	Seed   uint64 `yaml:"seed"`   // of initial values, order of records, drawn records
}

// Eval says when the model is evaluated; it always is at the end.
type Eval struct {
	Every Every `yaml:"every"` // steps or a duration; 0: at the end only
}

// Log says how often training is reported.
type Log struct {
	Every Every `yaml:"every"` // steps or a duration; 0: never
}

// Checkpoint says where and when rank 0 saves the state.
type Checkpoint struct {
	Dir   string `yaml:"dir"`   // folder, on rank 0's disk; empty: none is written
	Every Every  `yaml:"every"` // steps or a duration; 0: at the end only
	Keep  int    `yaml:"keep"`  // how many are kept
}

// Export says which exports rank 0 writes at the end.
type Export struct {
	SavedModel string `yaml:"savedmodel"` // base folder of the serving bundle; empty: none
}

// DefaultJob returns a job with every key at its default.
func DefaultJob() Job {
	return Job{
		Input:     Input{Batch: 100, Shuffle: true, Prefetch: 2},
		Loss:      model.LossConfig{Kind: "auto", Reduction: "mean"},
		Optimizer: optimizer.Config{Name: "sgd"},
		Schedule:  optimizer.ScheduleConfig{Kind: "constant"},
		AllReduce: AllReduce{
			Codec: "none", Bucket: 4 << 20, Link: "auto", Levels: "auto",
			Algorithm: "auto", ErrorFeedback: true, Lossless: "none",
		},
		Train:      Train{Epochs: 1, Seed: 1},
		Log:        Log{Every: Every{Steps: 100}},
		Checkpoint: Checkpoint{Keep: 2},
	}
}

// Check returns all that is wrong with the job at once. Each error begins with
// the key that it is about.
func (j *Job) Check() error {
	return errors.Join(
		j.Model.Check(),
		j.Input.check(j.Model.Kind == "sparse-linear"),
		j.checkLoss(),
		j.Optimizer.Check(),
		j.AllReduce.Check(),
		j.checkNumbers(),
	)
}

func (j *Job) checkLoss() error {
	if j.Model.Check() != nil {
		return nil // said already
	}
	_, err := model.ParseLoss(j.Loss, j.Model)
	return err
}

func (j *Job) checkNumbers() error {
	var errs []error
	want := func(ok bool, key string, value any, rule string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s is %v, want %s", key, value, rule))
		}
	}
	want(j.Train.Epochs >= 1 || j.Train.Steps > 0, "train.epochs", j.Train.Epochs, "1 or more")
	want(j.Train.Steps >= 0, "train.steps", j.Train.Steps, "0 or more")
	want(j.Checkpoint.Keep >= 1, "checkpoint.keep", j.Checkpoint.Keep, "1 or more")
	_, err := optimizer.NewSchedule(j.Schedule, 1, 1)
	return errors.Join(append(errs, err)...)
}

func (in *Input) check(sparse bool) error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if in.Batch < 1 && in.LocalBatch == 0 {
		add("input.batch is %d, want 1 or more", in.Batch)
	}
	if in.LocalBatch < 0 {
		add("input.local_batch is %d, want 0 or more", in.LocalBatch)
	}
	if in.Prefetch < 0 {
		add("input.prefetch is %d, want 0 or more", in.Prefetch)
	}
	if in.Synthetic {
		return errors.Join(errs...)
	}
	if in.Train.Format == "" {
		add("input.train.format is empty, want one of %s (or input.synthetic: true)", strings.Join(formats, ", "))
	}
	errs = append(errs, in.Train.check("input.train", sparse), in.Eval.check("input.eval", sparse))
	return errors.Join(errs...)
}

var formats = []string{"idx", "tfrecord", "libsvm"}

func (f *Files) check(key string, sparse bool) error {
	var errs []error
	add := func(format string, args ...any) { errs = append(errs, fmt.Errorf(key+"."+format, args...)) }
	switch f.Format {
	case "":
		if len(f.Files) > 0 || f.Images != "" || f.Labels != "" {
			add("format is empty, want one of %s", strings.Join(formats, ", "))
		}
	case "idx":
		if f.Images == "" {
			add("images is empty, want the file of images")
		}
		if f.Labels == "" {
			add("labels is empty, want the file of labels")
		}
		if sparse {
			add("format is idx, want tfrecord or libsvm: model.kind sparse-linear reads sparse records")
		}
	case "tfrecord", "libsvm":
		if len(f.Files) == 0 {
			add("files is empty, want at least one file")
		}
		if f.IDs != "" && !sparse {
			add("ids is %s, want none: the model reads dense records", f.IDs)
		}
	case "csv", "parquet":
		add("format %s is not built yet, want one of %s", f.Format, strings.Join(formats, ", "))
	default:
		add("format is %s, want one of %s", f.Format, strings.Join(formats, ", "))
	}
	if !slices.Contains([]string{"", "auto", "none", "gzip", "zlib"}, f.Compression) {
		add("compression is %s, want one of auto, none, gzip, zlib", f.Compression)
	}
	return errors.Join(errs...)
}

// Check returns all that is wrong with a at once.
func (a *AllReduce) Check() error {
	var errs []error
	oneOf := func(key, value string, built, later []string) {
		switch {
		case slices.Contains(built, value):
		case slices.Contains(later, value):
			errs = append(errs, fmt.Errorf("%s %s is not built yet, want one of %s", key, value, strings.Join(built, ", ")))
		default:
			errs = append(errs, fmt.Errorf("%s is %s, want one of %s", key, value, strings.Join(built, ", ")))
		}
	}
	if _, err := codec.Parse(a.Codec); err != nil {
		errs = append(errs, fmt.Errorf("allreduce.codec is %s: %w", a.Codec, err))
	}
	if _, err := codec.ParseCompressor(a.Lossless); err != nil {
		errs = append(errs, fmt.Errorf("allreduce.lossless is %s: %w", a.Lossless, err))
	}
	oneOf("allreduce.link", a.Link, []string{"auto", "tcp", "grpc"}, []string{"shm"})
	oneOf("allreduce.levels", a.Levels, []string{"auto", "flat"}, nil)
	oneOf("allreduce.algorithm", a.Algorithm, []string{"auto", "ring"}, []string{"fold", "doubling", "rabenseifner"})
	if a.Bucket < 4<<10 {
		errs = append(errs, fmt.Errorf("allreduce.bucket is %d, want 4KiB or more", a.Bucket))
	}
	return errors.Join(errs...)
}

// Every is a number of steps or a duration. The zero Every is never.
type Every struct {
	Steps    int64
	Duration time.Duration
}

// UnmarshalText reads "100" or "60s".
func (e *Every) UnmarshalText(text []byte) error {
	s := string(text)
	var steps int64
	if _, err := fmt.Sscanf(s+"\n", "%d\n", &steps); err == nil && steps >= 0 {
		*e = Every{Steps: steps}
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return fmt.Errorf("is %s, want a number of steps or a duration such as 60s", s)
	}
	*e = Every{Duration: d}
	return nil
}

// String is the form that UnmarshalText reads.
func (e Every) String() string {
	if e.Duration > 0 {
		return e.Duration.String()
	}
	return fmt.Sprint(e.Steps)
}

// MarshalText is the form that UnmarshalText reads.
func (e Every) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// due tells whether it is time: steps are done in all, and since the last time
// that long ago.
func (e Every) due(steps int64, since time.Duration) bool {
	return e.Steps > 0 && steps%e.Steps == 0 || e.Duration > 0 && since >= e.Duration
}

// Size is a number of bytes.
type Size int

// UnmarshalText reads "4194304", "4MiB" or "512KiB".
func (s *Size) UnmarshalText(text []byte) error {
	t, unit := string(text), 1
	for suffix, u := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if rest, ok := strings.CutSuffix(t, suffix); ok {
			t, unit = rest, u
		}
	}
	var n int
	if _, err := fmt.Sscanf(t+"\n", "%d\n", &n); err != nil || n < 0 || n > 1<<40/unit {
		return fmt.Errorf("is %s, want a number of bytes such as 4MiB", text)
	}
	*s = Size(n * unit)
	return nil
}
