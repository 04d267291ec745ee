package report

import (
	"encoding/json"
	"math"
	"time"
)

// An Event is a fact about a run, for users and their programs. The JSON form of each event is one line
// of --json; programs rely on the names of its fields.
type Event interface{ Kind() string }

// Trace receives the events of a run, in order.
type Trace func(Event)

// Seconds is a duration that prints as a number of seconds.
type Seconds time.Duration

// MarshalJSON writes seconds as a plain number.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(s).Seconds())
}

// UnmarshalJSON is the inverse of MarshalJSON, to the nanosecond.
func (s *Seconds) UnmarshalJSON(text []byte) error {
	var seconds float64
	if err := json.Unmarshal(text, &seconds); err != nil {
		return err
	}
	*s = Seconds(math.Round(seconds * float64(time.Second)))
	return nil
}

// Number is a float64 whose NaN and infinities have the JSON form of strings, because JSON has no such
// numbers.
type Number float64

// MarshalJSON writes a plain number, or "NaN", "+Inf", "-Inf".
func (n Number) MarshalJSON() ([]byte, error) {
	f := float64(n)
	switch {
	case math.IsNaN(f):
		return []byte(`"NaN"`), nil
	case math.IsInf(f, 1):
		return []byte(`"+Inf"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-Inf"`), nil
	}
	return json.Marshal(f)
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (n *Number) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case `"NaN"`:
		*n = Number(math.NaN())
	case `"+Inf"`:
		*n = Number(math.Inf(1))
	case `"-Inf"`:
		*n = Number(math.Inf(-1))
	default:
		return json.Unmarshal(text, (*float64)(n))
	}
	return nil
}

// Start is the first event of a run: the job, the ranks and the options in force.
type Start struct {
	Job          string `json:"job"`
	JobID        string `json:"job_id"`
	Version      string `json:"version"`
	WorldSize    int    `json:"world_size"`
	Hosts        int    `json:"hosts"`
	Generation   uint64 `json:"generation"`
	Rendezvous   string `json:"rendezvous"` // its address; "" at world size 1
	Codec        string `json:"codec"`      // in force; auto until one is chosen
	Link         string `json:"link"`       // as Team.Link
	Levels       string `json:"levels"`     // as ring.Group's Levels: flat, host, two
	Algorithm    string `json:"algorithm"`  // table by size; none if nothing goes over links
	Seed         uint64 `json:"seed"`
	GlobalBatch  int    `json:"global_batch"` // examples
	Variables    int    `json:"variables"`
	Parameters   int    `json:"parameters"`    // elements of all variables
	RestoredStep int64  `json:"restored_step"` // 0: no checkpoint was restored
	Cores        int    `json:"cores"`         // number of cores of rank 0
	Kernels      string `json:"kernels"`       // kernel set of all ranks

	Model         string            `json:"model"`             // its kind, as in model.kind
	Records       int64             `json:"records"`           // of training
	EvalRecords   int64             `json:"eval_records"`      // of validation
	Epochs        int64             `json:"epochs"`            // 0: train.steps decides
	Steps         int64             `json:"steps"`             // of the whole run
	CheckpointDir string            `json:"checkpoint_dir"`    // "" for none
	Options       map[string]string `json:"options,omitempty"` // keys that are not at their default
}

// Generation reports that a run goes on with the next generation of its ranks.
type Generation struct {
	Generation    uint64 `json:"generation"`
	WorldSize     int    `json:"world_size"`
	Lost          []int  `json:"lost"`                // ranks; empty if only a link broke
	Cause         string `json:"cause"`               // of the end of the generation before
	RestoredStep  int64  `json:"restored_step"`       // after which this generation goes on
	StepsRepeated int64  `json:"steps_repeated"`      // completed steps after restored_step, whose state no living rank has
	Forgotten     bool   `json:"forgotten,omitempty"` // no living rank has the state of the generation before
	Residuals     string `json:"residuals,omitempty"` // codec whose residuals begin anew
}

// Decision reports a choice that a run made by itself.
type Decision struct {
	What   string `json:"what"` // "codec", "order", "kernels", "stop", "tables"
	Choice string `json:"choice"`
	Why    string `json:"why"`

	// Predicted and Achieved are the time per step in which training waits for the exchange: by the
	// model of the choice, and by measurement after the choice. 0 if nothing was measured.
	Predicted Seconds `json:"predicted_s"`
	Achieved  Seconds `json:"achieved_s"`
}

