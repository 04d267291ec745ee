package show

import (
	"fmt"
	"io"
	"strings"

	"ringtrain/model/graph"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring/phrase"
)

// Inspected writes events as lines, the columns of neighbouring lines of one kind aligned, in
// one Write.
func Inspected(w io.Writer, events []report.Event) error {
	t := newTable(0, "")
	kind := ""
	for _, e := range events {
		if kind != e.Kind() { // another table begins
			kind = e.Kind()
			t.Flush() // to memory
		}
		fmt.Fprintln(t, inspected(e))
	}
	return t.writeTo(w)
}

// escaped makes a name one field of one line.
var escaped = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// inspected formats one item of the content, with tabs between columns.
func inspected(e report.Event) string {
	switch e := e.(type) {
	case trained.SignatureInfo:
		return fmt.Sprintf("signature\t%s\t%s\t%s → %s", e.Name, e.Method, endpointsText(e.Inputs), endpointsText(e.Outputs))
	case trained.FeatureInfo:
		return fmt.Sprintf("feature\t%s\t%s", escaped.Replace(phrase.Name(e.Name)), e.Text())
	case trained.RequestInfo:
		return fmt.Sprintf("request\t%s\t%.600s\n%s", escaped.Replace(phrase.Name(e.Signature)), e.Request, e.Curl)
	case trained.ProofInfo:
		return proofText(e)
	case trained.RefusedInfo:
		return "not run here: " + e.Cause
	case trained.NodeInfo:
		return nodeText(e)
	case trained.ClassesInfo:
		names := make([]string, len(e.Classes))
		for i, name := range e.Classes {
			names[i] = phrase.Name(name)
		}
		return "classes\t" + strings.Join(names, ", ")
	case trained.WeightInfo:
		name := e.Input
		if len(e.Texts) > 0 {
			name += ": " + strings.Join(e.Texts, ", ")
		}
		return fmt.Sprintf("%12.6g\t%s\t%s", e.Value, escaped.Replace(name), e.Variable)
	case trained.ScalarInfo:
		return fmt.Sprintf("step %d\t%s\t%.6g", e.Step, e.Tag, e.Value)
	case trained.TensorInfo:
		text := fmt.Sprintf("%s\t%s%v\t%s", e.Name, e.DType, e.Shape, Bytes(e.Bytes))
		if e.Mean != nil {
			text += fmt.Sprintf("\tmin %.6g\tmax %.6g\tmean %.6g", *e.Min, *e.Max, *e.Mean)
		}
		if len(e.Values) > 0 {
			text += fmt.Sprintf("\t%.6g", e.Values)
		}
		return text
	}
	return e.Kind()
}

// proofText formats the proof of a bundle.
func proofText(p trained.ProofInfo) string {
	records := fmt.Sprintf("%s of %s records", Commas(int64(p.Records)), Commas(int64(p.Of)))
	if p.MadeUp {
		records = phrase.Count(p.Records, "made-up record")
	}
	text := fmt.Sprintf("proof\t%s, largest difference %.2g, bound %g", records, p.MaxDifference, p.Bound)
	if m := p.Metric; m != nil {
		text += fmt.Sprintf(", %s %.4g by the model and %.4g by the graph", m.Name, m.Model, m.Graph)
	}
	return text + fmt.Sprintf(", step %d", p.Step)
}

// nodeText formats a node of a model's graph.
func nodeText(n trained.NodeInfo) string {
	from := ""
	if len(n.In) > 0 {
		from = " ← " + strings.Join(n.In, ", ")
	}
	return fmt.Sprintf("%s\t%s\t%v\t%s parameters\t%s FLOPs%s", n.Name, n.Op, graph.Shape(n.Shape), Commas(int64(n.Parameters)), Commas(int64(n.FLOPs)), from)
}

func endpointsText(list []trained.EndpointInfo) string {
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = fmt.Sprintf("%s %s%v", e.Key, e.DType, e.Shape)
	}
	return strings.Join(texts, ", ")
}
