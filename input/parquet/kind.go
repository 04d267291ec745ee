package parquet

import (
	"errors"
	"fmt"
	"slices"
)

// Kind is what the values of a column are.
type Kind int

const (
	Nothing Kind = iota // no record has a value
	Integer
	Float
	Decimal
	Boolean
	Date
	Time
	Timestamp
	Text
	UUID
)

// String returns the kind for people.
func (k Kind) String() string {
	return [...]string{"nothing", "integer", "float", "decimal", "boolean", "date", "time", "timestamp", "text", "uuid"}[k]
}

// isNumber reports whether the values are numbers.
func (k Kind) isNumber() bool { return k >= Integer && k <= Boolean }

// widths are the bytes of a value of each physical type, 0 where they differ.
func (e *element) width() int {
	return [types]int{typeBoolean: 1, typeInt32: 4, typeInt64: 8, typeInt96: 12, typeFloat: 4, typeDouble: 8, typeFixed: int(e.length)}[e.physical]
}

// maxFixed bounds the length of values of fixed length, maxDecimal that of decimals, and maxScale their scale.
const (
	maxFixed   = 1 << 20
	maxDecimal = 64
	maxScale   = 1000
)

// convertedInterval is an older logical type.
const convertedInterval = 21

// logicals are the kinds of logical types, the types that each may have, and the length of their values, 0 for any.
var logicals = map[int64]struct {
	kind   Kind
	of     []int64
	length int64
}{
	logicalDecimal: {Decimal, []int64{typeInt32, typeInt64, typeBytes, typeFixed}, 0},
	logicalDate:    {Date, []int64{typeInt32}, 0},
	logicalTime:    {Time, []int64{typeInt32, typeInt64}, 0},
	logicalStamp:   {Timestamp, []int64{typeInt64}, 0},
	logicalUUID:    {UUID, []int64{typeFixed}, 16},
	logicalFloat16: {Float, []int64{typeFixed}, 2},
}

// settle finds the kind of a leaf, or why it cannot be read.
func (c *Column) settle() {
	l, named := logicals[c.logical]
	switch {
	case c.physical >= types || c.physical == typeFixed && (c.length < 1 || c.length > maxFixed) || c.scale < -maxScale || c.scale > maxScale:
		c.Fault = fmt.Errorf("has type %d of length %d and scale %d, want one of Parquet's", c.physical, c.length, c.scale)
	case c.converted == convertedInterval:
		c.Fault = errors.New("is an interval, want a type that pandas reads")
	case c.logical == logicalNull:
		c.Kind = Nothing
	case !named:
		c.Kind = [types]Kind{
			typeBoolean: Boolean, typeInt32: Integer, typeInt64: Integer, typeInt96: Timestamp, typeFloat: Float, typeDouble: Float, typeBytes: Text, typeFixed: Text,
		}[c.physical]
	case !slices.Contains(l.of, c.physical), l.length > 0 && c.length != l.length, c.logical == logicalDecimal && c.length > maxDecimal,
		(l.kind == Time || l.kind == Timestamp) && c.second() == 0:
		c.Fault = fmt.Errorf("is %s of type %d and length %d, want one of Parquet's", l.kind, c.physical, c.length)
	default:
		c.Kind = l.kind
	}
}