// Metrics are the results of an evaluation. Metrics that do not fit the model are nil.
type Metrics struct {
	Step     int64   `json:"step"`
	Epoch    int64   `json:"epoch"`          // 0: unknown, as for a bundle
	Split    string  `json:"split"`          // "eval"; "test" at the end; "train" if the job asks for it and has no validation records
	Name     string  `json:"name,omitempty"` // for an item of input.evals
	Examples int64   `json:"examples"`
	Loss     Number  `json:"loss"`
	Correct  *int64  `json:"correct,omitempty"`
	Accuracy *Number `json:"accuracy,omitempty"`
	AUC      *Number `json:"auc,omitempty"`
	RMSE     *Number `json:"rmse,omitempty"`
	MAE      *Number `json:"mae,omitempty"`   // mean absolute error
	R2       *Number `json:"r2,omitempty"`    // share of the spread of the labels that is explained; NaN if all are equal
	TopK     *Number `json:"top_k,omitempty"` // share of the examples whose class has one of the eval.top_k largest scores
	LogLoss  *Number `json:"log_loss,omitempty"`

	// Only for binary models.
	NormalizedEntropy *Number `json:"normalized_entropy,omitempty"`
	Calibration       *Number `json:"calibration,omitempty"` // sum of the scores over the number of positives

	Buckets []CalibrationBucket `json:"calibration_buckets,omitempty"` // by tenths of the score; buckets with examples only

	Threshold  *Number     `json:"threshold,omitempty"`  // score above which a record is predicted as the second class
	Thresholds []Threshold `json:"thresholds,omitempty"` // 0.05, 0.10 … 0.95; none if a score is NaN
	BestF1     *Threshold  `json:"best_f1,omitempty"`    // none without a positive example

	// By class; a binary model has two.
	Classes   []string  `json:"classes,omitempty"` // their names, if they have some
	Precision []Number  `json:"precision,omitempty"`
	Recall    []Number  `json:"recall,omitempty"`
	F1        []Number  `json:"f1,omitempty"`
	Confusion [][]int64 `json:"confusion,omitempty"` // rows: class, columns: prediction; for at most 100 classes

	Constant Number `json:"-"` // loss of a constant prediction: the share of each class, or the mean; 0 if all labels are equal

	Bad      int64 `json:"bad_records,omitempty"` // that were passed over: no examples
	Weighted bool  `json:"weighted,omitempty"`    // records have weights other than 1: means are by weight, counts are not

	Baseline *Baseline `json:"baseline,omitempty"` // of the same records
}

// Named is a number of an evaluation, by its name in JSON.
type Named struct {
	Name  string
	Value Number
}

// Numbers returns the loss and the metrics that fit the model.
func (m *Metrics) Numbers() []Named {
	all := []Named{{"loss", m.Loss}}
	for _, n := range []struct {
		name  string
		value *Number
	}{
		{"accuracy", m.Accuracy}, {"auc", m.AUC}, {"top_k", m.TopK}, {"log_loss", m.LogLoss},
		{"normalized_entropy", m.NormalizedEntropy}, {"calibration", m.Calibration}, {"rmse", m.RMSE}, {"mae", m.MAE}, {"r2", m.R2},
	} {
		if n.value != nil {
			all = append(all, Named{n.name, *n.value})
		}
	}
	return all
}

// Baseline has the metrics of predictions that know the labels of the records and nothing else. Those that do not fit
// the model are nil.
type Baseline struct {
	Accuracy *Number `json:"accuracy,omitempty"` // of the largest class
	LogLoss  *Number `json:"log_loss,omitempty"` // of the share of each class
	RMSE     *Number `json:"rmse,omitempty"`     // of the mean
	AUC      *Number `json:"auc,omitempty"`      // 0.5
}

// Threshold has the metrics of a binary model that predicts the second class of records whose score is above it. They
// are by weight.
type Threshold struct {
	Threshold Number `json:"threshold"`
	Precision Number `json:"precision"`
	Recall    Number `json:"recall"`
	F1        Number `json:"f1"`
	Predicted Number `json:"predicted"` // share of the records that are predicted as the second class
}

// CalibrationBucket compares the scores of a range, From included, with the labels.
type CalibrationBucket struct {
	From      Number `json:"from"`
	To        Number `json:"to"`
	Examples  int64  `json:"examples"`
	Predicted Number `json:"predicted"` // mean score
	Observed  Number `json:"observed"`  // share of positives
}

