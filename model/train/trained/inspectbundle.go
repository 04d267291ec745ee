package trained

import (
	"encoding/json"
	"path/filepath"
	"strconv"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
	"ringtrain/export/savedmodel"
	"ringtrain/model/train/report"
)

// FeatureInfo describes a feature of the tf.Examples that a bundle takes.
type FeatureInfo struct {
	Name     string          `json:"feature"`
	DType    string          `json:"dtype"`
	Shape    []int           `json:"shape"`
	Form     string          `json:"form"`              // dense, sparse or ragged
	Default  json.RawMessage `json:"default,omitempty"` // in the place of a missing one
	Required bool            `json:"required,omitempty"`

	feature interpreter.Feature
}

// Kind names the event.
func (FeatureInfo) Kind() string { return "feature" }

// Text describes the feature for people, with tabs between columns.
func (f FeatureInfo) Text() string { return ask.FeatureText(f.feature) }

// RequestInfo is a request that a bundle answers.
type RequestInfo struct {
	Signature string          `json:"signature"`
	Request   json.RawMessage `json:"request"`
	Curl      string          `json:"curl"` // to "ringtrain serve" of the folder of the bundle
}

// Kind names the event.
func (RequestInfo) Kind() string { return "request" }

// RefusedInfo says why a bundle cannot be run.
type RefusedInfo struct {
	Cause string `json:"cause"`
}

// Kind names the event.
func (RefusedInfo) Kind() string { return "refused" }

// ProofInfo is the proof of a bundle.
type ProofInfo struct{ savedmodel.Proof }

// Kind names the event.
func (ProofInfo) Kind() string { return "proof" }

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
	for _, f := range a.Signature.Features {
		info := FeatureInfo{Name: f.Name, DType: ask.Type(f.Type, nil), Shape: append([]int{}, f.Shape...), Form: string(f.Kind), Required: ask.Required(f), feature: f}
		if text := ask.Default(f); text != "" {
			info.Default = strict(text)
		}
		list = append(list, info)
	}
	return append(list, RequestInfo{a.Signature.Name, strict(string(a.Request)), a.Curl})
}

// strict returns JSON as it is, and what is not quite JSON, as NaN, as a text.
func strict(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return json.RawMessage(strconv.Quote(text))
}
