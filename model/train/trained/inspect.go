package trained

import (
	"encoding/binary"
	"math"

	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/export/events"
	"ringtrain/export/savedmodel"
	"ringtrain/model/train/report"
)

// TensorInfo describes a variable or slot. Min, Max and Mean are nil if the type has no order.
type TensorInfo struct {
	Name   string          `json:"name"`
	DType  string          `json:"dtype"`
	Shape  []int64         `json:"shape"`
	Bytes  int64           `json:"bytes"`
	Min    *report.Number  `json:"min,omitempty"`
	Max    *report.Number  `json:"max,omitempty"`
	Mean   *report.Number  `json:"mean,omitempty"`
	Values []report.Number `json:"values,omitempty"` // where there are at most 16
}

// ClassesInfo has the names of the classes of a model.
type ClassesInfo struct {
	Classes []string `json:"classes"`
}

// appendClasses appends the names of classes, if there are some.
func appendClasses(list []report.Event, names []string) []report.Event {
	if len(names) == 0 {
		return list
	}
	return append(list, ClassesInfo{names})
}

// SignatureInfo describes a signature of a bundle.
type SignatureInfo struct {
	Name    string         `json:"signature"`
	Method  string         `json:"method"`
	Inputs  []EndpointInfo `json:"inputs"`
	Outputs []EndpointInfo `json:"outputs"`
}

// EndpointInfo describes an input or output of a signature.
type EndpointInfo struct {
	Key    string  `json:"key"`
	Tensor string  `json:"tensor"`
	DType  string  `json:"dtype"`
	Shape  []int64 `json:"shape"`
}

// maxValues is the largest number of elements that TensorInfo lists.
const maxValues = 16

// The names of the events.

func (ClassesInfo) Kind() string   { return "classes" }
func (FeatureInfo) Kind() string   { return "feature" }
func (Importance) Kind() string    { return "importance" }
func (NodeInfo) Kind() string      { return "node" }
func (ProofInfo) Kind() string     { return "proof" }
func (RefusedInfo) Kind() string   { return "refused" }
func (RequestInfo) Kind() string   { return "request" }
func (ScalarInfo) Kind() string    { return "scalar" }
func (SignatureInfo) Kind() string { return "signature" }
func (TensorInfo) Kind() string    { return "tensor" }
func (WeightInfo) Kind() string    { return "weight" }

// Inspect lists the contents of a checkpoint, a bundle, an event file or a folder of these.
func Inspect(path string) ([]report.Event, error) {
	if events.IsFile(path) {
		return inspectScalars([]string{path})
	}
	if err := wantPath(path); err != nil {
		return nil, err
	}
	if IsBundle(path) {
		return inspectBundle(path)
	}
	var list []report.Event
	s, err := checkpoint.Load(path)
	if files, _ := events.Files(path); err != nil && len(files) > 0 {
		return inspectScalars(files)
	}
	if err != nil {
		return nil, err
	}
	g, err := storedGraph(path, &s.Run)
	if err != nil {
		return nil, err
	}
	if g != nil {
		list = describeGraph(g)
	}
	list = appendClasses(list, s.Run.Classes)
	for _, t := range s.Tensors {
		list = append(list, describe(t))
	}
	return append(list, describe(bundle.Int64("global_step", s.Step))), nil
}

func endpoints(list []savedmodel.Endpoint) []EndpointInfo {
	infos := make([]EndpointInfo, len(list))
	for i, e := range list {
		infos[i] = EndpointInfo{e.Key, e.Tensor, e.DType.String(), e.Shape}
	}
	return infos
}

func describe(t bundle.Tensor) TensorInfo {
	info := TensorInfo{Name: t.Name, DType: t.DType.String(), Shape: append([]int64{}, t.Shape...), Bytes: int64(len(t.Data))}
	for _, s := range t.Strings {
		info.Bytes += int64(len(s))
	}
	values := numbers(t)
	if len(values) == 0 {
		return info
	}
	least, most, sum := math.Inf(1), math.Inf(-1), 0.0
	for _, v := range values {
		least, most, sum = math.Min(least, v), math.Max(most, v), sum+v
		if len(values) <= maxValues {
			info.Values = append(info.Values, report.Number(v))
		}
	}
	number := func(f float64) *report.Number { v := report.Number(f); return &v }
	info.Min, info.Max, info.Mean = number(least), number(most), number(sum/float64(len(values)))
	return info
}

// numbers returns the elements of t, nil for types that training does not write.
func numbers(t bundle.Tensor) []float64 {
	le := binary.LittleEndian
	var read func(b []byte) float64
	switch t.DType {
	case bundle.DTFloat32:
		read = func(b []byte) float64 { return float64(math.Float32frombits(le.Uint32(b))) }
	case bundle.DTFloat64:
		read = func(b []byte) float64 { return math.Float64frombits(le.Uint64(b)) }
	case bundle.DTInt32:
		read = func(b []byte) float64 { return float64(int32(le.Uint32(b))) }
	case bundle.DTInt64:
		read = func(b []byte) float64 { return float64(int64(le.Uint64(b))) }
	default:
		return nil
	}
	size := t.DType.Size()
	values := make([]float64, 0, len(t.Data)/size)
	for b := t.Data; len(b) >= size; b = b[size:] {
		values = append(values, read(b))
	}
	return values
}
