package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"ringtrain/input/column"
	"ringtrain/input/internal/farmhash"
	"ringtrain/input/text"
)

var errValues = errors.New("has fewer values than it says")

// convert appends n plain values to dst, and returns the bytes behind them.
func (c *Column) convert(dst *vector, src []byte, n int) (rest []byte, err error) {
	width := c.width()
	if width > 0 && len(src)/width < n {
		return nil, errValues
	}
	switch isNumber := dst.form == column.AsNumber || dst.form == column.AsDouble; {
	case isNumber && c.physical == typeDouble:
		c.doubles(dst, src[:8*n])
		return src[8*n:], nil
	case isNumber && c.Kind == Integer && c.physical == typeInt64 && !c.unsigned:
		c.integers(dst, src[:8*n])
		return src[8*n:], nil
	}
	for ; n > 0; n-- {
		length := width
		if width == 0 {
			if len(src) < 4 || uint64(binary.LittleEndian.Uint32(src)) > uint64(len(src)-4) {
				return nil, errValues
			}
			length, src = int(binary.LittleEndian.Uint32(src)), src[4:]
			if c.Kind == Decimal && length > maxDecimal {
				return nil, fmt.Errorf("has a decimal of %d bytes, want at most %d", length, maxDecimal)
			}
		}
		c.add(dst, src[:length])
		src = src[length:]
	}
	return src, nil
}

// add appends a plain value to dst.
func (c *Column) add(dst *vector, raw []byte) {
	switch dst.form {
	case column.AsText:
		if c.Kind != Text {
			from := len(dst.written)
			dst.written = c.appendText(dst.written, raw)
			raw = dst.written[from:]
		}
		dst.texts = append(dst.texts, raw)
	case column.AsPrints:
		if c.Kind != Text {
			dst.written = c.appendText(dst.written[:0], raw)
			raw = dst.written
		}
		print := uint64(0)
		if len(raw) > 0 {
			print = farmhash.Fingerprint64(raw)
		}
		dst.prints = append(dst.prints, print)
	case column.AsIDs:
		dst.ints = append(dst.ints, c.integer(raw))
	case column.AsValues:
		dst.floats = append(dst.floats, float32(c.number(raw, column.AsNumber, &dst.written)))
	default:
		dst.doubles = append(dst.doubles, c.number(raw, dst.form, &dst.written))
	}
}

// doubles is add of all values of DOUBLE.
func (c *Column) doubles(dst *vector, src []byte) {
	from, exact := len(dst.doubles), dst.form == column.AsDouble
	dst.doubles = slices.Grow(dst.doubles, len(src)/8)[:from+len(src)/8]
	all := dst.doubles[from:]
	for i := range all {
		bits := binary.LittleEndian.Uint64(src[8*i:])
		all[i] = math.Float64frombits(bits)
		if bits&(2*tie-1) == tie && !exact {
			all[i] = c.parse(src[8*i:8*i+8], false, &dst.written)
		}
	}
}

// integers is add of all values of INT64.
func (c *Column) integers(dst *vector, src []byte) {
	from, exact := len(dst.doubles), dst.form == column.AsDouble
	dst.doubles = slices.Grow(dst.doubles, len(src)/8)[:from+len(src)/8]
	all := dst.doubles[from:]
	for i := range all {
		v := int64(binary.LittleEndian.Uint64(src[8*i:]))
		all[i] = float64(v)
		if !exact {
			all[i] = float64(float32(v))
		}
	}
}

// tie are the low bits of a float64 that lies amid two float32. A text of fewer digits may decide how it rounds.
const tie = 1 << 28

// number is the number that the text of a plain value stands for: rounded to float64, or so that rounding it to float32
// gives what rounding the text does.
func (c *Column) number(raw []byte, form column.Form, memory *[]byte) float64 {
	var v float64
	exact := form == column.AsDouble
	switch {
	case c.Kind == Boolean:
		return float64(raw[0])
	case c.Kind == Integer && !c.unsigned:
		if i := c.integer(raw); exact {
			return float64(i)
		} else {
			return float64(float32(i))
		}
	case c.physical == typeDouble:
		v = math.Float64frombits(binary.LittleEndian.Uint64(raw))
	case c.physical == typeFloat && !exact:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	case c.Kind == Decimal && (c.physical == typeInt32 || c.physical == typeInt64) && c.scale >= 0 && c.scale < int64(len(powers)) && c.small(raw):
		v = float64(c.integer(raw)) / powers[c.scale]
	default:
		return c.parse(raw, exact, memory)
	}
	if !exact && math.Float64bits(v)&(2*tie-1) == tie {
		return c.parse(raw, exact, memory)
	}
	return v
}

// powers are the powers of ten that a float64 has exactly.
var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// small reports whether a float64 has an integer exactly.
func (c *Column) small(raw []byte) bool {
	i := c.integer(raw)
	return i <= 1<<53 && i >= -1<<53
}

// parse reads the text of a value as a number, NaN if it is none.
func (c *Column) parse(raw []byte, exact bool, memory *[]byte) float64 {
	*memory = c.appendText((*memory)[:0], raw)
	width := 32
	if exact {
		width = 64
	}
	v, err := text.ParseFloat(*memory, width)
	if err != nil && !math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}

// integer is a plain value of INT32 or INT64.
func (c *Column) integer(raw []byte) int64 {
	switch {
	case c.physical == typeInt64:
		return int64(binary.LittleEndian.Uint64(raw))
	case c.unsigned:
		return int64(binary.LittleEndian.Uint32(raw))
	}
	return int64(int32(binary.LittleEndian.Uint32(raw)))
}
