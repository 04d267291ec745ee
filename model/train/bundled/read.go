package bundled

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/input"
	"ringtrain/input/maskedcrc"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// blockRecords is how many records go through the graph together.
const blockRecords = 256

// maxLine bounds a line of JSON.
const maxLine = 16 << 20

// block is some records of a file, as the signature takes them.
type block struct {
	name    string // of the file
	first   int    // number of the first record in the file, from 0
	total   int    // the same in all files
	records int
	inputs  []*interpreter.Tensor
	labels  []string // of each record, if they are asked for
}

// reader makes blocks of the records of a file.
type reader struct {
	*Bundle
	file    *input.File
	labels  bool
	visit   func(*block) error
	pending block // records that wait for others
}

// read calls visit with the records of a file, some at a time. The first bytes tell its format.
func (b *Bundle) read(f *input.File, labels bool, visit func(*block) error) error {
	r := &reader{Bundle: b, file: f, labels: labels, visit: visit, pending: block{name: f.Name}}
	if labels && b.columns.Label.Name == "" {
		return exitcode.With(exitcode.Usage, fmt.Errorf("%s does not name the column of the labels, want --label", b.Path))
	}
	content := bufio.NewReaderSize(f, 1<<16)
	head, err := content.Peek(12)
	if err != nil && err != io.EOF {
		return input.ReadError(f.Name, err)
	}
	switch {
	case len(head) == 12 && maskedcrc.Of(head[:8]) == binary.LittleEndian.Uint32(head[8:]):
		err = r.tfrecords(content)
	case bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")):
		err = r.lines(content)
	default:
		err = r.table(content)
	}
	if err == nil {
		err = r.flush()
	}
	if err == nil && r.pending.first == 0 {
		err = exitcode.With(exitcode.BadData, fmt.Errorf("%s has no record", f.Name))
	}
	return err
}

// add adds the inputs of a record. Records of other shapes do not go together.
func (r *reader) add(inputs []*interpreter.Tensor, label string) error {
	for i, p := range r.inputs.Inputs {
		if t := inputs[i]; !fits(t.Shape, p.Shape) {
			return fmt.Errorf("the input %s has the shape %v, want %v", phrase.Name(p.Key), t.Shape[1:], p.Shape[1:])
		}
	}
	k := &r.pending
	if k.records == blockRecords || k.records > 0 && !slices.EqualFunc(inputs, k.inputs, joinable) {
		if err := r.flush(); err != nil {
			return err
		}
	}
	if k.records == 0 {
		k.inputs = inputs
	} else {
		for i, t := range inputs {
			join(k.inputs[i], t)
		}
	}
	if r.labels {
		k.labels = append(k.labels, label)
	}
	k.records++
	return nil
}

// addExample adds a record that is a tf.Example.
func (r *reader) addExample(example []byte, label string) error {
	return r.add([]*interpreter.Tensor{{Type: tfpb.DataType_DT_STRING, Shape: []int{1}, Bytes: [][]byte{example}}}, label)
}

// flush hands on the records that wait.
func (r *reader) flush() error {
	k := &r.pending
	if k.records == 0 {
		return nil
	}
	err := r.visit(k)
	r.pending = block{name: k.name, first: k.first + k.records}
	return err
}

// bad returns the error of a record that cannot be read. number counts from 1.
func (r *reader) bad(kind string, number int, err error) error {
	if exitcode.Of(err) != exitcode.Failed {
		return err
	}
	return exitcode.With(exitcode.BadData, fmt.Errorf("%s: %s %d: %w", r.file.Name, kind, number, err))
}

// table reads CSV with a header.
func (r *reader) table(content io.Reader) error {
	lines := csv.NewReader(content)
	lines.FieldsPerRecord, lines.ReuseRecord = -1, true
	header, err := lines.Read()
	if err == io.EOF {
		return nil
	}
	if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
		err = wrong.Err
	}
	if err != nil {
		return r.bad("line", 1, err)
	}
	header = slices.Clone(header)
	header[0] = string(bytes.TrimPrefix([]byte(header[0]), []byte("\ufeff")))
	label := slices.Index(header, r.columns.Label.Name)
	if r.labels && label < 0 {
		return r.bad("line", 1, fmt.Errorf("no column %s%s", phrase.Name(r.columns.Label.Name), phrase.DidYouMean(r.columns.Label.Name, header)))
	}
	add, err := r.adder(header)
	if err != nil {
		return r.bad("line", 1, err)
	}
	for {
		record, err := lines.Read()
		if err == io.EOF {
			return nil
		}
		if err == nil && len(record) != len(header) {
			err = fmt.Errorf("%s, want %d as the header has", phrase.Count(len(record), "cell"), len(header))
		}
		if err == nil {
			cell := ""
			if r.labels {
				cell = record[label]
			}
			err = add(record, cell)
		}
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			return r.bad("line", wrong.Line, wrong.Err)
		}
		if err != nil {
			line, _ := lines.FieldPos(0)
			return r.bad("line", line, err)
		}
	}
}

// adder returns the function that adds a record of cells, and its label.
func (r *reader) adder(header []string) (func(record []string, label string) error, error) {
	if !ask.TakesExamples(r.inputs) {
		return r.inputAdder(header)
	}
	cells, err := ask.NewCells(header, r.inputs, r.columns)
	return func(record []string, label string) error {
		example, err := cells.Append(nil, record)
		if err != nil {
			return errors.New(strings.TrimSpace(err.Error()))
		}
		return r.addExample(example[0], label)
	}, err
}

