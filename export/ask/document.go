package ask

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringtrain/export/interpreter"
	"ringtrain/export/tfpb"
	"ringtrain/ring/phrase"
)

// DefaultSignature is the signature of a request that names none.
const DefaultSignature = "serving_default"

// Document is the JSON object of a request: the values of memberKeys. Of a key that is there twice the first counts.
type Document map[string][]byte

// memberKeys are the keys of a request that mean something. Others are passed over: they may be many.
var memberKeys = []string{signatureName, "instances", "inputs", "examples", "context"}

const signatureName = "signature_name"

// Meter is told how many bytes more a request is about to take. An error ends the request.
type Meter func(bytes int) error

// The memory that a value takes, and a row of columns with what is made of it up to its answer.
const (
	valueBytes = 32
	rowBytes   = 256
)

// take reports the memory of the values and rows of a request, before it is taken. A row has the byte mark.
func (m Meter) take(text []byte, mark byte) error {
	if m == nil {
		return nil
	}
	return m(valueBytes*bytes.Count(text, []byte{','}) + rowBytes*bytes.Count(text, []byte{mark}))
}

// Parse reads a request, and reports its memory to tell, which may be nil. The tensors that are made of it may refer to text.
func Parse(text []byte, tell Meter) (Document, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("the body is empty, want a JSON object")
	}
	if err := tell.take(text, '{'); err != nil {
		return nil, err
	}
	d := Document{}
	return d, eachMember(text, func(key string, value []byte) {
		if d[key] == nil && slices.Contains(memberKeys, key) {
			d[strings.Clone(key)] = value
		}
	})
}

// eachMember calls f with each key and value of a text that is an object.
func eachMember(text []byte, f func(key string, value []byte)) error {
	c := newCursor(text)
	return within("the body", c.end(c.object(func(key string) error {
		value, err := c.raw()
		f(key, value)
		return err
	})))
}

// list returns the value of a key, which must be a list that is not empty.
func (d Document) list(key string) ([]byte, error) {
	value, ok := d[key]
	if !ok {
		return nil, fmt.Errorf("the body has no key %s", key)
	}
	if value[0] != '[' {
		return nil, &fault{key, "is " + shown(value) + ", want a list"}
	}
	if bytes.TrimSpace(value[1:])[0] == ']' {
		return nil, &fault{key, "is empty, want at least one item"}
	}
	return value, nil
}

// Signature returns the name of the signature that is asked for.
func (d Document) Signature() (string, error) {
	value, ok := d[signatureName]
	if !ok {
		return DefaultSignature, nil
	}
	if value[0] != '"' {
		return "", &fault{signatureName, "is " + shown(value) + ", want a text"}
	}
	return cmp.Or(string(unquoted(value)), DefaultSignature), nil
}

// Inputs returns the tensors of a predict request, in the order of the inputs of the signature. The answer
// to rows has rows, too.
func (d Document) Inputs(s *interpreter.Signature) (inputs []*interpreter.Tensor, rows bool, err error) {
	const instances, columns = "instances", "inputs"
	value := d[columns]
	rows = d[instances] != nil
	switch {
	case len(s.Inputs) == 0:
		return nil, false, fmt.Errorf("the signature %s has no inputs", phrase.Name(s.Name))
	case rows && value != nil:
		return nil, false, errors.New("the body has both instances and inputs, want one of them")
	case value != nil:
		inputs, err = inputsOf(value, s, false)
		return inputs, false, within(columns, err)
	case !rows:
		return nil, false, errors.New("the body has neither instances (rows) nor inputs (columns)")
	}
	value, err = d.list(instances)
	if err != nil {
		return nil, true, err
	}
	inputs, err = inputsOf(value, s, true)
	return inputs, true, within(instances, err)
}

