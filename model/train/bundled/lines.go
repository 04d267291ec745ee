package bundled

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ringtrain/export/ask"
	"ringtrain/input"
	"ringtrain/ring/phrase"
)

// maxLine bounds a line of JSON.
const maxLine = 16 << 20

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
