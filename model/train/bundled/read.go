package bundled

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/input/maskedcrc"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// blockRecords is how many records go through the graph together.
const blockRecords = 256

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
	name    string // of the file
	labels  bool
	visit   func(*block) error
	pending block  // records that wait for others
	folders []byte // the tf.Example of the columns that the folders of the file name
}

// readFile calls visit with the records of a file, some at a time. The first bytes tell its format.
func (b *Bundle) readFile(ctx context.Context, name string, labels bool, visit func(*block) error) error {
	format, _, err := convert.SniffFile(name)
	if err != nil {
		return err
	}
	if format.IsTable() {
		return b.blocks(name, labels, visit, func(r *reader) error { return r.rows(ctx) })
	}
	f, err := input.OpenFile(ctx, name, input.Limits{})
	if err != nil {
		return err
	}
	defer f.Close()
	return b.read(f, labels, visit)
}

// blocks has read make blocks of the records of a file, and calls visit with each.
func (b *Bundle) blocks(name string, labels bool, visit func(*block) error, read func(r *reader) error) error {
	r := &reader{Bundle: b, name: name, labels: labels, visit: visit, pending: block{name: name}}
	if labels && b.columns.Label.Name == "" {
		return exitcode.With(exitcode.Usage, fmt.Errorf("%s does not name the column of the labels, want --label", b.Path))
	}
	err := read(r)
	if err == nil {
		err = r.flush()
	}
	return err
}

// read is readFile of an open file, or a pipe, which has no columns of types.
func (b *Bundle) read(f *input.File, labels bool, visit func(*block) error) error {
	return b.blocks(f.Name, labels, visit, func(r *reader) error { return r.stream(f) })
}

// stream reads records one behind the other.
func (r *reader) stream(f io.Reader) error {
	content := bufio.NewReaderSize(f, 1<<16)
	head, err := content.Peek(12)
	if err != nil && err != io.EOF {
		return input.ReadError(r.name, err)
	}
	if ask.TakesExamples(r.inputs) {
		t, err := ask.NewTableOf(nil, input.Partitions(r.name), r.inputs, r.columns)
		if err == nil {
			r.folders, err = t.FolderExample()
		}
		if err != nil {
			return r.bad("record", 0, err)
		}
	}
	switch {
	case len(head) == 12 && maskedcrc.Of(head[:8]) == binary.LittleEndian.Uint32(head[8:]):
		return r.tfrecords(content)
	case bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")):
		return r.lines(content)
	}
	return r.table(content)
}

// add adds the inputs of a record. Records of other shapes do not go together.
func (r *reader) add(inputs []*interpreter.Tensor, label string) error {
	for i, p := range r.inputs.Inputs {
		if t := inputs[i]; !p.Fits(t.Shape) {
			return fmt.Errorf("the input %s has the shape %v, want %v", phrase.Name(p.Key), t.Shape, p.Shape)
		}
	}
	k := &r.pending
	if k.records == blockRecords || k.records > 0 && !slices.EqualFunc(inputs, k.inputs, joinable) {
		if err := r.flush(); err != nil {
			return err
		}
	}
	k.inputs = ask.Join(k.inputs, inputs)
	if r.labels {
		k.labels = append(k.labels, label)
	}
	k.records++
	return nil
}

// addExample adds a record that is a tf.Example, with the columns of folders: a message may go on with the fields of another
// one.
func (r *reader) addExample(example []byte, label string) (err error) {
	if len(r.folders) > 0 {
		again := tfrecord.EachValue(r.folders, func(name, _ []byte) {
			if _, lacks := labelOf(example, string(name)); lacks == nil {
				err = fmt.Errorf("column %s is in the file and in the names of its folders, want it in one of them", phrase.Name(string(name)))
			}
		})
		if err = cmp.Or(err, again); err != nil {
			return err
		}
		example = slices.Concat(example, r.folders)
	}
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

// bad returns the error of a record that cannot be read: lines count from 1, and records from 0.
func (r *reader) bad(kind string, number int, err error) error {
	if exitcode.Of(err) != exitcode.Failed {
		return err
	}
	return exitcode.With(exitcode.BadData, fmt.Errorf("%s: %s %d: %w", r.name, kind, number, err))
}

// tfrecords reads tf.Examples.
func (r *reader) tfrecords(content io.Reader) error {
	if !ask.TakesExamples(r.inputs) {
		return r.bad("record", 0, fmt.Errorf("the signature %s takes no tf.Examples, want JSON lines", r.Signature))
	}
	records := tfrecord.NewReader(content, r.name)
	for number := 0; ; number++ {
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
func labelOf(example []byte, feature string) (label string, err error) {
	found := false
	err = tfrecord.EachValue(example, func(name, value []byte) {
		if !found && string(name) == feature {
			label, found = string(value), true
		}
	})
	if err == nil && !found {
		err = fmt.Errorf("no feature %s", phrase.Name(feature))
	}
	return label, err
}

// joinable reports whether the records of two tensors have the same shape.
func joinable(a, b *interpreter.Tensor) bool {
	return a.Type == b.Type && slices.Equal(a.Shape[1:], b.Shape[1:])
}
