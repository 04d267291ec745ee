package ask

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/bundle"
	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/input"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Columns is what an export of ringtrain says of its columns besides its graph.
type Columns struct {
	Words []string   `json:"number_words"` // cells that are a missing number
	Keys  graph.Keys `json:"key"`          // columns that answers repeat
	Label struct {
		Name    string   `json:"name"`
		Classes []string `json:"classes"` // in their order
	} `json:"label"`
	Bags  []Bag              `json:"bags"`
	Forms []graph.NumberForm `json:"forms"` // of columns whose numbers are written in another way
}

// Bag is a column of ids.
type Bag struct {
	Name, Separator string
	List            bool     // a cell has several texts
	Written         []string // in which ways training had the texts of which a hash makes ids
}

// plain returns what makes the usual form of a number in another, as $1,234.50 or 1.234,50.
func plain(f graph.NumberForm) *strings.Replacer {
	var pairs []string
	for _, c := range f.Strip {
		pairs = append(pairs, string(c), "")
	}
	if f.Decimal != "." {
		pairs = append(pairs, ".", "x", f.Decimal, ".") // with a point it is no number
	}
	return strings.NewReplacer(pairs...)
}

// ReadColumns returns the columns of the export in a version folder; none if it does not describe them.
func ReadColumns(path string) (c Columns, err error) {
	name := filepath.Join(path, "assets.extra", "ringtrain_columns.json")
	text, err := bundle.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		err = exitcode.With(exitcode.BadData, fmt.Errorf("%s: %w", name, err))
	}
	return c, err
}

// Table makes rows of what a signature takes, of records of cells. It reads those of CSV with a header.
type Table struct {
	Header []string
	Cells  []string // of the record that was read last
	Line   int      // where it begins, or where the text is not CSV

	folders []input.Partition // columns that no line has

	lines    *csv.Reader
	columns  Columns
	features []*interpreter.Feature       // of each cell; nil of one that the signature does not take
	plain    map[string]*strings.Replacer // by column; of those with a form of their own
	row      *row
}

// NewTable returns the reader of a table that a signature takes, whose columns are the features of tf.Examples, or inputs
// with one value a record. Those of folders are columns, too, if the signature or the label wants them. If a feature is
// in no column, each column must be a feature, so that no name is misspelt in silence. The error of an empty text is
// [io.EOF].
func NewTable(text io.Reader, folders []input.Partition, s *interpreter.Signature, c Columns) (*Table, error) {
	t, err := newTable(folders, s, c)
	if err != nil {
		return nil, err
	}
	t.lines = csv.NewReader(text)
	t.lines.FieldsPerRecord, t.lines.ReuseRecord = -1, true
	if err := t.read(); err != nil {
		return nil, err
	}
	header := slices.Clone(t.Cells)
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	return t, t.find(header)
}

// NewTableOf is NewTable of columns whose cells are given to Inputs.
func NewTableOf(header []string, folders []input.Partition, s *interpreter.Signature, c Columns) (*Table, error) {
	t, err := newTable(folders, s, c)
	if err == nil {
		err = t.find(header)
	}
	return t, err
}

// Takes returns a function that reports whether a signature takes a column, and whether as numbers.
func Takes(s *interpreter.Signature) func(name string) (taken, asNumbers bool) {
	row, err := rowOf(s)
	return func(name string) (taken, asNumbers bool) {
		if err != nil {
			return false, false // as NewTable says
		}
		f, err := row.find(name)
		return err == nil, err == nil && f.Type != tfpb.DataType_DT_STRING && f.Type != tfpb.DataType_DT_BOOL
	}
}

func newTable(folders []input.Partition, s *interpreter.Signature, c Columns) (*Table, error) {
	row, err := rowOf(s)
	if err != nil {
		return nil, err
	}
	t := &Table{columns: c, plain: map[string]*strings.Replacer{}, row: row}
	for _, p := range folders {
		if _, err := row.find(p.Name); err == nil || p.Name == c.Label.Name {
			t.folders = append(t.folders, p)
		}
	}
	for _, f := range c.Forms {
		t.plain[f.Name] = plain(f)
	}
	return t, nil
}

// find finds the features of the columns: those of a header, and of folders.
func (t *Table) find(header []string) error {
	t.Header = header
	for _, p := range t.folders {
		t.Header = append(t.Header, p.Name)
	}
	var unknown []string
	for i, name := range t.Header {
		f, err := t.row.find(name)
		t.features = append(t.features, f)
		switch {
		case slices.Contains(t.Header[:i], name):
			return fmt.Errorf("the header has the column %s twice", phrase.Name(name))
		case err != nil && name != t.columns.Label.Name:
			unknown = append(unknown, name)
		}
	}
	var lacks []string
	for _, f := range t.row.known {
		if !slices.Contains(t.Header, f.Name) {
			lacks = append(lacks, f.Name)
		}
	}
	if len(unknown) > 0 && len(lacks) > 0 {
		return misspelt(unknown, lacks)
	}
	return nil
}

