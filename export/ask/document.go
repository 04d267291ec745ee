package ask

import (
	"bytes"
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

// Document is the JSON object of a request.
type Document struct {
	text    []byte
	meter   *meter
	members map[string]int // where the value of each of memberKeys begins; of one that is there twice the first
}

// memberKeys are the keys of a request that mean something. Others are passed over: they may be many.
var memberKeys = []string{signatureName, "instances", "inputs", "examples", "context"}

const signatureName = "signature_name"

// Parse reads a request. The tensors that are made of it may refer to text. Parse and they report their memory to
// tell, which may be nil.
func Parse(text []byte, tell Meter) (*Document, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	c := cursor{text: text}
	if c.peek() == 0 {
		return nil, errors.New("the body is empty, want a JSON object")
	}
	if err := check(text); err != nil {
		return nil, err
	}
	if c.peek() != '{' {
		return nil, fmt.Errorf("the body is %s, want a JSON object", c.shown())
	}
	d := &Document{text, &meter{tell: tell}, map[string]int{}}
	for key := range c.members() {
		if _, twice := d.members[key]; !twice && slices.Contains(memberKeys, key) {
			d.members[key] = c.at
		}
		c.skip()
	}
	return d, nil
}

// find returns a cursor at the value of a key, nil if there is none.
func (d *Document) find(key string) *cursor {
	if at, ok := d.members[key]; ok {
		return &cursor{d.text, at, d.meter}
	}
	return nil
}

// list returns a cursor at the value of a key, which must be a list that is not empty.
func (d *Document) list(key string) (*cursor, error) {
	c := d.find(key)
	switch {
	case c == nil:
		return nil, fmt.Errorf("the body has no key %s", key)
	case c.peek() != '[':
		return nil, &fault{key, "is " + c.shown() + ", want a list"}
	case c.first().peek() == ']':
		return nil, &fault{key, "is empty, want at least one item"}
	}
	return c, nil
}

// Signature returns the name of the signature that is asked for.
func (d *Document) Signature() (string, error) {
	c := d.find(signatureName)
	if c == nil {
		return DefaultSignature, nil
	}
	if c.peek() != '"' {
		return "", &fault{signatureName, "is " + c.shown() + ", want a text"}
	}
	if name := c.string(); len(name) > 0 {
		return string(name), nil
	}
	return DefaultSignature, nil
}

// Inputs returns the tensors of a predict request, in the order of the inputs of the signature. The answer
// to rows has rows, too.
func (d *Document) Inputs(s *interpreter.Signature) (inputs []*interpreter.Tensor, rows bool, err error) {
	const instances, columns = "instances", "inputs"
	c := d.find(columns)
	rows = d.find(instances) != nil
	switch {
	case len(s.Inputs) == 0:
		return nil, false, fmt.Errorf("the signature %s has no inputs", phrase.Name(s.Name))
	case rows && c != nil:
		return nil, false, errors.New("the body has both instances and inputs, want one of them")
	case c != nil && TakesExamples(s) && c.hasColumn(s):
		return nil, false, fmt.Errorf(`inputs are columns of the model, want them by row: {"instances": [%s]}`, someRow(s))
	case c != nil:
		inputs, err = tensors(c, s, false)
		return inputs, false, within(columns, err)
	case !rows:
		return nil, false, errors.New("the body has neither instances (rows) nor inputs (columns)")
	}
	c, err = d.list(instances)
	if err != nil {
		return nil, true, err
	}
	inputs, err = rowsAt(c, s)
	return inputs, true, within(instances, err)
}

// Row returns the inputs of one row: the JSON of an item of instances. The error does not say where the row is.
func Row(text []byte, s *interpreter.Signature) ([]*interpreter.Tensor, error) {
	if err := check(text); err != nil {
		return nil, err
	}
	inputs, err := rowsAt(&cursor{text: slices.Concat([]byte("["), text, []byte("]")), meter: &meter{}}, s)
	if err != nil {
		return nil, errors.New(strings.TrimSpace(strings.TrimPrefix(err.Error(), "[0]")))
	}
	return inputs, nil
}

// CutMember returns an object without one of its members, and the JSON of that member, nil if there is none.
func CutMember(object []byte, name string) (rest, value []byte, err error) {
	if err := check(object); err != nil {
		return nil, nil, err
	}
	c := cursor{text: object}
	if c.peek() != '{' {
		return nil, nil, fmt.Errorf("%s is no object", c.shown())
	}
	rest = []byte{'{'}
	for key := range c.members() {
		from := c.at
		c.skip()
		if key == name {
			value = object[from:c.at]
			continue
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(appendText(rest, key), ':'), object[from:c.at]...)
	}
	return append(rest, '}'), value, nil
}

// rowsAt returns the inputs of the list of rows at the cursor.
func rowsAt(c *cursor, s *interpreter.Signature) ([]*interpreter.Tensor, error) {
	first := c.first()
	switch {
	case TakesExamples(s) && first.isObject() && !first.isNamed(s):
		examples, err := newRow(s.Features).all(c)
		return []*interpreter.Tensor{examples}, err
	case TakesExamples(s) && first.peek() == '[':
		return nil, &fault{"[0]", "is a list, want an object of columns, as " + someRow(s)}
	}
	return tensors(c, s, true)
}

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

// first returns a cursor at the first item of a list, or at its end.
func (c *cursor) first() *cursor {
	first := &cursor{c.text, c.at + 1, c.meter}
	first.peek()
	return first
}

// isObject reports whether an object is at the cursor that is no {"b64": TEXT}.
func (c *cursor) isObject() bool {
	at := *c
	_, text := at.base64()
	return c.peek() == '{' && !text
}

// hasColumn reports whether an object is at the cursor whose first key is a feature of a signature.
func (c *cursor) hasColumn(s *interpreter.Signature) bool {
	at := *c
	if !at.isObject() {
		return false
	}
	for key := range at.members() {
		return slices.ContainsFunc(s.Features, func(f interpreter.Feature) bool { return f.Name == key })
	}
	return false
}

// isNamed reports whether the object at the cursor names the input of a signature, and is no row of columns:
// {"examples": TEXT} and not {"age": 31}.
func (c *cursor) isNamed(s *interpreter.Signature) bool {
	at := *c
	for key := range at.members() {
		return key == s.Inputs[0].Key && !slices.ContainsFunc(s.Features, func(f interpreter.Feature) bool { return f.Name == key })
	}
	return false
}

// tensors makes the inputs of a signature of the value at the cursor: that of the only input, or an object with each
// input. Of rows it is a list of such values.
func tensors(c *cursor, s *interpreter.Signature, rows bool) ([]*interpreter.Tensor, error) {
	one := c
	if rows {
		one = c.first()
	}
	keyed := one.isObject()
	if !keyed && len(s.Inputs) != 1 {
		return nil, faultf("has values without keys, want objects: the inputs are %s", list(s.Inputs))
	}
	fillers := make([]filler, len(s.Inputs))
	for i, p := range s.Inputs {
		fillers[i].tensor.Type = p.Type
	}
	next := func() error {
		switch object := c.isObject(); {
		case object != keyed:
			return faultf("is %s, want %s as the first item is", c.shown(), map[bool]string{false: "a value or a list", true: "an object"}[keyed])
		case keyed:
			return addObject(c, s.Inputs, fillers)
		}
		return fillers[0].add(c)
	}
	var err error
	if rows {
		err = c.eachItem(next)
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
	for key := range c.members() {
		at := slices.IndexFunc(inputs, func(p interpreter.Port) bool { return p.Key == key })
		if at < 0 || fillers[at].values > before {
			return faultf("has the key %s, want each of the inputs %s once", phrase.Name(key), list(inputs))
		}
		if err := fillers[at].add(c); err != nil {
			return within("."+inputs[at].Key, err)
		}
		found++
	}
	if found < len(inputs) {
		return faultf("has %d of the inputs %s, want each", found, list(inputs))
	}
	return nil
}

func list(inputs []interpreter.Port) string { return phrase.Names(interpreter.Keys(inputs), MaxNames) }