// Row returns the inputs of one row: the JSON of an item of instances. The error does not say where the row is.
func Row(text []byte, s *interpreter.Signature) ([]*interpreter.Tensor, error) {
	c := newCursor(text)
	_, err := c.raw()
	if err := c.end(err); err != nil {
		return nil, err
	}
	inputs, err := inputsOf(slices.Concat([]byte("["), text, []byte("]")), s, true)
	if err != nil {
		return nil, errors.New(strings.TrimSpace(strings.TrimPrefix(err.Error(), "[0]")))
	}
	return inputs, nil
}

// CutMember returns an object without one of its members, and the JSON of that member, nil if there is none.
func CutMember(object []byte, name string) (rest, value []byte, err error) {
	rest = []byte{'{'}
	err = eachMember(object, func(key string, of []byte) {
		if key == name {
			value = of
			return
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(appendText(rest, key), ':'), of...)
	})
	return append(rest, '}'), value, err
}

// inputsOf makes the inputs of a signature of a value: that of the only input, or an object with each input. Of rows it is
// a list of such values, or of columns that tf.Examples are made of.
func inputsOf(text []byte, s *interpreter.Signature, rows bool) ([]*interpreter.Tensor, error) {
	ahead := newCursor(text)
	if rows {
		_, _ = ahead.ReadToken()
	}
	kind, key := ahead.enter()
	keyed := kind == '{' && key != encodedKey
	column := keyed && slices.ContainsFunc(s.Features, func(f interpreter.Feature) bool { return f.Name == key })
	switch examples := TakesExamples(s); {
	case examples && column && !rows:
		return nil, faultf(`are columns of the model, want them by row: {"instances": [%s]}`, someRow(s))
	case examples && rows && kind == '[':
		return nil, &fault{"[0]", "is a list, want an object of columns, as " + someRow(s)}
	case examples && rows && keyed && (column || key != s.Inputs[0].Key):
		texts, err := newRow(s.Features).all(text)
		return []*interpreter.Tensor{texts}, err
	case !keyed && len(s.Inputs) != 1:
		return nil, faultf("has values without keys, want objects: the inputs are %s", list(s.Inputs))
	}
	fillers := make([]filler, len(s.Inputs))
	for i, p := range s.Inputs {
		fillers[i].tensor.Type = p.Type
	}
	c := newCursor(text)
	next := func() error {
		if keyed {
			return addObject(c, s.Inputs, fillers)
		}
		return fillers[0].add(c)
	}
	var err error
	if rows {
		err = c.list(next)
	} else {
		err = next()
	}
	inputs := make([]*interpreter.Tensor, len(fillers))
	for i := range fillers {
		f := &fillers[i]
		inputs[i], f.tensor.Shape = &f.tensor, f.shape
		if rows {
			f.tensor.Shape = append([]int{f.values}, f.shape...)
		}
	}
	return inputs, err
}

// addObject adds the values of the object at the cursor, which has each input once.
func addObject(c *cursor, inputs []interpreter.Port, fillers []filler) error {
	before, found := fillers[0].values, 0
	err := c.object(func(key string) error {
		at := slices.IndexFunc(inputs, func(p interpreter.Port) bool { return p.Key == key })
		if at < 0 || fillers[at].values > before {
			return faultf("has the key %s, want each of the inputs %s once", phrase.Name(key), list(inputs))
		}
		found++
		return within("."+inputs[at].Key, fillers[at].add(c))
	})
	if err == nil && found < len(inputs) {
		err = faultf("has %d of the inputs %s, want each", found, list(inputs))
	}
	return err
}

func list(inputs []interpreter.Port) string { return phrase.Names(interpreter.Keys(inputs), MaxNames) }

// someRow returns how a row of columns looks, for messages.
func someRow(s *interpreter.Signature) string {
	if len(s.Features) == 0 {
		return "{}"
	}
	return `{"` + phrase.Name(s.Features[0].Name) + `": …}`
}

// TakesExamples reports whether tf.Examples are the only input of a signature.
func TakesExamples(s *interpreter.Signature) bool {
	return len(s.Inputs) == 1 && s.Inputs[0].Type == tfpb.DataType_DT_STRING && s.Features != nil
}
