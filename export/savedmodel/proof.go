package savedmodel

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// The names of files in the folder assets.extra of a version.
const (
	ProofFile  = "ringtrain_proof.json"       // has the [Proof]
	WarmUpFile = "tf_serving_warmup_requests" // has requests with answers, which TensorFlow Serving sends to a version that it loads
)

// Proof tells how the graph of a version was compared with the model before it was published.
type Proof struct {
	Records       int              `json:"records"` // that were compared
	Of            int              `json:"of"`      // how many there were
	MadeUp        bool             `json:"made_up,omitempty"`
	MaxDifference report.Number    `json:"max_difference"`
	Bound         float64          `json:"bound"`      // on a difference, times max(1, |score|)
	Record        int              `json:"record"`     // the one that differs most; -1: one that is in no file, or none does
	Signatures    []string         `json:"signatures"` // that were compared
	Metric        *report.Compared `json:"metric,omitempty"`
	Step          int64            `json:"step"`
	Kernels       string           `json:"kernels"` // kernel set by which the model predicted
}

// ReadProof returns the proof of a version folder, nil if it has none.
func ReadProof(dir string) (*Proof, error) {
	name := filepath.Join(dir, extraFolder, ProofFile)
	text, err := readIfThere(name)
	if err != nil || text == nil {
		return nil, exitcode.With(exitcode.BadData, err)
	}
	p := new(Proof)
	if err := json.Unmarshal(text, p); err != nil {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("savedmodel: %s: %w", name, err))
	}
	return p, nil
}
