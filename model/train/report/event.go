package report

import (
	"encoding/json"
	"math"
	"time"
)

// An Event is something that happened in training and that people or programs
// want to know. The JSON form of each is one line of --json; users' programs
// rely on the names of its fields.
type Event interface{ Kind() string }

// Trace receives the events of a run, in order.
type Trace func(Event)

// Seconds is a duration that prints as a number of seconds.
type Seconds time.Duration

// MarshalJSON writes seconds as a plain number.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(s).Seconds())
}

// Number is a float64 whose NaN and infinities are written as strings, which
// JSON has no numbers for.
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

// Start is the first event of a run: who trains what, and how.
type Start struct {
	Job          string `json:"job"`
	JobID        string `json:"job_id"`
	Version      string `json:"version"`
	WorldSize    int    `json:"world_size"`
	Hosts        int    `json:"hosts"`
	Generation   uint64 `json:"generation"`
	Rendezvous   string `json:"rendezvous"` // its address; "" at world size 1
	Codec        string `json:"codec"`      // in force; auto as long as it is not chosen
	Link         string `json:"link"`       // as Team.Link
	Levels       string `json:"levels"`     // as ring.Group's Levels: flat, host, two
	Algorithm    string `json:"algorithm"`  // the table by size; none where nothing goes over links
	Seed         uint64 `json:"seed"`
	GlobalBatch  int    `json:"global_batch"` // examples
	Variables    int    `json:"variables"`
	Parameters   int    `json:"parameters"`    // elements of all variables
	RestoredStep int64  `json:"restored_step"` // 0: nothing was restored
	Cores        int    `json:"cores"`         // that rank 0 computes and communicates on
	Kernels      string `json:"kernels"`       // kernel set of all ranks
}

// Decision reports what a run has chosen for itself.
type Decision struct {
	What   string `json:"what"` // "codec", "order", "kernels", "stop", "tables"
	Choice string `json:"choice"`
	Why    string `json:"why"`

	// What training waits for the exchange in a step: by the model that the
	// choice is made with, and as it then was. 0 if nothing was measured.
	Predicted Seconds `json:"predicted_s"`
	Achieved  Seconds `json:"achieved_s"`
}

// Step reports the steps since the last such event.
type Step struct {
	Step         int64   `json:"step"`  // completed
	Epoch        int64   `json:"epoch"` // from 1
	Loss         Number  `json:"loss"`  // mean per example since the last event
	ExamplesPerS float64 `json:"examples_per_s"`
	Compute      Seconds `json:"compute_s"`
	Update       Seconds `json:"update_s"` // of compute_s, what the optimizer took
	Reduce       Seconds `json:"reduce_s"` // all of the exchange, hidden behind backward or not
	Input        Seconds `json:"input_s"`
	Exposed      Seconds `json:"exposed_s"` // of reduce_s, what training waited for
	Steps        int64   `json:"-"`         // of the whole run, for a progress bar

	// Objective is the loss and the penalties of the weights as they are; nil without any.
	Objective *Number `json:"objective,omitempty"`
}

// Metrics are the results of an evaluation; those that do not fit the model
// are nil.
type Metrics struct {
	Step     int64   `json:"step"`
	Epoch    int64   `json:"epoch"`          // 0: not known, as of a bundle
	Split    string  `json:"split"`          // "eval", or "train" where the job has no validation records
	Name     string  `json:"name,omitempty"` // of an item of input.evals
	Examples int64   `json:"examples"`
	Loss     Number  `json:"loss"`
	Correct  *int64  `json:"correct,omitempty"`
	Accuracy *Number `json:"accuracy,omitempty"`
	AUC      *Number `json:"auc,omitempty"`
	RMSE     *Number `json:"rmse,omitempty"`
	TopK     *Number `json:"top_k,omitempty"` // share of the examples whose class has one of the eval.top_k largest scores
	LogLoss  *Number `json:"log_loss,omitempty"`

	// Of binary models.
	NormalizedEntropy *Number `json:"normalized_entropy,omitempty"`
	Calibration       *Number `json:"calibration,omitempty"` // sum of the scores over the number of positives

	Buckets []CalibrationBucket `json:"calibration_buckets,omitempty"` // by tenths of the score, those with examples

	// By class, 0 and 1 of a binary model.
	Precision []Number  `json:"precision,omitempty"`
	Recall    []Number  `json:"recall,omitempty"`
	F1        []Number  `json:"f1,omitempty"`
	Confusion [][]int64 `json:"confusion,omitempty"` // rows: class, columns: predicted; where there are at most 100
}

