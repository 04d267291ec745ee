package parquet

import (
	"errors"
	"fmt"
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

// IsNumber reports whether the values are numbers.
func (k Kind) IsNumber() bool { return k >= Integer && k <= Boolean }

// widths are the bytes of a value of each physical type, 0 where they differ.
func (e *element) width() int {
	return [types]int{typeBoolean: 1, typeInt32: 4, typeInt64: 8, typeInt96: 12, typeFloat: 4, typeDouble: 8, typeFixed: int(e.length)}[e.physical]
}

// mostFixed bounds the length of values of fixed length, and mostScale the scale of decimals.
const (
	mostFixed = 1 << 20
	mostScale = 1000
)

// settle finds the kind of a leaf, or why it cannot be read.
func (c *Column) settle() {
	if c.physical >= types || c.physical == typeFixed && (c.length < 1 || c.length > mostFixed) || c.scale < -mostScale || c.scale > mostScale {
		c.Fault = fmt.Errorf("has type %d of length %d and scale %d, want one of Parquet's", c.physical, c.length, c.scale)
		return
	}
	if c.converted == 21 {
		c.Fault = errors.New("is an interval, want a type that pandas reads")
		return
	}
	is := func(physical ...int64) bool {
		for _, p := range physical {
			if c.physical == p {
				return true
			}
		}
		return false
	}
	switch c.logical {
	case logicalDecimal:
		c.want(is(typeInt32, typeInt64, typeBytes, typeFixed), Decimal)
	case logicalDate:
		c.want(is(typeInt32), Date)
	case logicalTime:
		c.want(is(typeInt32, typeInt64) && c.unit > 0, Time)
	case logicalStamp:
		c.want(is(typeInt64) && c.unit > 0, Timestamp)
	case logicalNull:
		c.Kind = Nothing
	case logicalUUID:
		c.want(is(typeFixed) && c.length == 16, UUID)
	case logicalFloat16:
		c.want(is(typeFixed) && c.length == 2, Float)
	default:
		c.Kind = [types]Kind{
			typeBoolean: Boolean, typeInt32: Integer, typeInt64: Integer, typeInt96: Timestamp, typeFloat: Float, typeDouble: Float, typeBytes: Text, typeFixed: Text,
		}[c.physical]
	}
}

// want sets the kind if the physical type suits it.
func (c *Column) want(suits bool, k Kind) {
	c.Kind = k
	if !suits {
		c.Fault = errors.New("has a type that does not suit its kind, " + k.String())
	}
}
