package column

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"ringtrain/input"
	"ringtrain/input/text"
	"ringtrain/ring/phrase"
)

// Cell is what a record has in a column. Text stands for a text, or for a number as it was
// written; an empty one is missing. Texts, IDs and Values are those of a tf.Example, which has lists: Texts
// are two or more, and Text is empty then.
type Cell struct {
	Text   []byte
	Texts  [][]byte
	IDs    []int64
	Values []float32
}

// number reads a cell as a finite float32, and returns missing for an empty one.
func (c *Cell) number(missing float32) (float32, error) {
	if n := len(c.Text); n > 0 && cap(c.Text)-n >= text.Pad {
		if v, length := text.Float32(c.Text[:n+text.Pad]); length == n {
			return v, nil
		}
	}
	v, err := c.read(32, float64(missing))
	return float32(v), err
}

// double is number before it is rounded to float32, whose range it keeps.
func (c *Cell) double(missing float64) (float64, error) {
	if n := len(c.Text); n > 0 && cap(c.Text)-n >= text.Pad {
		if v, length := text.Float64(c.Text[:n+text.Pad]); length == n {
			return v, nil
		}
	}
	return c.read(64, missing)
}

// read is number and double without what is quick.
func (c *Cell) read(bits int, missing float64) (v float64, err error) {
	switch {
	case len(c.Values)+len(c.IDs)+len(c.Texts) > 1:
		return 0, c.list()
	case len(c.Values) == 1:
		v = float64(c.Values[0])
	case len(c.IDs) == 1:
		v = float64(c.IDs[0])
	case len(c.Text) == 0:
		return missing, nil
	default:
		v, err = text.ParseFloat(c.Text, bits)
		if errors.Is(err, strconv.ErrRange) || err == nil && math.IsInf(float64(float32(v)), 0) && !math.IsInf(v, 0) {
			return 0, fmt.Errorf("is %s, want a number in the range of float32", phrase.Quote(string(c.Text)))
		}
		if err != nil {
			return 0, fmt.Errorf("is %s, want a number", phrase.Quote(string(c.Text)))
		}
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("is %g, want a finite number", v)
	}
	if input.Normal(float32(v)) == 0 {
		return 0, nil
	}
	return v, nil
}

// missing reports whether a record has nothing in the column.
func (c *Cell) missing() bool { return len(c.Text)+len(c.Texts)+len(c.IDs)+len(c.Values) == 0 }

// list is the error of a list where one value is wanted.
func (c *Cell) list() error {
	return fmt.Errorf("is a list of %d, want one value", len(c.Texts)+len(c.Values)+len(c.IDs))
}

// text is the cell as a text, empty where it is missing. An integer of a tf.Example is written
// into memory.
func (c *Cell) text(memory *[]byte) ([]byte, error) {
	switch {
	case len(c.Texts)+len(c.IDs) > 1:
		return nil, c.list()
	case len(c.Values) > 0:
		return nil, errors.New("is a float, want a text or an integer")
	case len(c.IDs) == 1:
		*memory = strconv.AppendInt((*memory)[:0], c.IDs[0], 10)
		return *memory, nil
	}
	return c.Text, nil
}

// Written returns the cell as a file of text has it, empty where it is missing or a list of several. A number of a
// tf.Example is written into memory.
func (c *Cell) Written(memory *[]byte) []byte {
	switch {
	case len(c.IDs)+len(c.Values) > 1:
		return nil
	case len(c.IDs) == 1:
		*memory = strconv.AppendInt((*memory)[:0], c.IDs[0], 10)
		return *memory
	case len(c.Values) == 1:
		*memory = strconv.AppendFloat((*memory)[:0], float64(c.Values[0]), 'f', -1, 32)
		return *memory
	}
	return c.Text
}

// view is b as a string, as long as b stays as it is.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
