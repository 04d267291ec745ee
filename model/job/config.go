package job

import (
	"time"

	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/optimizer"
)

// Auto as the value of a key lets ringtrain choose.
const Auto = "auto"

// Config is what a job file says. A key is the dotted path of a field: the line
// "batch:" under "input:" is the key input.batch, which --set input.batch=64
// and the variable RINGTRAIN_INPUT_BATCH set too. The comments of the fields, here
// and at the types of other packages, are the documentation of the keys; README.md
// has all of them in a table.
type Config struct {
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
	Summary    Summary                  `yaml:"summary"`    // where curves for TensorBoard go

	places map[string]string // in the job file, of lists of groups and what they say
}

// AllReduce says how gradients are summed over the ranks.
type AllReduce struct {
	Codec         string `yaml:"codec"`          // auto (by measurement), none, bf16, fp16, int8, int8u, powersgd or powersgd:RANK
	Bucket        Size   `yaml:"bucket"`         // gradients are summed in buckets of this many bytes; the first is full at 1MiB
	Link          string `yaml:"link"`           // auto, tcp, grpc or shm
	Streams       string `yaml:"streams"`        // TCP connections of a ring to each neighbour: auto (one), or 1 to 4
	Levels        string `yaml:"levels"`         // auto or flat
	Algorithm     string `yaml:"algorithm"`      // over links: auto, or by size as in "<=2KiB:fold,<=32KiB:doubling,ring"
	Order         string `yaml:"order"`          // of the ring: auto, rank, host, measured, or the ranks as in "0,2,1,3"
	ErrorFeedback bool   `yaml:"error_feedback"` // add what a lossy codec lost to the next step
	Lossless      string `yaml:"lossless"`       // none, s2, zstd or huff0 around the codec's bytes
}

// Train says how long training goes on.
type Train struct {
	Epochs int    `yaml:"epochs"` // passes over the training records
	Steps  int64  `yaml:"steps"`  // optimizer steps, instead of train.epochs; 0: by epochs
	Seed   uint64 `yaml:"seed"`   // of initial values, order of records, drawn records

	ClipNorm  float64 `yaml:"clip_norm"`  // bound on the norm of the gradient of all variables; 0: none
	ClipValue float64 `yaml:"clip_value"` // bound on each element of the gradient, before clip_norm; 0: none

	Accumulate   int       `yaml:"accumulate"`    // parts that each rank computes its share of a batch in; the update is one
	ClassWeights []float64 `yaml:"class_weights"` // what an example of each class counts; empty: 1
	Average      Average   `yaml:"average"`       // a moving average of the variables

	Kernels  string   `yaml:"kernels"`   // auto (the highest set that all ranks have), portable, avx2 or avx512
	InitFrom InitFrom `yaml:"init_from"` // where a fresh run has its first values from

	EarlyStopping EarlyStopping `yaml:"early_stopping"` // when the run ends before its steps are done

	CheckEvery int64 `yaml:"check_every"` // steps between comparisons of the replicas; 0: only before checkpoints and at the end
}

// Eval says when the model is evaluated; it always is at the end.
type Eval struct {
	Every       Every `yaml:"every"`       // steps or a duration; 0: at the end only
	Progressive bool  `yaml:"progressive"` // report loss and AUC of the first epoch's records before they are learned
	TopK        int   `yaml:"top_k"`       // an example counts for top_k if its class has one of so many largest scores; 0: none does
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

// Summary says where rank 0 writes curves for TensorBoard.
type Summary struct {
	Dir string `yaml:"dir"` // folder, on rank 0's disk; empty: none are written
}

// DefaultJob returns a job with every key at its default.
func Default() Config {
	return Config{
		Input: Input{
			Batch: 100, Shuffle: true, Prefetch: 2, Cache: Auto, MaxFeatures: input.DefaultMaxFeatures, MaxInflate: input.DefaultMaxInflate,
		},
		Loss:      model.LossConfig{Kind: "auto", Reduction: "mean"},
		Optimizer: optimizer.Config{Name: "sgd"},
		Schedule:  optimizer.ScheduleConfig{Kind: "constant"},
		AllReduce: AllReduce{
			Codec: "auto", Bucket: 4 << 20, Link: "auto", Streams: Auto, Levels: "auto",
			Algorithm: "auto", Order: "auto", ErrorFeedback: true, Lossless: "none",
		},
		Train:      Train{Accumulate: 1, EarlyStopping: EarlyStopping{Metric: "loss"}, Epochs: 1, Seed: 1, CheckEvery: 1000, Kernels: Auto},
		Eval:       Eval{TopK: 5},
		Log:        Log{Every: Every{Duration: time.Second}},
		Checkpoint: Checkpoint{Keep: 2},
	}
}

// globalBatch is the number of examples of a step over so many ranks.
func (j *Config) GlobalBatch(size int) int {
	if j.Input.LocalBatch > 0 {
		return j.Input.LocalBatch * size
	}
	return j.Input.Batch
}