// misspelt returns the error of a header with columns that the model does not take, and without some that it takes. It
// names two of them that are alike, if there are such.
func misspelt(unknown, lacks []string) error {
	name, near := unknown[0], ""
	for _, u := range unknown {
		if n := phrase.Nearest(u, lacks); n != "" && near == "" {
			name, near = u, n
		}
	}
	return fmt.Errorf("the model takes no column %s%s, and the header lacks %s", phrase.Name(name), phrase.DidYouMean(name, lacks), phrase.Name(cmp.Or(near, lacks[0])))
}

// read reads the cells of the next record.
func (t *Table) read() (err error) {
	t.Cells, err = t.lines.Read()
	if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
		t.Line = wrong.Line
		return wrong.Err
	}
	if err == nil {
		t.Line, _ = t.lines.FieldPos(0)
	}
	return err
}

// Next returns the inputs of the next record, or [io.EOF].
func (t *Table) Next() ([]*interpreter.Tensor, error) {
	if err := t.read(); err != nil {
		return nil, err
	}
	if n := len(t.Header) - len(t.folders); len(t.Cells) != n {
		return nil, fmt.Errorf("%s, want %d as the header has", phrase.Count(len(t.Cells), "cell"), n)
	}
	return t.Inputs(t.Cells, nil)
}

// Inputs returns the inputs of a record of cells, of which some may be lists, each with its texts.
func (t *Table) Inputs(cells []string, lists map[int][]string) ([]*interpreter.Tensor, error) {
	for _, p := range t.folders {
		cells = append(cells, p.Value)
	}
	t.Cells = cells
	for i, f := range t.features {
		if f == nil {
			continue
		}
		if err := t.set(f, cells[i], lists[i]); err != nil {
			return nil, within(phrase.Name(f.Name), err)
		}
	}
	inputs, err := t.row.end()
	if err != nil {
		err = errors.New(strings.TrimSpace(err.Error())) // it has no place in the record
	}
	return inputs, err
}

// FolderExample returns the tf.Example that has the columns of folders, nil if there are none.
func (t *Table) FolderExample() ([]byte, error) {
	for i, p := range t.folders {
		if f := t.features[len(t.features)-len(t.folders)+i]; f != nil {
			if err := t.set(f, p.Value, nil); err != nil {
				return nil, within(phrase.Name(f.Name), err)
			}
		}
	}
	all := map[string]*tfpb.Feature{}
	for name, values := range t.row.features {
		all[name] = Feature(values)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return proto.Marshal(&tfpb.Example{Features: &tfpb.Features{Feature: all}})
}

// set sets a feature to a cell, or to the texts of one that is a list. An empty cell is missing, and a word that stands for
// a missing number.
func (t *Table) set(f *interpreter.Feature, cell string, list []string) error {
	isText := f.Type == tfpb.DataType_DT_STRING
	if len(list) == 0 && cell == "" || !isText && slices.Contains(t.columns.Words, strings.TrimSpace(cell)) {
		return nil
	}
	parts := list
	if len(list) == 0 {
		parts = []string{cell}
	}
	for _, b := range t.columns.Bags {
		if b.Name == f.Name && b.List && b.Separator != "" && len(list) == 0 {
			parts = strings.Split(cell, b.Separator)
		}
	}
	values := filler{tensor: interpreter.Tensor{Type: f.Type}, column: true}
	for _, part := range parts {
		if isText {
			values.tensor.Bytes = append(values.tensor.Bytes, []byte(part))
			continue
		}
		plain := strings.TrimSpace(part)
		if form := t.plain[f.Name]; form != nil {
			plain = strings.TrimSpace(form.Replace(plain))
		}
		_, err := strconv.ParseFloat(plain, 8*bundle.DType(f.Type).Size())
		if f.Type == tfpb.DataType_DT_BOOL {
			_, err = strconv.ParseBool(plain)
		}
		if err != nil {
			return faultf("is %s, want %s", phrase.Quote(part), wants[f.Type])
		}
		if err := values.scalar([]byte(plain)); err != nil {
			return err
		}
	}
	return t.row.set(f, &values.tensor)
}

// ReadTable makes one request of all records of a CSV text. It reports its memory to tell, which may be nil.
func ReadTable(text []byte, s *interpreter.Signature, c Columns, tell Meter) (all []*interpreter.Tensor, err error) {
	if err := tell.take(text, '\n'); err != nil {
		return nil, err
	}
	t, err := NewTable(bytes.NewReader(text), nil, s, c)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	for err == nil {
		var one []*interpreter.Tensor
		one, err = t.Next()
		if err == nil {
			all = Join(all, one)
		}
	}
	switch {
	case err != io.EOF:
		return nil, fmt.Errorf("line %d: %w", t.Line, err)
	case all == nil:
		return nil, errors.New("the body has no record, want CSV with a header and records")
	}
	return all, nil
}

// Join returns the inputs of records and of one more. Of no records they are nil.
func Join(all, one []*interpreter.Tensor) []*interpreter.Tensor {
	if all == nil {
		return one
	}
	for i, in := range one {
		all[i].Append(in)
	}
	return all
}
