package show

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"ringtrain/export/ask"
	"ringtrain/export/savedmodel"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
)

// TestInspectAligned verifies that the columns of one kind of lines stand below each other.
func TestInspectAligned(t *testing.T) {
	var b strings.Builder
	if err := Inspected(&b, []report.Event{
		trained.TensorInfo{Name: "w", DType: "float32", Shape: []int64{2000, 8}, Bytes: 64000},
		trained.TensorInfo{Name: "a/long/name", DType: "int64", Bytes: 8, Values: []report.Number{3}},
		trained.ScalarInfo{Step: 5, Tag: "loss", Value: 0.25},
	}); err != nil {
		t.Fatal(err)
	}
	const want = "w            float32[2000 8]  62.5 KiB\n" +
		"a/long/name  int64[]          8 bytes  [3]\n" +
		"step 5  loss  0.25\n"
	if b.String() != want {
		t.Errorf("prints\n%swant\n%s", &b, want)
	}
}

// TestInspectBundle verifies what inspect prints of a bundle besides signatures and variables.
func TestInspectBundle(t *testing.T) {
	var b strings.Builder
	proof := savedmodel.Proof{Records: 1000, Of: 10000, MaxDifference: 1.19e-07, Bound: 1e-05, Step: 50, Metric: &report.Compared{Name: "auc", Model: 0.77064, Graph: 0.77064}}
	if err := Inspected(&b, []report.Event{
		trained.FeatureInfo{Column: ask.Column{Name: "age", Type: "float32", Form: "dense", Default: json.RawMessage(`"NaN"`)}},
		trained.FeatureInfo{Column: ask.Column{Name: "ids\n", Type: "int64", Shape: []int{-1}, Form: "sparse"}},
		trained.RequestInfo{Signature: "serving_default", Request: json.RawMessage(`{"instances": []}`), Curl: "curl -s http://h"},
		trained.ProofInfo{Proof: proof}, trained.ProofInfo{Proof: savedmodel.Proof{Records: 8, MadeUp: true, Bound: 1e-05, Step: 50}},
		trained.RefusedInfo{Cause: "ops not known here: Einsum (a/b)"},
	}); err != nil {
		t.Fatal(err)
	}
	const want = "feature  age   float32    dense   default NaN\n" +
		"feature  ids?  int64[-1]  sparse  may be empty\n" +
		"request  serving_default  {\"instances\": []}\ncurl -s http://h\n" +
		"proof  1,000 of 10,000 records, largest difference 1.2e-07, bound 1e-05, auc 0.7706 by the model and 0.7706 by the graph, step 50\n" +
		"proof  8 made-up records, largest difference 0, bound 1e-05, step 50\n" +
		"not run here: ops not known here: Einsum (a/b)\n"
	if b.String() != want {
		t.Errorf("prints\n%swant\n%s", &b, want)
	}
}

// TestInspectOnTerminal verifies that a terminal shows what inspect prints of an event file as it is.
func TestInspectOnTerminal(t *testing.T) {
	var shown bytes.Buffer
	f := &screenFile{&shown, new(screen)}
	if err := Inspected(f, []report.Event{
		trained.ScalarInfo{Step: 5, Tag: "loss", Value: 0.25},
		trained.ScalarInfo{Step: 10, Tag: "loss", Value: 0.125},
	}); err != nil {
		t.Fatal(err)
	}
	const want = "step 5   loss  0.25\nstep 10  loss  0.125\n"
	if shown.String() != want {
		t.Errorf("shows\n%swant\n%s", &shown, want)
	}
}
