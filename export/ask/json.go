package ask

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"unsafe"

	"ringtrain/ring/phrase"
)

const (
	maxDepth = 64  // of lists in each other: the rank of a tensor
	maxShown = 256 // bytes of a value in a message
)

// notFinite are the numbers that JSON does not know, and numbers of the same length that it knows.
var notFinite = []struct{ word, number string }{{"NaN", "0.0"}, {"Infinity", "0.000000"}, {"Inf", "0.0"}}

// check verifies that text is one value of JSON, in which numbers may also be NaN, Infinity and Inf.
func check(text []byte) error {
	if json.Valid(text) {
		return nil
	}
	finite, quoted := bytes.Clone(text), false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"':
			quoted = !quoted
		case b == '\\' && quoted:
			i++
		case (b == 'N' || b == 'I') && !quoted:
			for _, n := range notFinite {
				if bytes.HasPrefix(text[i:], []byte(n.word)) {
					i += copy(finite[i:], n.number) - 1
					break
				}
			}
		}
	}
	err := json.Unmarshal(finite, new(json.RawMessage))
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("the body is no JSON at byte %d: %w", s.Offset, err)
	}
	return err
}

// Meter is told how many bytes more a request is about to take, some at a time. An error ends the request.
type Meter func(bytes int) error

// The memory that a value takes, and a row of columns with what is made of it up to its answer.
const (
	valueBytes = 32
	rowBytes   = 256
)

// meter sums up what a request takes until it is worth telling.
type meter struct {
	tell    Meter // nil: nobody
	pending int
}

func (m *meter) take(bytes int) error {
	const step = 64 << 10
	m.pending += bytes
	if m.pending < step || m.tell == nil {
		return nil
	}
	bytes, m.pending = m.pending, 0
	return m.tell(bytes)
}

// cursor reads a JSON text from front to back. The text has passed check, so its methods need no errors.
type cursor struct {
	text  []byte
	at    int
	meter *meter
}

// peek moves past white space and returns the byte there, 0 at the end.
func (c *cursor) peek() byte {
	for ; c.at < len(c.text); c.at++ {
		switch b := c.text[c.at]; b {
		case ' ', '\t', '\n', '\r':
		default:
			return b
		}
	}
	return 0
}

// more moves into a list or an object, or past a comma, and to the next item, or past the end. It reports whether
// there is one.
func (c *cursor) more(end byte) bool {
	if c.peek() != end {
		c.at++ // the bracket, or a comma
	}
	if c.peek() == end {
		c.at++
		return false
	}
	return true
}

// eachItem calls f at each item of the list at the cursor. f must move past the item.
func (c *cursor) eachItem(f func() error) error {
	for i := 0; c.more(']'); i++ {
		err := c.meter.take(valueBytes)
		if err == nil {
			err = f()
		}
		if err != nil {
			return within("["+strconv.Itoa(i)+"]", err)
		}
	}
	return nil
}

// members yields the keys of the object at the cursor. The loop must move past each value.
func (c *cursor) members() iter.Seq[string] {
	return func(yield func(string) bool) {
		for c.more('}') {
			key := c.string()
			c.peek()
			c.at++ // the colon
			c.peek()
			if !yield(view(key)) {
				return
			}
		}
	}
}

// string returns the text at the cursor and moves past it. The text is a part of the JSON unless it has escapes.
func (c *cursor) string() []byte {
	from, escaped := c.at, false
	for c.at++; c.text[c.at] != '"'; c.at++ {
		if c.text[c.at] == '\\' {
			c.at++
			escaped = true
		}
	}
	c.at++
	if !escaped {
		return c.text[from+1 : c.at-1 : c.at-1]
	}
	var text string
	_ = json.Unmarshal(c.text[from:c.at], &text) // check has verified it
	return []byte(text)
}

// word returns the number, true, false or null at the cursor and moves past it.
func (c *cursor) word() string {
	from := c.at
	for ; c.at < len(c.text); c.at++ {
		switch c.text[c.at] {
		case ',', ']', '}', ' ', '\t', '\n', '\r':
			return view(c.text[from:c.at])
		}
	}
	return view(c.text[from:])
}

// skip moves past the value at the cursor.
func (c *cursor) skip() {
	switch c.peek() {
	case '{':
		for range c.members() {
			c.skip()
		}
	case '[':
		for c.more(']') {
			c.skip()
		}
	case '"':
		c.string()
	default:
		c.word()
	}
}

// shown returns the value at the cursor for a message.
func (c *cursor) shown() string {
	at := *c
	at.skip()
	return phrase.Foreign(view(c.text[c.at:at.at]), maxShown)
}

// view returns b as a string without a copy.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
