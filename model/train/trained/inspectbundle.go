package trained

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
	"ringtrain/export/savedmodel"
	"ringtrain/model/train/report"
)

// FeatureInfo describes a feature of the tf.Examples that a bundle takes.
type FeatureInfo struct{ ask.Column }

// RequestInfo is a request that a bundle answers.
type RequestInfo struct {
	Signature string          `json:"signature"`
	Request   json.RawMessage `json:"request"`
	Curl      string          `json:"curl"` // to "ringtrain serve" of the folder of the bundle
}

// RefusedInfo says why a bundle cannot be run.
type RefusedInfo struct {
	Cause string `json:"cause"`
}

// ProofInfo is the proof of a bundle.
type ProofInfo struct{ savedmodel.Proof }

// server is where ringtrain serve listens unless it is told otherwise.
const server = "http://127.0.0.1:8501"

// inspectBundle lists the contents of a bundle: what it takes, how to ask it, its proof and its variables.
func inspectBundle(path string) ([]report.Event, error) {
	b, err := savedmodel.Read(path)
	if err != nil {
		return nil, err
	}
	list := appendClasses(nil, b.Classes)
	for _, s := range b.Signatures {
		if strings.HasPrefix(s.Name, "__saved_model_") {
			continue // where TensorFlow keeps an operation, and no way to ask
		}
		list = append(list, SignatureInfo{s.Name, s.Method, endpoints(s.Inputs), endpoints(s.Outputs)})
	}
	list = append(list, requestOf(b.Path)...)
	p, err := savedmodel.ReadProof(b.Path)
	if err != nil {
		return nil, err
	}
	if p != nil {
		list = append(list, ProofInfo{*p})
	}
	for _, t := range b.Variables {
		list = append(list, describe(t))
	}
	return list, nil
}

// requestOf describes the features that the graph of a version folder takes, and a request.
func requestOf(path string) []report.Event {
	m, err := interpreter.Open(path)
	if err != nil {
		return []report.Event{RefusedInfo{err.Error()}}
	}
	defer m.Close()
	full, err := filepath.Abs(path)
	if err != nil {
		full = path
	}
	a, err := ask.AboutOf(server, filepath.Base(filepath.Dir(full)), m)
	if err != nil {
		return []report.Event{RefusedInfo{err.Error()}}
	}
	var list []report.Event
	for _, c := range a.Columns {
		if a.Examples {
			list = append(list, FeatureInfo{c})
		}
	}
	return append(list, RequestInfo{a.Signature, ask.Strict(a.Request), a.Curl})
}
