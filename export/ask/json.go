package ask

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"ringtrain/ring/phrase"
)

const (
	maxDepth = 64  // of lists in each other: the rank of a tensor
	maxShown = 256 // bytes of a value in a message
)

// cursor reads a JSON text from front to back, in which numbers may also be NaN, Infinity and Inf.
type cursor struct {
	*jsontext.Decoder        // of the text with finite numbers
	text              []byte // as it was sent
}

func newCursor(text []byte) *cursor {
	return &cursor{jsontext.NewDecoder(bytes.NewBuffer(finite(text)), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), text}
}

// notFinite are the numbers that JSON does not know, and numbers of the same length that it knows.
var notFinite = []struct{ word, number string }{{"NaN", "0.0"}, {"Infinity", "0.000000"}, {"Inf", "0.0"}}

// finite returns text with other numbers in the place of those that JSON does not know. Text in quotes stays.
func finite(text []byte) []byte {
	if !bytes.Contains(text, []byte("NaN")) && !bytes.Contains(text, []byte("Inf")) {
		return text
	}
	all, quoted := bytes.Clone(text), false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"':
			quoted = !quoted
		case b == '\\' && quoted:
			i++
		case (b == 'N' || b == 'I') && !quoted:
			for _, n := range notFinite {
				if bytes.HasPrefix(text[i:], []byte(n.word)) {
					i += copy(all[i:], n.number) - 1
					break
				}
			}
		}
	}
	return all
}

// raw returns the value at the cursor as it was sent, and moves past it.
func (c *cursor) raw() ([]byte, error) {
	value, err := c.ReadValue()
	end := int(c.InputOffset())
	return c.text[end-len(value) : end : end], err
}

// list calls f at each item of the list at the cursor, and moves past it. f must move past the item.
func (c *cursor) list(f func() error) error {
	_, err := c.ReadToken()
	for i := 0; err == nil && c.PeekKind() != ']'; i++ {
		err = f()
		if err != nil {
			return within("["+strconv.Itoa(i)+"]", err)
		}
	}
	if err == nil {
		_, err = c.ReadToken()
	}
	return err
}

// object calls f with each key of the object at the cursor, and moves past it. f must move past the value.
func (c *cursor) object(f func(key string) error) error {
	if c.PeekKind() != '{' {
		value, err := c.raw()
		return cmp.Or(err, faultf("is %s, want a JSON object", shown(value)))
	}
	_, err := c.ReadToken()
	for err == nil && c.PeekKind() != '}' {
		var key []byte
		key, err = c.raw()
		if err == nil {
			err = f(view(unquoted(key)))
		}
	}
	if err == nil {
		_, err = c.ReadToken()
	}
	return err
}

// end returns an error if anything comes behind the value that was read, and says where the text is no JSON.
func (c *cursor) end(err error) error {
	if err == nil {
		if _, err = c.ReadToken(); err == io.EOF {
			return nil
		}
	}
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("the body is no JSON at byte %d: %w", s.ByteOffset+1, s.Err)
	}
	if err == nil {
		return fmt.Errorf("the body is no JSON at byte %d: another value comes behind the first", c.InputOffset())
	}
	return err
}

// enter returns the kind of the value at the cursor. It moves into an object, and behind its first key, which it returns.
func (c *cursor) enter() (kind jsontext.Kind, key string) {
	kind = c.PeekKind()
	if kind == '{' {
		_, _ = c.ReadToken() // an error comes again when the value is read
		if t, err := c.ReadToken(); err == nil && t.Kind() == '"' {
			key = t.String()
		}
	}
	return kind, key
}

// unquoted returns the text of a string of JSON: a part of it, unless it has escapes.
func unquoted(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1 : len(quoted)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, quoted) // the decoder has read it
	return text
}

// shown returns a value for a message.
func shown(text []byte) string { return phrase.Foreign(view(text), maxShown) }

// view returns b as a string without a copy.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
