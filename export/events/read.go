package events

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/tfpb"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

// Scalar is the value of a curve at one step.
type Scalar struct {
	Tag   string // name of the curve
	Value float64
}

// Event is one record of an event file, reduced to scalars.
type Event struct {
	WallTime float64 // seconds since 1970
	Step     int64
	Start    bool     // steps from Step on follow and replace those of earlier files
	Version  string   // of the format, in the first event
	Scalars  []Scalar // in the order of the file
}

// Reader reads an event file, which may still grow.
type Reader struct {
	file    *os.File
	records *tfrecord.Reader
	record  int
}

// Open opens the event file name.
func Open(name string) (*Reader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, exitcode.With(exitcode.NoInput, err)
	}
	return &Reader{file: f, records: tfrecord.NewReader(f, name)}, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Next returns the next event, io.EOF at the end. If the file ends within a record, the
// error wraps io.ErrUnexpectedEOF.
func (r *Reader) Next() (Event, error) {
	data, err := r.records.Next()
	if err != nil {
		return Event{}, err
	}
	var m tfpb.Event
	if err := proto.Unmarshal(data, &m); err != nil {
		return Event{}, exitcode.With(exitcode.BadData, fmt.Errorf("%s: record %d is no event: %w", r.file.Name(), r.record, err))
	}
	r.record++
	e := Event{WallTime: m.WallTime, Step: m.Step, Version: m.GetFileVersion()}
	e.Start = m.GetSessionLog().GetStatus() == tfpb.SessionLog_START
	for _, v := range m.GetSummary().GetValue() {
		if value, ok := valueOf(v); ok {
			e.Scalars = append(e.Scalars, Scalar{v.Tag, value})
		}
	}
	return e, nil
}

// valueOf returns the number of v. TensorFlow 1 and ringtrain write simple_value,
// TensorFlow 2 a tensor without dimensions.
func valueOf(v *tfpb.Summary_Value) (float64, bool) {
	if _, ok := v.Value.(*tfpb.Summary_Value_SimpleValue); ok {
		return float64(v.GetSimpleValue()), true
	}
	t := v.GetTensor()
	if t == nil || len(t.GetTensorShape().GetDim()) > 0 {
		return 0, false
	}
	le, b := binary.LittleEndian, t.TensorContent
	switch {
	case t.Dtype == tfpb.DataType_DT_FLOAT && len(t.FloatVal) == 1:
		return float64(t.FloatVal[0]), true
	case t.Dtype == tfpb.DataType_DT_DOUBLE && len(t.DoubleVal) == 1:
		return t.DoubleVal[0], true
	case t.Dtype == tfpb.DataType_DT_FLOAT && len(b) == 4:
		return float64(math.Float32frombits(le.Uint32(b))), true
	case t.Dtype == tfpb.DataType_DT_DOUBLE && len(b) == 8:
		return math.Float64frombits(le.Uint64(b)), true
	}
	return 0, false
}
