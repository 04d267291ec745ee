package job

import (
	"reflect"

	"ringtrain/model"
	"ringtrain/model/keys"
	"ringtrain/model/optimizer"
)

// Auto as the value of a key lets ringtrain choose.
const Auto = "auto"

// Config holds the values of all keys of a job.
//
// A key is the dotted path of a field. The line "batch:" under "input:" is the key input.batch, which
// --set input.batch=64 and the variable RINGTRAIN_INPUT_BATCH set too. The comments of the fields, here
// and at the types of other packages, document the keys. docs/reference.md has a table of all keys.
type Config struct {
	Name       string                   `yaml:"name" doc:"Name of the job, for people."`
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
	places     map[string]string        // key → place in the job file, for lists of groups and the keys in them
}

// AllReduce configures the sum of gradients over the ranks.
type AllReduce struct {
	Codec         Codec     `yaml:"codec" default:"auto" doc:"What gradients are between hosts. auto measures the link and the codecs in the first 3 steps. It picks none, bf16, fp16 or int8, says why (‘decision’), and keeps to it, also after a resume. Tables travel by rows whatever the codec is; powersgd is for large matrices."`
	Bucket        Size      `yaml:"bucket" default:"4MiB" takes:"4KiB or more" doc:"Gradients leave in buckets of so many bytes while backward goes on. The first one is full at 1MiB."`
	Link          string    `yaml:"link" default:"auto" takes:"auto, tcp, shm" doc:"Links between workers. shm is an error unless memory is enough."`
	Levels        string    `yaml:"levels" default:"auto" takes:"auto, flat" doc:"auto: in memory within a host, over links between hosts. flat: one ring of all ranks over links, whatever hosts they are on."`
	Algorithm     Algorithm `yaml:"algorithm" default:"auto" doc:"Algorithm over links. auto takes doubling up to 32 KiB, halving up to 512 KiB if the ranks are a power of two, and the ring."`
	Order         string    `yaml:"order" default:"auto" takes:"auto, rank, host, or a list such as \"0,2,1,3\"" doc:"Order of the ring. auto and host visit host by host. ‘ringtrain doctor’ prints the best order, as a list."`
	ErrorFeedback bool      `yaml:"error_feedback" default:"true" doc:"What a lossy codec loses is added to the next step. No codec touches the rows of tables."`
	Lossless      Lossless  `yaml:"lossless" default:"none" doc:"Compressor around the codec's bytes."`
	Security      string    `yaml:"security" default:"tls" takes:"tls, auth" doc:"How gradients travel between hosts. tls: encrypted, and nobody on the path can change a byte. auth: both ends prove the token, then send in clear with checksums; for isolated fast networks. The rendezvous always uses TLS."`
}

// Train configures training.
type Train struct {
	Epochs        int           `yaml:"epochs" default:"1" takes:"1 to 1073741824" doc:"Passes over the training records."`
	Steps         int64         `yaml:"steps" takes:"0 or more" doc:"Steps of the run. Above 0 it replaces train.epochs."`
	Seed          uint64        `yaml:"seed" default:"1" takes:"0 or more" doc:"Seed of initial values, order of records, dropout and drawn records."`
	ClipNorm      float64       `yaml:"clip_norm" takes:"0 or more" doc:"Bound on the norm of the summed gradient over all variables. 0: none."`
	ClipValue     float64       `yaml:"clip_value" takes:"0 or more" doc:"Bound on each element of the summed gradient, before train.clip_norm. 0: none."`
	Accumulate    int           `yaml:"accumulate" default:"1" takes:"1 to 1073741824" doc:"Parts that each rank computes its share of a batch in, one after the other, with the memory of one part. input.batch stays the examples of an update."`
	ClassWeights  []ClassWeight `yaml:"class_weights" takes:"a weight of 0 or more for each class, or {NAME: WEIGHT}" doc:"What an example of each class counts, in the order of the classes, or by their names, such as {yes: 5}; a class that is not named counts 1. It is so in the gradient and in the printed loss. The mean divides by the number of examples all the same."`
	Average       Average       `yaml:"average"` // a moving average of the variables
	Kernels       Kernels       `yaml:"kernels" default:"auto" doc:"Arithmetic of all ranks. auto is the highest set that all ranks have, in each generation. A change says so (‘decision’), as does a resume on another set. A rank without the set that is named ends the job before it starts (64). With auto, ‘eval’, ‘predict’ and ‘export’ take the set of the checkpoint."`
	InitFrom      InitFrom      `yaml:"init_from"`      // the source of the first values of a fresh run
	EarlyStopping EarlyStopping `yaml:"early_stopping"` // the end of the run before its steps are done
	CheckEvery    int64         `yaml:"check_every" default:"1000" takes:"0 or more" doc:"Steps between comparisons of digests of the ranks' variables. The ranks compare them before each checkpoint, too. A rank that differs is named, with exit code 81. 0: before checkpoints and at the end alone."`
}