// inputAdder is adder of a signature whose inputs are columns: one value a record in each.
func (r *reader) inputAdder(header []string) (func(record []string, label string) error, error) {
	columns := make([]int, len(r.inputs.Inputs))
	for i, p := range r.inputs.Inputs {
		columns[i] = slices.Index(header, p.Key)
		single := len(p.Shape) == 1 || len(p.Shape) == 2 && p.Shape[1] == 1
		switch {
		case !single:
			return nil, fmt.Errorf("the input %s has the shape %v, and a cell has one value: want JSON lines", phrase.Name(p.Key), p.Shape)
		case columns[i] < 0:
			return nil, fmt.Errorf("no column %s%s", phrase.Name(p.Key), phrase.DidYouMean(p.Key, header))
		}
	}
	return func(record []string, label string) error {
		row := map[string]any{}
		for i, p := range r.inputs.Inputs {
			var value any = json.RawMessage(record[columns[i]])
			if p.Type == tfpb.DataType_DT_STRING {
				value = record[columns[i]]
			}
			row[p.Key] = value
			if len(p.Shape) == 2 {
				row[p.Key] = []any{value}
			}
		}
		text, err := json.Marshal(row)
		if err != nil {
			return fmt.Errorf("the cells %q are no numbers", record)
		}
		return r.addLine(text, label)
	}, nil
}

// tfrecords reads tf.Examples.
func (r *reader) tfrecords(content io.Reader) error {
	if !ask.TakesExamples(r.inputs) {
		return r.bad("record", 1, fmt.Errorf("the signature %s takes no tf.Examples, want JSON lines", r.Signature))
	}
	records := tfrecord.NewReader(content, r.file.Name)
	for number := 1; ; number++ {
		data, err := records.Next()
		if err == io.EOF {
			return nil
		}
		label := ""
		if err == nil && r.labels {
			label, err = labelOf(data, r.columns.Label.Name)
		}
		if err == nil {
			err = r.addExample(bytes.Clone(data), label)
		}
		if err != nil {
			return r.bad("record", number, err)
		}
	}
}

// labelOf returns the first value of a feature of a tf.Example as a text.
func labelOf(data []byte, name string) (string, error) {
	var e tfpb.Example
	if err := proto.Unmarshal(data, &e); err != nil {
		return "", err
	}
	f := e.GetFeatures().GetFeature()[name]
	switch {
	case len(f.GetInt64List().GetValue()) > 0:
		return fmt.Sprint(f.GetInt64List().GetValue()[0]), nil
	case len(f.GetFloatList().GetValue()) > 0:
		return fmt.Sprint(f.GetFloatList().GetValue()[0]), nil
	case len(f.GetBytesList().GetValue()) > 0:
		return string(f.GetBytesList().GetValue()[0]), nil
	}
	return "", fmt.Errorf("no feature %s", phrase.Name(name))
}

// lines reads JSON lines: a row of columns, or of inputs, in each.
func (r *reader) lines(content io.Reader) error {
	s := bufio.NewScanner(content)
	s.Buffer(nil, maxLine)
	for number := 1; s.Scan(); number++ {
		line := bytes.TrimSpace(s.Bytes())
		if len(line) == 0 {
			continue
		}
		text, label, err := bytes.Clone(line), "", error(nil)
		if r.labels {
			text, label, err = r.cut(line)
		}
		if err == nil {
			err = r.addLine(text, label)
		}
		if err != nil {
			return r.bad("line", number, err)
		}
	}
	err := s.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = fmt.Errorf("a line has more than %d bytes", maxLine)
	}
	if err != nil {
		return input.ReadError(r.file.Name, err)
	}
	return nil
}

// cut returns a row without the label, and the label.
func (r *reader) cut(line []byte) (row []byte, label string, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return nil, "", err
	}
	name := r.columns.Label.Name
	value, ok := fields[name]
	if !ok {
		return nil, "", fmt.Errorf("no key %s", phrase.Name(name))
	}
	delete(fields, name)
	if json.Unmarshal(value, &label) != nil {
		label = string(value) // a number, true or false
	}
	row, err = json.Marshal(fields)
	return row, label, err
}

// addLine adds a row of JSON.
func (r *reader) addLine(row []byte, label string) error {
	d, err := ask.Parse(slices.Concat([]byte(`{"instances":[`), row, []byte("]}")), nil)
	if err != nil {
		return err
	}
	inputs, _, err := d.Inputs(r.inputs)
	if err != nil {
		return errors.New(strings.TrimSpace(strings.TrimPrefix(err.Error(), "instances[0]")))
	}
	return r.add(inputs, label)
}

// fits reports whether a tensor of a shape may be an input. -1 in want is any size, and nil any rank.
func fits(shape, want []int) bool {
	return want == nil || slices.EqualFunc(shape, want, func(d, w int) bool { return w < 0 || d == w })
}

// joinable reports whether the records of two tensors have the same shape.
func joinable(a, b *interpreter.Tensor) bool {
	return a.Type == b.Type && slices.Equal(a.Shape[1:], b.Shape[1:])
}

// join appends the records of src to dst.
func join(dst, src *interpreter.Tensor) {
	dst.Shape[0] += src.Shape[0]
	dst.Float32 = append(dst.Float32, src.Float32...)
	dst.Float64 = append(dst.Float64, src.Float64...)
	dst.Int32 = append(dst.Int32, src.Int32...)
	dst.Int64 = append(dst.Int64, src.Int64...)
	dst.Bool = append(dst.Bool, src.Bool...)
	dst.Bytes = append(dst.Bytes, src.Bytes...)
}
