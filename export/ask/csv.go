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
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
}

// keys are a text or a list of texts.
type keys []string

// UnmarshalJSON reads a text or a list.
func (k *keys) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(text, []byte{'"'}) {
		*k = make(keys, 1)
		return json.Unmarshal(text, &(*k)[0])
	}
	return json.Unmarshal(text, (*[]string)(k))
}

// ReadColumns returns the columns of the export in a version folder; none if it does not describe them.
func ReadColumns(path string) (c Columns, err error) {
	name := filepath.Join(path, "assets.extra", "ringtrain_columns.json")
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err == nil:
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return c, err
}

// Cells makes tf.Examples of the cells of records.
type Cells struct {
	rows       *Rows
	columns    []int    // to features, -1 for a column that the signature does not take
	separators []string // of lists, by feature
	words      []string
}

// NewCells returns a maker of the examples of a signature from records with a header. If a feature is in no
// column, each column must be a feature: a name is not misspelt in silence.
func NewCells(header []string, s *interpreter.Signature, c Columns) (*Cells, error) {
	if !TakesExamples(s) {
		return nil, fmt.Errorf("the signature %s takes no columns of CSV, want JSON", phrase.Name(s.Name))
	}
	cs := &Cells{rows: NewRows(s), separators: make([]string, len(s.Features)), words: c.Words}
	found, unknown := 0, error(nil)
	for _, name := range header {
		at, err := cs.rows.find(name)
		switch {
		case err != nil:
			at = -1
			if name != c.Label.Name {
				unknown = cmp.Or(unknown, err)
			}
		case slices.Contains(cs.columns, at):
			return nil, fmt.Errorf("the column %s is there twice", phrase.Name(name))
		default:
			found++
		}
		cs.columns = append(cs.columns, at)
	}
	if found < len(s.Features) && unknown != nil {
		return nil, unknown
	}
	for _, b := range c.Bags {
		if at, err := cs.rows.find(b.Name); err == nil && b.List {
			cs.separators[at] = b.Separator
		}
	}
	return cs, nil
}

// Append appends the example of a record to dst.
func (cs *Cells) Append(dst [][]byte, record []string) ([][]byte, error) {
	if len(record) != len(cs.columns) {
		return dst, &fault{"", fmt.Sprintf("has %s, want %d as the header has", phrase.Count(len(record), "cell"), len(cs.columns))}
	}
	cs.rows.begin()
	for i, cell := range record {
		if at := cs.columns[i]; at >= 0 {
			if err := cs.cell(at, cell); err != nil {
				return dst, within(" has "+phrase.Name(cs.rows.names[at])+",", err)
			}
		}
	}
	return cs.rows.end(dst)
}

// cell adds a cell as a feature. An empty cell is missing, and a word that stands for a missing number.
func (cs *Cells) cell(feature int, cell string) error {
	b, f := cs.rows, &cs.rows.features[feature]
	kind := kinds[f.Type]
	if cell == "" || kind != bytesList && slices.Contains(cs.words, strings.TrimSpace(cell)) {
		return nil
	}
	parts := []string{cell}
	if s := cs.separators[feature]; s != "" {
		parts = strings.Split(cell, s)
	}
	b.list = b.list[:0]
	for _, part := range parts {
		if kind == bytesList {
			b.text([]byte(part))
			continue
		}
		part = strings.TrimSpace(part)
		want := "a number"
		if !strings.ContainsAny(part, "xX_") { // Go's own forms
			want = b.number(part, kind)
		}
		if want != "" {
			return &fault{"", "which is " + phrase.Quote(part) + ", want " + want}
		}
	}
	if err := b.counted(feature, len(parts)); err != nil {
		return err
	}
	b.entry(f.Name, kind)
	return nil
}

// ReadTable returns the examples of a CSV text with a header.
func ReadTable(text []byte, s *interpreter.Signature, c Columns) (*interpreter.Tensor, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("the body has no header of CSV: %w", err)
	}
	cells, err := NewCells(slices.Clone(header), s, c)
	if err != nil {
		return nil, err
	}
	t := &interpreter.Tensor{Type: tfpb.DataType_DT_STRING}
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err == nil {
			t.Bytes, err = cells.Append(t.Bytes, record)
		}
		if err != nil {
			return nil, within("record "+strconv.Itoa(len(t.Bytes)), err)
		}
	}
	if len(t.Bytes) == 0 {
		return nil, errors.New("the body has a header and no record")
	}
	t.Shape = []int{len(t.Bytes)}
	return t, nil
}
