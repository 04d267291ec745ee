package bundled

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
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
		label, err := "", error(nil)
		if r.labels {
			line, label, err = r.cut(line)
		}
		var inputs []*interpreter.Tensor
		if err == nil {
			inputs, err = ask.Row(line, r.inputs)
		}
		switch {
		case err != nil:
		case len(r.folders) > 0:
			err = r.addExample(inputs[0].Bytes[0], label)
		default:
			err = r.add(inputs, label)
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
		return input.ReadError(r.name, err)
	}
	return nil
}

// cut returns a row without the label, and the label.
func (r *reader) cut(line []byte) (row []byte, label string, err error) {
	name := r.columns.Label.Name
	row, value, err := ask.CutMember(line, name)
	if err == nil && value == nil {
		err = fmt.Errorf("no key %s", phrase.Name(name))
	}
	if json.Unmarshal(value, &label) != nil {
		label = string(value) // a number, true or false
	}
	return row, label, err
}
