package parquet

import (
	"encoding/binary"
	"errors"
	"math"

	"ringtrain/input/column"
	"ringtrain/input/text"
)

var errValues = errors.New("has fewer values than it says")

// convert appends n plain values to dst, and returns the bytes behind them.
func (c *Column) convert(dst *vector, src []byte, n int) (rest []byte, err error) {
	width := c.width()
	if width > 0 && len(src)/width < n {
		return nil, errValues
	}
	if width == 0 {
		return c.convertTexts(dst, src, n)
	}
	src, rest = src[:n*width], src[n*width:]
	switch dst.form {
	case column.AsText:
		c.writeTexts(dst, src, width)
	case column.AsIDs:
		for ; len(src) > 0; src = src[width:] {
			dst.ints = append(dst.ints, c.integer(src))
		}
	case column.AsValues:
		for ; len(src) > 0; src = src[width:] {
			dst.floats = append(dst.floats, float32(c.number(src[:width], column.AsNumber, &dst.written)))
		}
	default:
		c.numbers(dst, src, width)
	}
	return rest, nil
}

// numbers appends numbers. The loops are those of the types that most columns have.
func (c *Column) numbers(dst *vector, src []byte, width int) {
	precise := dst.form == column.AsDouble
	switch {
	case c.Kind == Float && c.physical == typeDouble && precise:
		for ; len(src) > 0; src = src[8:] {
			dst.doubles = append(dst.doubles, math.Float64frombits(binary.LittleEndian.Uint64(src)))
		}
	case c.Kind == Float && c.physical == typeFloat && !precise:
		for ; len(src) > 0; src = src[4:] {
			dst.doubles = append(dst.doubles, float64(math.Float32frombits(binary.LittleEndian.Uint32(src))))
		}
	default:
		for ; len(src) > 0; src = src[width:] {
			dst.doubles = append(dst.doubles, c.number(src[:width], dst.form, &dst.written))
		}
	}
}

// tie are the low bits of a float64 that lies amid two float32, whose rounding a text of fewer digits may decide.
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

// convertTexts appends n values of different lengths, each behind its length.
func (c *Column) convertTexts(dst *vector, src []byte, n int) (rest []byte, err error) {
	for ; n > 0; n-- {
		if len(src) < 4 {
			return nil, errValues
		}
		length := binary.LittleEndian.Uint32(src)
		src = src[4:]
		if uint64(length) > uint64(len(src)) {
			return nil, errValues
		}
		raw := src[:length]
		src = src[length:]
		switch {
		case dst.form != column.AsText && dst.form != column.AsValues:
			dst.doubles = append(dst.doubles, c.number(raw, dst.form, &dst.written))
		case dst.form == column.AsValues:
			dst.floats = append(dst.floats, float32(c.number(raw, column.AsNumber, &dst.written)))
		case c.Kind == Text:
			dst.texts = append(dst.texts, raw)
		default:
			c.writeText(dst, raw)
		}
	}
	return src, nil
}

// writeTexts appends the texts of values of one width.
func (c *Column) writeTexts(dst *vector, src []byte, width int) {
	for ; len(src) > 0; src = src[width:] {
		if c.Kind == Text {
			dst.texts = append(dst.texts, src[:width])
		} else {
			c.writeText(dst, src[:width])
		}
	}
}

func (c *Column) writeText(dst *vector, raw []byte) {
	from := len(dst.written)
	dst.written = c.appendText(dst.written, raw)
	dst.texts = append(dst.texts, dst.written[from:])
}