// CalibrationBucket compares the scores of a range, From included, with what came true.
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
	Stalled Seconds `json:"stalled_s"` // how long training waited for it
}

// Exported reports a serving bundle on rank 0's disk.
type Exported struct {
	Step          int64  `json:"step"`
	Path          string `json:"path"`
	Format        string `json:"format"`
	Verified      int    `json:"verified"`       // records predicted from the bundle's variables
	MaxDifference Number `json:"max_difference"` // of their scores, from the live model's
	How           string `json:"how"`            // what was verified, and what was not
}

// Done is the last event of a run.
type Done struct {
	Steps                 int64   `json:"steps"`    // since the beginning of the run, also before a resume
	Epochs                int64   `json:"epochs"`   // likewise
	Examples              int64   `json:"examples"` // of all ranks, since this process began to train
	Took                  Seconds `json:"took_s"`   // likewise
	ExamplesPerS          float64 `json:"examples_per_s"`
	Loss                  Number  `json:"loss"`                     // mean per example of the last epoch
	Eval                  Metrics `json:"eval"`                     // the last one
	SentBytes             int64   `json:"sent_bytes"`               // by all ranks, headers included
	SentBetweenHostsBytes int64   `json:"sent_between_hosts_bytes"` // those of them that left their host
	MaxRSSBytes           int64   `json:"max_rss_bytes"`            // of the largest rank
	Digest                string  `json:"digest"`                   // see Digest
	HiddenShare           Number  `json:"hidden_share"`             // of the exchange, behind backward; 0 at world size 1
	Zeros                 []Zeros `json:"zeros,omitempty"`          // of each table
}

// Kind names the event.
func (Start) Kind() string { return "start" }

// Kind names the event.
func (Decision) Kind() string { return "decision" }

// Kind names the event.
func (Step) Kind() string { return "step" }

// Kind names the event.
func (Metrics) Kind() string { return "eval" }

// Kind names the event.
func (Checkpointed) Kind() string { return "checkpoint" }

// Kind names the event.
func (Exported) Kind() string { return "export" }

// Kind names the event.
func (Done) Kind() string { return "done" }

// Warning reports what has failed while training goes on.
type Warning struct {
	Rank      int    `json:"rank"`
	Host      string `json:"host"`
	Step      int64  `json:"step"`
	Operation string `json:"operation"` // evaluate, checkpoint, summary
	Cause     string `json:"cause"`
	ExitCode  int    `json:"exit_code"` // that the run would have, if this had been at its end
}

// Kind names the event.
func (Warning) Kind() string { return "warning" }

// Progressive reports what the model said of the records of the first epoch before it learned
// them, as Vowpal Wabbit does: so they validate it, though they are trained on. The reports come
// after 1, 2, 4, … global batches, and at the end of the epoch (Blum, Kalai and Langford, "Beating
// the hold-out", 1999).
type Progressive struct {
	Step     int64   `json:"step"`
	Epoch    int64   `json:"epoch"`    // 1
	Examples int64   `json:"examples"` // of the epoch so far
	Loss     Number  `json:"loss"`     // mean over them
	Last     int64   `json:"last_examples"`
	LastLoss Number  `json:"last_loss"`          // mean over those since the last report
	LastAUC  *Number `json:"last_auc,omitempty"` // of binary models; over the same
}

// Kind names the event.
func (Progressive) Kind() string { return "progressive" }

// Zeros tells how many elements of a table are exactly 0, as ftrl with l1 leaves them.
type Zeros struct {
	Name     string `json:"name"`
	Zeros    int64  `json:"zeros"`
	Elements int64  `json:"elements"`
}

// exchangeShare is what part of its time training waited for the exchange.
func (e Step) ExchangeShare() float64 {
	all := e.Input + e.Compute + e.Exposed
	if all <= 0 {
		return 0
	}
	return float64(e.Exposed) / float64(all)
}

// NewNumber returns a pointer to f as a Number.
func NewNumber(f float64) *Number { n := Number(f); return &n }