// Eval configures the evaluation. With validation records the model is always evaluated at the end.
type Eval struct {
	Every       Every     `yaml:"every" doc:"Interval of evaluations. 0: at the end only. The end has one anyway, if there are validation records, behind the checkpoint. A failure amid training is a warning, and the next interval tries again; at the end it is 65."`
	Progressive bool      `yaml:"progressive" doc:"In the first epoch, loss and AUC of records before they are learned, as Vowpal Wabbit's: events ‘progressive’. They come after 1, 2, 4, … batches and at the epoch's end."`
	Training    bool      `yaml:"training" doc:"Without validation records the training records are evaluated in their place. Such metrics say nothing of new records."`
	Threshold   Threshold `yaml:"threshold" default:"0.5" takes:"0 or more and below 1, or best_f1" doc:"Of two classes, a record is predicted as the second if its score is above it: this decides ‘class’, accuracy, precision, recall, F1 and confusion. best_f1: the threshold of the best F1 of the validation records; the checkpoint and the bundle keep it."`
	TopK        int       `yaml:"top_k" default:"5" takes:"0 to 1048576" doc:"An example counts for ‘top_k’ if its class has one of so many largest scores. 0: none is counted. A model of no more classes has no ‘top_k’."`
}

// Log configures reports.
type Log struct {
	Every   Every `yaml:"every" default:"1s" doc:"Interval of lines about a step. 0: never."`
	History bool  `yaml:"history" default:"true" doc:"Rank 0 keeps the events of the run in ‘history.jsonl’ in checkpoint.dir, for ‘ringtrain report’."`
}

// Checkpoint says where and when rank 0 saves the state.
type Checkpoint struct {
	Dir   string `yaml:"dir" doc:"Folder of the checkpoints, on rank 0's disk. Empty: none are written. One job at a time may have the folder. Another is refused (138) and told by whom, until the holder has ended or has shown no sign for 30 s."`
	Every Every  `yaml:"every" default:"10m" doc:"Interval of checkpoints. 0: at the end only. The end has one anyway, before the evaluation, and so has the loss of a rank that ends the job. A failure amid training is a warning, and the next interval tries again; at the end it is 74."`
	Keep  int    `yaml:"keep" default:"2" takes:"1 or more" doc:"Checkpoints that are kept."`
}

// Export names the exports that rank 0 writes at the end.
type Export struct {
	SavedModel string `yaml:"savedmodel" doc:"Folder of the serving bundle, on rank 0's disk. Empty: none is written."`
	If         Guard  `yaml:"if" default:"sound" takes:"sound, always, or conditions such as [auc >= 0.6]" doc:"sound: a model is not exported if a variable is not finite, or if the loss of the last evaluation is more than twice that of a constant prediction (the share of each class, or the mean). Labels that are all equal decide nothing. Conditions hold beside sound, each of a metric of the evaluation, one of >=, >, <= and <, and a number; without an evaluation they do not hold. A job whose model does not hold them ends with 80, and the checkpoint is kept. always: any model is exported."`
	Keep       int    `yaml:"keep" takes:"0 or more" doc:"Versions in the folder that are kept. The oldest go when a new one is there. 0: all are kept."`
}

// Summary says where rank 0 writes curves for TensorBoard.
type Summary struct {
	Dir string `yaml:"dir" doc:"Folder of curves for TensorBoard, on rank 0's disk. Empty: none are written. ‘tensorboard --logdir DIR’ shows them. A run that resumes goes on in the same folder; another run wants a folder of its own."`
}

// Default returns a job with every key at its default.
func Default() Config { return keys.New(reflect.TypeFor[Config]()).Interface().(Config) }

// GlobalBatch returns the number of examples of a step over so many ranks.
func (cfg *Config) GlobalBatch(size int) int {
	if cfg.Input.LocalBatch > 0 {
		return cfg.Input.LocalBatch * size
	}
	return cfg.Input.Batch
}
