package job

import (
	"time"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/optimizer"
)

// Auto as the value of a key lets ringtrain choose.
const Auto = "auto"

// The values of export.if.
const (
	Sound  = "sound"  // only a model whose variables are finite, and whose loss is no worse than twice that of a constant prediction
	Always = "always" // any model
)

// Config holds the values of all keys of a job.
//
// A key is the dotted path of a field. The line "batch:" under "input:" is the key input.batch, which
// --set input.batch=64 and the variable RINGTRAIN_INPUT_BATCH set too. The comments of the fields, here
// and at the types of other packages, document the keys. docs/reference.md has a table of all keys.
type Config struct {
	Name       string                   `yaml:"name"`       // name of the job, for the user
	Model      model.Config             `yaml:"model"`      // the model
	Input      Input                    `yaml:"input"`      // the records
	Loss       model.LossConfig         `yaml:"loss"`       // the function to minimize
	Optimizer  optimizer.Config         `yaml:"optimizer"`  // the update rule
	Schedule   optimizer.ScheduleConfig `yaml:"schedule"`   // the learning rate over time
	AllReduce  AllReduce                `yaml:"allreduce"`  // the exchange of gradients
	Train      Train                    `yaml:"train"`      // the length and other options of training
	Eval       Eval                     `yaml:"eval"`       // the evaluation
	Log        Log                      `yaml:"log"`        // the interval of reports
	Checkpoint Checkpoint               `yaml:"checkpoint"` // where the state is saved
	Export     Export                   `yaml:"export"`     // where the serving bundle is written
	Summary    Summary                  `yaml:"summary"`    // where curves for TensorBoard are written

	places map[string]string // key → place in the job file, for lists of groups and the keys in them
}

// AllReduce configures the sum of gradients over the ranks.
type AllReduce struct {
	Codec         string `yaml:"codec"`          // auto (by measurement), none, bf16, fp16, int8, powersgd or powersgd:RANK
	Bucket        Size   `yaml:"bucket"`         // gradients are summed in buckets of this many bytes; the first bucket is full at 1MiB
	Link          string `yaml:"link"`           // auto, tcp or shm
	Levels        string `yaml:"levels"`         // auto or flat
	Algorithm     string `yaml:"algorithm"`      // over links: auto (by size), ring, doubling or halving
	Order         string `yaml:"order"`          // of the ring: auto, rank, host, measured, or the ranks as in "0,2,1,3"
	ErrorFeedback bool   `yaml:"error_feedback"` // add the error of a lossy codec to the next step
	Lossless      string `yaml:"lossless"`       // compressor of the codec's bytes: none or zstd
}

// Train configures training.
type Train struct {
	Epochs int    `yaml:"epochs"` // passes over the training records
	Steps  int64  `yaml:"steps"`  // optimizer steps, instead of train.epochs; 0: by epochs
	Seed   uint64 `yaml:"seed"`   // of initial values, the order of records, and drawn records

	ClipNorm  float64 `yaml:"clip_norm"`  // bound on the norm of the gradient of all variables; 0: none
	ClipValue float64 `yaml:"clip_value"` // bound on each element of the gradient, before clip_norm; 0: none

	Accumulate   int       `yaml:"accumulate"`    // parts in which each rank computes its share of a batch, for one update
	ClassWeights []float64 `yaml:"class_weights"` // weight of an example of each class; empty: 1
	Average      Average   `yaml:"average"`       // a moving average of the variables

	Kernels  string   `yaml:"kernels"`   // auto (the highest set that all ranks have), portable, avx2 or avx512
	InitFrom InitFrom `yaml:"init_from"` // the source of the first values of a fresh run

	EarlyStopping EarlyStopping `yaml:"early_stopping"` // the end of the run before its steps are done

	CheckEvery int64 `yaml:"check_every"` // steps between comparisons of the replicas; 0: only before checkpoints and at the end
}

// Eval configures the evaluation. The model is always evaluated at the end.
type Eval struct {
	Every       Every `yaml:"every"`       // steps or a duration; 0: at the end only
	Progressive bool  `yaml:"progressive"` // report loss and AUC of the first epoch's records before they are learned
	TopK        int   `yaml:"top_k"`       // an example counts for top_k if its class has one of so many largest scores; 0: none does
}

// Log configures reports.
type Log struct {
	Every Every `yaml:"every"` // steps or a duration; 0: never
}

// Checkpoint says where and when rank 0 saves the state.
type Checkpoint struct {
	Dir   string `yaml:"dir"`   // folder, on rank 0's disk; empty: none is written
	Every Every  `yaml:"every"` // steps or a duration; 0: at the end only
	Keep  int    `yaml:"keep"`  // number of checkpoints that are kept
}

// Export names the exports that rank 0 writes at the end.
type Export struct {
	SavedModel string `yaml:"savedmodel"` // base folder of the serving bundle; empty: none
	If         string `yaml:"if"`         // sound or always: whether a model that has diverged is exported
}

// Summary says where rank 0 writes curves for TensorBoard.
type Summary struct {
	Dir string `yaml:"dir"` // folder, on rank 0's disk; empty: none are written
}

// Default returns a job with every key at its default.
func Default() Config {
	return Config{
		Input: Input{
			Batch: 100, Shuffle: true, Prefetch: 2, Cache: Auto, MaxFeatures: input.DefaultMaxFeatures, MaxInflate: input.DefaultMaxInflate,
		},
		Loss:      model.LossConfig{Kind: "auto", Reduction: "mean"},
		Optimizer: optimizer.Config{Name: "sgd"},
		Schedule:  optimizer.ScheduleConfig{Kind: "constant"},
		AllReduce: AllReduce{
			Codec: "auto", Bucket: 4 << 20, Link: "auto", Levels: "auto",
			Algorithm: "auto", Order: "auto", ErrorFeedback: true, Lossless: "none",
		},
		Train:      Train{Accumulate: 1, EarlyStopping: EarlyStopping{Metric: "loss"}, Epochs: 1, Seed: 1, CheckEvery: 1000, Kernels: Auto},
		Eval:       Eval{TopK: 5},
		Log:        Log{Every: Every{Duration: time.Second}},
		Export:     Export{If: Sound},
		Checkpoint: Checkpoint{Every: Every{Duration: 10 * time.Minute}, Keep: 2},
	}
}

// GlobalBatch returns the number of examples of a step over so many ranks.
func (j *Config) GlobalBatch(size int) int {
	if j.Input.LocalBatch > 0 {
		return j.Input.LocalBatch * size
	}
	return j.Input.Batch
}
