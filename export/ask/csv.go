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

	"ringtrain/export/bundle"
	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// Columns is what an export of ringtrain says of its columns besides its graph.
type Columns struct {
	Words []string `json:"number_words"` // cells that are a missing number
	Keys  keys     `json:"key"`          // columns that answers repeat
	Label struct {
		Name    string   `json:"name"`
		Classes []string `json:"classes"` // in their order
	} `json:"label"`
	Bags []struct {
		Name, Separator string
		List            bool // a cell has several texts
	} `json:"bags"`
	Forms []form `json:"forms"` // of columns whose numbers are written in another way
}

// form is how the cells of a column have numbers: $1,234.50 or 1.234,50.
type form struct{ Name, Decimal, Strip string }

// plain returns what makes the usual form of a number in this one.
func (f form) plain() *strings.Replacer {
	var pairs []string
	for _, c := range f.Strip {
		pairs = append(pairs, string(c), "")
	}
	if f.Decimal != "." {
		pairs = append(pairs, ".", "x", f.Decimal, ".") // with a point it is no number
	}
	return strings.NewReplacer(pairs...)
}

// keys are a text or a list of texts.
type keys []string

// UnmarshalJSON reads either.
func (k *keys) UnmarshalJSON(text []byte) error {
	*k = make(keys, 1)
	if json.Unmarshal(text, &(*k)[0]) == nil {
		return nil
	}
	return json.Unmarshal(text, (*[]string)(k))
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
		err = fmt.Errorf("%s: %w", name, err)
	}
	return c, err
}

// Cells makes tf.Examples of records of cells.
type Cells struct {
	columns  Columns
	header   []string
	features []*interpreter.Feature       // of each cell; nil of one that the signature does not take
	plain    map[string]*strings.Replacer // by column; of those with a form of their own
	row      *row
}

// NewCells returns a maker of the examples that a signature takes. If a feature is in no column, each column must be
// a feature, so that no name is misspelt in silence.
func NewCells(header []string, s *interpreter.Signature, c Columns) (*Cells, error) {
	if !TakesExamples(s) {
		return nil, fmt.Errorf("the signature %s takes no columns of CSV, want JSON", phrase.Name(s.Name))
	}
	cs := &Cells{c, header, make([]*interpreter.Feature, len(header)), map[string]*strings.Replacer{}, newRow(s)}
	for _, f := range c.Forms {
		cs.plain[f.Name] = f.plain()
	}
	var unknown []string
	for i, name := range header {
		f, err := cs.row.find(name)
		switch {
		case slices.Contains(header[:i], name):
			return nil, fmt.Errorf("the header has the column %s twice", phrase.Name(name))
		case err == nil:
			cs.features[i] = f
		case name != c.Label.Name:
			unknown = append(unknown, name)
		}
	}
	var lacks []string
	for _, f := range s.Features {
		if !slices.Contains(header, f.Name) {
			lacks = append(lacks, f.Name)
		}
	}
	if len(unknown) > 0 && len(lacks) > 0 {
		return nil, misspelt(unknown, lacks)
	}
	return cs, nil
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

// Append appends the example of a record to dst.
func (cs *Cells) Append(dst [][]byte, record []string) ([][]byte, error) {
	if len(record) != len(cs.header) {
		return dst, faultf("has %s, want %d as the header has", phrase.Count(len(record), "cell"), len(cs.header))
	}
	for i, f := range cs.features {
		if f == nil {
			continue
		}
		if err := cs.set(f, record[i]); err != nil {
			return dst, within("."+phrase.Name(f.Name), err)
		}
	}
	return cs.row.end(dst)
}

// set sets a feature to a cell. An empty cell is missing, and a word that stands for a missing number.
func (cs *Cells) set(f *interpreter.Feature, cell string) error {
	isText := f.Type == tfpb.DataType_DT_STRING
	if cell == "" || !isText && slices.Contains(cs.columns.Words, strings.TrimSpace(cell)) {
		return nil
	}
	parts := []string{cell}
	for _, b := range cs.columns.Bags {
		if b.Name == f.Name && b.List && b.Separator != "" {
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
		if form := cs.plain[f.Name]; form != nil {
			plain = strings.TrimSpace(form.Replace(plain))
		}
		if _, err := strconv.ParseFloat(plain, 8*bundle.DType(f.Type).Size()); err != nil {
			return faultf("is %s, want a number", phrase.Quote(part))
		}
		if err := values.scalar(&cursor{text: []byte(plain)}); err != nil {
			return err
		}
	}
	return cs.row.set(f, &values.tensor)
}

// ReadTable returns the examples of a CSV text with a header. What they take is told to tell, which may be nil.
func ReadTable(text []byte, s *interpreter.Signature, c Columns, tell Meter) (*interpreter.Tensor, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("the body has no header of CSV: %w", err)
	}
	cells, err := NewCells(header, s, c)
	if err != nil {
		return nil, err
	}
	t, m := &interpreter.Tensor{Type: tfpb.DataType_DT_STRING}, meter{tell: tell}
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = m.take(rowBytes + valueBytes*len(record))
		}
		if err == nil {
			t.Bytes, err = cells.Append(t.Bytes, record)
		}
		if err != nil {
			return nil, within(fmt.Sprintf("record %d", len(t.Bytes)), err)
		}
	}
	if len(t.Bytes) == 0 {
		return nil, errors.New("the body has a header and no record")
	}
	t.Shape = []int{len(t.Bytes)}
	return t, nil
}
