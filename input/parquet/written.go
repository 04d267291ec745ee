package parquet

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"time"
)

// appendText writes a plain value as pandas does into CSV, nothing where it is missing. docs/data.md has the table.
func (c *Column) appendText(dst, raw []byte) []byte {
	switch c.Kind {
	case Integer:
		if c.unsigned && c.physical == typeInt64 {
			return strconv.AppendUint(dst, binary.LittleEndian.Uint64(raw), 10)
		}
		return strconv.AppendInt(dst, c.integer(raw), 10)
	case Float:
		return c.appendFloat(dst, raw)
	case Decimal:
		return c.appendDecimal(dst, raw)
	case Boolean:
		if c.digits {
			return append(dst, '0'+raw[0])
		}
		return strconv.AppendBool(dst, raw[0] != 0)
	case Date:
		return time.Unix(c.integer(raw)*daySeconds, 0).UTC().AppendFormat(dst, time.DateOnly)
	case Time:
		return appendTime(dst, c.integer(raw), c.second())
	case Timestamp:
		return c.appendStamp(dst, raw)
	case UUID:
		return appendUUID(dst, raw)
	case Text:
		return append(dst, raw...)
	}
	return dst
}

const daySeconds = 24 * 60 * 60

// appendFloat writes the shortest text that stands for the number, as Python does.
func (c *Column) appendFloat(dst, raw []byte) []byte {
	switch c.physical {
	case typeDouble:
		return appendNumber(dst, math.Float64frombits(binary.LittleEndian.Uint64(raw)), 64)
	case typeFloat:
		return appendNumber(dst, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))), 32)
	}
	half := binary.LittleEndian.Uint16(raw)
	v := ofHalf(half)
	for digits := range 5 { // five tell all halves apart
		var memory [32]byte
		short, err := strconv.ParseFloat(string(strconv.AppendFloat(memory[:0], v, 'e', digits, 64)), 64)
		if err == nil && toHalf(short) == half {
			return appendNumber(dst, short, 64)
		}
	}
	return appendNumber(dst, v, 64)
}

// ofHalf is the number of IEEE's 16 bits.
func ofHalf(h uint16) float64 {
	exponent, fraction := int(h>>10&31), float64(h&1023)
	var v float64
	switch exponent {
	case 31:
		v = math.Inf(1)
		if fraction > 0 {
			return math.NaN()
		}
	case 0:
		v = math.Ldexp(fraction, -24)
	default:
		v = math.Ldexp(1024+fraction, exponent-25)
	}
	if h>>15 == 1 {
		v = -v
	}
	return v
}

// toHalf is the nearest number of 16 bits, of finite numbers in their range.
func toHalf(v float64) uint16 {
	sign := uint16(math.Float64bits(v) >> 48 & 0x8000)
	v = math.Abs(v)
	if v == 0 {
		return sign
	}
	_, exponent := math.Frexp(v)
	exponent = max(exponent, -13) // below are those without a leading 1
	bits := uint16(math.RoundToEven(math.Ldexp(v, 11-exponent)))
	return sign | (uint16(exponent+13)<<10 + bits)
}

// appendNumber writes a number as Python's repr does, and nothing for NaN.
func appendNumber(dst []byte, v float64, bits int) []byte {
	switch {
	case v != v:
		return dst
	case math.IsInf(v, 0):
		if v < 0 {
			dst = append(dst, '-')
		}
		return append(dst, "inf"...)
	}
	if size := math.Abs(v); v != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.AppendFloat(dst, v, 'e', -1, bits)
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, v, 'f', -1, bits)
	for _, b := range dst[from:] {
		if b == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// appendDecimal writes a decimal with its scale, as Python's Decimal does.
func (c *Column) appendDecimal(dst, raw []byte) []byte {
	var digits []byte
	negative := false
	var memory [32]byte
	if c.physical == typeInt32 || c.physical == typeInt64 {
		v := c.integer(raw)
		if negative = v < 0; negative {
			digits = strconv.AppendUint(memory[:0], uint64(-v), 10)
		} else {
			digits = strconv.AppendUint(memory[:0], uint64(v), 10)
		}
	} else {
		v := new(big.Int).SetBytes(raw)
		if len(raw) > 0 && raw[0]&0x80 != 0 {
			negative = true
			v.Sub(new(big.Int).Lsh(big.NewInt(1), uint(8*len(raw))), v)
		}
		digits = v.Append(memory[:0], 10)
	}
	if negative {
		dst = append(dst, '-')
	}
	point := len(digits) - int(c.scale) // digits before the point
	switch {
	case c.scale < 0 || point < -5:
		dst = append(dst, digits[0])
		if len(digits) > 1 {
			dst = append(append(dst, '.'), digits[1:]...)
		}
		dst = append(dst, 'E')
		if point > 0 {
			dst = append(dst, '+')
		}
		return strconv.AppendInt(dst, int64(point-1), 10)
	case c.scale == 0:
		return append(dst, digits...)
	case point <= 0:
		dst = append(dst, "0."...)
		for ; point < 0; point++ {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	return append(append(append(dst, digits[:point]...), '.'), digits[point:]...)
}

// second is how many units of its time a second has.
func (c *Column) second() int64 {
	return map[int64]int64{unitMilli: 1e3, unitMicro: 1e6, unitNano: 1e9}[c.unit]
}

// appendTime writes a time of day, and one beyond a day as its number.
func appendTime(dst []byte, v, second int64) []byte {
	if v < 0 || v >= daySeconds*second {
		return strconv.AppendInt(dst, v, 10)
	}
	t := time.Unix(v/second, v%second*(1e9/second)).UTC()
	return appendFraction(t.AppendFormat(dst, time.TimeOnly), t)
}

// appendFraction writes the fraction of a second in 3, 6 or 9 digits, or none.
func appendFraction(dst []byte, t time.Time) []byte {
	switch ns := t.Nanosecond(); {
	case ns == 0:
		return dst
	case ns%1e6 == 0:
		return t.AppendFormat(dst, ".000")
	case ns%1e3 == 0:
		return t.AppendFormat(dst, ".000000")
	}
	return t.AppendFormat(dst, ".000000000")
}

// julianEpoch is the Julian day of 1970-01-01.
const julianEpoch = 2440588

// appendStamp writes a day and its time, with the offset of UTC if the values say that they are in UTC.
func (c *Column) appendStamp(dst, raw []byte) []byte {
	var t time.Time
	if c.physical == typeInt96 {
		days := int64(binary.LittleEndian.Uint32(raw[8:])) - julianEpoch
		t = time.Unix(days*daySeconds, int64(binary.LittleEndian.Uint64(raw)))
	} else {
		v, second := c.integer(raw), c.second()
		t = time.Unix(v/second, v%second*(1e9/second))
	}
	t = t.UTC()
	if c.days {
		return t.AppendFormat(dst, time.DateOnly)
	}
	dst = appendFraction(t.AppendFormat(dst, time.DateTime), t)
	if c.utc {
		dst = append(dst, "+00:00"...)
	}
	return dst
}

func appendUUID(dst, raw []byte) []byte {
	for i, b := range raw {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, []byte{b})
	}
	return dst
}