// Checkpointed reports a checkpoint on rank 0's disk.
type Checkpointed struct {
	Step    int64   `json:"step"`
	Path    string  `json:"path"`
	Bytes   int64   `json:"bytes"`
	Took    Seconds `json:"took_s"`
	Stalled Seconds `json:"stalled_s"` // time for which training waited
}

// Exported reports a serving bundle on rank 0's disk.
type Exported struct {
	Step          int64     `json:"step"`
	Path          string    `json:"path"`
	Format        string    `json:"format"`
	Verified      int       `json:"verified"`          // records that the graph of the bundle and the model were compared on
	Of            int       `json:"of,omitempty"`      // how many there were
	MadeUp        bool      `json:"made_up,omitempty"` // the records were made up: no files are there
	MaxDifference Number    `json:"max_difference"`    // largest difference of their scores
	How           string    `json:"how"`               // graph run
	Metric        *Compared `json:"metric,omitempty"`  // of the records, if they have labels
}

// Compared is a metric by the scores of a model and by those of its exported graph.
type Compared struct {
	Name  string `json:"name"` // as in Metrics
	Model Number `json:"model"`
	Graph Number `json:"graph"`
}

// Done is the last event of a run.
type Done struct {
	Steps                 int64    `json:"steps"`                    // since the start of the run, also before a resume
	Epochs                int64    `json:"epochs"`                   // since the start of the run
	Examples              int64    `json:"examples"`                 // of all ranks, since the start of the run
	Took                  Seconds  `json:"took_s"`                   // since this process began to train
	ExamplesPerS          float64  `json:"examples_per_s"`           // of the examples since this process began to train
	Loss                  Number   `json:"loss"`                     // mean per example of the last epoch
	Eval                  *Metrics `json:"eval,omitempty"`           // of the result: the last step, or the best with early stopping; nil without validation records
	SentBytes             int64    `json:"sent_bytes"`               // by all ranks, headers included
	SentBetweenHostsBytes int64    `json:"sent_between_hosts_bytes"` // part of sent_bytes that left its host
	MaxRSSBytes           int64    `json:"max_rss_bytes"`            // of the largest rank
	Digest                string   `json:"digest"`                   // see train.Digest
	HiddenShare           Number   `json:"hidden_share"`             // of the exchange, behind backward; 0 at world size 1
	Zeros                 []Zeros  `json:"zeros,omitempty"`          // of each table
	ExportedBest          int64    `json:"exported_best,omitempty"`  // step of the best evaluation, if it was exported
}

// Warning reports a failure after which training continues, or what else the user should know.
type Warning struct {
	Rank      int    `json:"rank"`
	Host      string `json:"host"`
	Step      int64  `json:"step"`
	Operation string `json:"operation"` // evaluate, checkpoint, summary, history, clean-up, schedule, export, input
	Cause     string `json:"cause"`
	ExitCode  int    `json:"exit_code"` // exit code of the run if this failure ended it; 0: no failure, the cause says all

	// Of input: the set and the column, and how many of its records are meant.
	Set     string `json:"set,omitempty"`
	Column  string `json:"column,omitempty"`
	Records int64  `json:"records,omitempty"`
	Of      int64  `json:"of,omitempty"`
}

// Progressive reports the scores of the records of the first epoch before they were learned, as Vowpal
// Wabbit does. So the training records validate the model. The reports come after 1, 2, 4, … global
// batches, and at the end of the epoch (Blum, Kalai and Langford, "Beating the hold-out", 1999).
type Progressive struct {
	Step     int64   `json:"step"`
	Epoch    int64   `json:"epoch"`    // 1
	Examples int64   `json:"examples"` // of the epoch so far
	Loss     Number  `json:"loss"`     // mean per example
	Last     int64   `json:"last_examples"`
	LastLoss Number  `json:"last_loss"`          // mean over the examples since the last report
	LastAUC  *Number `json:"last_auc,omitempty"` // of binary models, over the same examples
}

// Zeros counts the elements of a table that are exactly 0, as ftrl with l1 leaves them.
type Zeros struct {
	Name     string `json:"name"`
	Zeros    int64  `json:"zeros"`
	Elements int64  `json:"elements"`
}

// NewNumber returns a pointer to f as a Number.
func NewNumber(f float64) *Number { n := Number(f); return &n }

// Mean returns the mean of a list by class, nil without classes.
func Mean(list []Number) *Number {
	if len(list) == 0 {
		return nil
	}
	sum := Number(0)
	for _, n := range list {
		sum += n
	}
	sum /= Number(len(list))
	return &sum
}
