package savedmodel

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// dateNodes are the parts of the dates of a column, int64 [n], and which dates are missing, bool [n]. The parts of a
// missing date mean nothing.
type dateNodes struct {
	missing string
	parts   map[string]string
}

// longNodes adds arithmetic of int64. Its operations have names of one beginning.
type longNodes struct {
	columnNodes
	name string
	n    int
}

// op adds an operation on nodes (string) and constants (int64).
func (l *longNodes) op(op string, args ...any) string {
	l.n++
	name := fmt.Sprintf("%s%d", l.name, l.n)
	var inputs []string
	for i, arg := range args {
		node, ok := arg.(string)
		if !ok {
			node = l.long(fmt.Sprintf("%s/%d", name, i), int64(arg.(int)))
		}
		inputs = append(inputs, node)
	}
	return l.add(op, name, inputs, int64s())
}

func (l *longNodes) sum(x any, more ...any) string {
	for _, y := range more {
		x = l.op("AddV2", x, y)
	}
	return x.(string)
}

func (l *longNodes) minus(x, y any) string { return l.op("Sub", x, y) }
func (l *longNodes) times(x, y any) string { return l.op("Mul", x, y) }

// over and rest are the quotient, rounded down, and what it leaves.
func (l *longNodes) over(x, y any) string { return l.op("FloorDiv", x, y) }
func (l *longNodes) rest(x, y any) string { return l.op("FloorMod", x, y) }

// is adds 1 where a comparison holds, else 0.
func (l *longNodes) is(op string, x, y any) string {
	holds := l.op(op, x, y)
	return l.cast(holds+"/as_long", holds, tfpb.DataType_DT_BOOL, tfpb.DataType_DT_INT64)
}

// all adds the conjunction of truths.
func (l *longNodes) all(truths ...string) string {
	x := truths[0]
	for _, y := range truths[1:] {
		l.n++
		x = l.add("LogicalAnd", fmt.Sprintf("%s%d", l.name, l.n), []string{x, y}, attrs{})
	}
	return x
}

// daysTo adds the days from 1970 to a day of the Gregorian calendar, and partsOf the day of so many days (Hinnant,
// "chrono-Compatible Low-Level Date Algorithms"). Years there begin in March.
func (l *longNodes) daysTo(year, month, day string) string {
	year = l.minus(year, l.is("LessEqual", month, 2))
	era := l.over(year, 400)
	ofEra := l.minus(year, l.times(era, 400))
	ofYear := l.sum(l.over(l.sum(l.times(l.rest(l.sum(month, 9), 12), 153), 2), 5), day, -1)
	days := l.sum(l.times(ofEra, 365), l.over(ofEra, 4), l.times(l.over(ofEra, 100), -1), ofYear)
	return l.sum(l.times(era, 146097), days, -719468)
}

// partsOf adds the parts of a moment, in seconds from 1970. See daysTo.
func (l *longNodes) partsOf(seconds string) map[string]string {
	days := l.over(seconds, 86400)
	z := l.sum(days, 719468)
	era := l.over(z, 146097)
	day := l.minus(z, l.times(era, 146097))
	year := l.over(l.sum(day, l.times(l.over(day, 1460), -1), l.over(day, 36524), l.times(l.over(day, 146096), -1)), 365)
	ofYear := l.minus(day, l.sum(l.times(year, 365), l.over(year, 4), l.times(l.over(year, 100), -1)))
	march := l.over(l.sum(l.times(ofYear, 5), 2), 153)
	month := l.rest(l.sum(march, 2), 12)
	return map[string]string{
		graph.Days:            days,
		graph.Year:            l.sum(year, l.times(era, 400), l.is("LessEqual", month, 1)),
		string(graph.Month):   month,
		string(graph.Day):     l.minus(ofYear, l.over(l.sum(l.times(march, 153), 2), 5)),
		string(graph.Weekday): l.rest(l.sum(days, 3), 7),
		string(graph.Hour):    l.over(l.rest(seconds, 86400), 3600),
	}
}

// datePart adds a part of dates as a number, NaN for a missing one.
func (cn columnNodes) datePart(name string, d dateNodes, part string) string {
	x := cn.cast(name+"double", d.parts[part], tfpb.DataType_DT_INT64, tfpb.DataType_DT_DOUBLE)
	return cn.add("SelectV2", name+"known", []string{d.missing, cn.double(name+"none", math.NaN()), x}, doubles())
}

// dates adds the parts of the dates of a column: of texts, or of int64 if texts is "".
func (cn columnNodes) dates(name string, d graph.DateColumn, texts, longs string, words []string) dateNodes {
	l := &longNodes{columnNodes: cn, name: name}
	unit := map[string]int{graph.Unix: 1, graph.UnixMilli: 1000}[d.Layout]
	switch {
	case unit == 0:
		return l.written(d, texts, words)
	case texts != "":
		x := cn.numberOf(name+"text_", texts, "", &graph.Columns{NumberWords: words})
		missing := cn.add("IsNan", name+"missing", []string{x}, doubles())
		x = cn.add("SelectV2", name+"known", []string{missing, cn.double(name+"zero", 0), x}, doubles())
		x = cn.add("Floor", name+"whole", []string{x}, doubles())
		return l.unix(d, missing, cn.cast(name+"long", x, tfpb.DataType_DT_DOUBLE, tfpb.DataType_DT_INT64), unit)
	}
	missing := l.op("Equal", longs, math.MinInt64)
	for i, v := range numbersOf(words) { // as float32, as the reader compares them
		of := fmt.Sprintf("%sword_%d/", name, i)
		narrow := cn.cast(of+"narrow", cn.cast(of+"double", longs, tfpb.DataType_DT_INT64, tfpb.DataType_DT_DOUBLE), tfpb.DataType_DT_DOUBLE, tfpb.DataType_DT_FLOAT)
		is := cn.add("Equal", of+"is", []string{narrow, cn.float(of+"word", v)}, floats())
		missing = cn.add("LogicalOr", of+"missing", []string{missing, is}, attrs{})
	}
	return l.unix(d, missing, cn.add("SelectV2", name+"known", []string{missing, cn.long(name+"zero", 0), longs}, int64s()), unit)
}

// unix adds the parts of dates that are numbers, of which so many units are a second. One out of the calendar fails the
// request.
func (l *longNodes) unix(d graph.DateColumn, missing, units string, unit int) dateNodes {
	seconds := l.over(units, unit)
	return l.existing(d, missing, seconds, l.all(l.op("LessEqual", graph.LeastSecond, seconds), l.op("LessEqual", seconds, graph.MostSecond)))
}

// existing adds the parts of moments. It fails unless each of them exists.
func (l *longNodes) existing(d graph.DateColumn, missing, seconds, exist string) dateNodes {
	return dateNodes{missing, l.partsOf(l.add("Identity", l.name+"seconds", []string{seconds, l.asserted("existing", d, exist)}, int64s()))}
}

// written adds the parts of dates that are texts. A text that is no date fails the request.
func (l *longNodes) written(d graph.DateColumn, text string, words []string) dateNodes {
	tokens, err := graph.DateTokens(d.Layout)
	if err != nil {
		panic("savedmodel: a layout of dates that is none")
	}
	p := datePattern{group: map[byte]int{}}
	p.add(tokens)
	text = l.add("StringStrip", l.name+"plain", []string{text}, attrs{})
	missing := l.isWord(l.name, text, words)
	text = l.add("SelectV2", l.name+"text", []string{missing, l.texts(l.name+"none", nil, p.example.String()), text}, stringsType())
	fits := l.add("StaticRegexFullMatch", l.name+"fits", []string{text}, attrs{"pattern": stringAttr(p.String())})
	text = l.add("Identity", l.name+"fitting", []string{text, l.asserted("fitting", d, fits)}, stringsType())
	part := func(field byte, rewrite string) string {
		name := l.name + "field_" + string(field)
		return l.add("RegexReplace", name, []string{text, l.texts(name+"/pattern", nil, "^"+p.String()+"$"), l.texts(name+"/rewrite", nil, rewrite)}, attrs{})
	}
	number := func(field byte, missing int64) string {
		if p.group[field] == 0 {
			return l.long(l.name+"field_"+string(field), missing)
		}
		digits := part(field, fmt.Sprintf(`0\%d`, p.group[field]))
		return l.add("StringToNumber", digits+"/number", []string{digits}, attrs{"out_type": typeAttr(tfpb.DataType_DT_INT64)})
	}
	year := number('Y', 0)
	if p.group['y'] > 0 {
		short := number('y', 0)
		year = l.sum(short, 1900, l.times(l.is("Less", short, 69), 100))
	}
	month, day, hour, minute, second := number('m', 1), number('d', 1), number('H', 0), number('M', 0), number('S', 0)
	zoneHour, zoneMinute := number('z', 0), number('Z', 0)
	offset := l.times(l.sum(l.times(zoneHour, 60), zoneMinute), 60)
	if p.group['z'] > 0 {
		sign := part('s', fmt.Sprintf(`\%d`, p.group['s']))
		isWest := l.add("Equal", l.name+"is_west", []string{sign, l.texts(l.name+"west", nil, "-")}, stringsType())
		west := l.cast(l.name+"as_long", isWest, tfpb.DataType_DT_BOOL, tfpb.DataType_DT_INT64)
		offset = l.times(offset, l.sum(l.times(west, -2), 1))
	}
	leap := l.minus(l.is("Equal", l.rest(year, 4), 0), l.minus(l.is("Equal", l.rest(year, 100), 0), l.is("Equal", l.rest(year, 400), 0)))
	short := l.sum(l.rest(l.rest(l.sum(month, -1), 7), 2), l.times(l.is("Equal", month, 2), l.minus(2, leap))) // days less than 31
	exists := l.all(l.op("LessEqual", 1, year), l.op("LessEqual", 1, month), l.op("LessEqual", month, 12), l.op("LessEqual", 1, day),
		l.op("LessEqual", l.sum(day, short), 31), l.op("LessEqual", hour, 23), l.op("LessEqual", minute, 59), l.op("LessEqual", second, 59),
		l.op("LessEqual", zoneHour, 23), l.op("LessEqual", zoneMinute, 59))
	seconds := l.sum(l.times(l.daysTo(year, month, day), 86400), l.times(hour, 3600), l.times(minute, 60), second, l.times(offset, -1))
	return l.existing(d, missing, seconds, exists)
}

// asserted adds the control input of a node that fails unless a condition holds for all dates of a column.
func (l *longNodes) asserted(part string, d graph.DateColumn, condition string) string {
	name := l.name + part + "/"
	all := l.add("All", name+"all", []string{condition, l.numbers(name+"axes", 0)}, attrs{})
	said := l.texts(name+"said", nil, fmt.Sprintf("%s has a date that does not exist, or is not of the layout %s", d.Name, d.Layout))
	return "^" + l.add("Assert", name+"assert", []string{all, said}, attrs{"T": typesAttr(tfpb.DataType_DT_STRING)})
}

// datePattern is a layout of dates as a regular expression.
type datePattern struct {
	strings.Builder
	group   map[byte]int    // of each field: its group, from 1; the offset has s, z and Z: sign, hours, minutes
	example strings.Builder // 1 January 1970
}

func (p *datePattern) add(tokens []graph.DateToken) {
	capture := func(field byte, pattern string) {
		p.group[field] = len(p.group) + 1
		p.WriteString("(" + pattern + ")")
	}
	for _, t := range tokens {
		switch {
		case t.Optional != nil:
			example := p.example.String()
			p.WriteString("(?:")
			p.add(t.Optional)
			p.WriteString(")?")
			p.example.Reset()
			p.example.WriteString(example)
		case t.Field == 'z':
			p.WriteString("(?:Z|")
			capture('s', "[+-]")
			capture('z', "[0-9]{2}")
			p.WriteString("(?::?")
			capture('Z', "[0-9]{2}")
			p.WriteString(")?)")
			p.example.WriteByte('Z')
		case t.Field == 'f':
			p.WriteString("[0-9]+")
			p.example.WriteByte('0')
		case t.Field != 0:
			pattern := "[0-9]{1,2}"
			if t.Digits > 0 {
				pattern = fmt.Sprintf("[0-9]{%d}", t.Digits)
			}
			capture(t.Field, pattern)
			p.example.WriteString(map[byte]string{'Y': "1970", 'y': "70", 'm': "01", 'd': "01"}[t.Field])
			if strings.IndexByte("HMS", t.Field) >= 0 {
				p.example.WriteString("00")
			}
		default:
			var any []string
			for _, c := range t.Literal {
				any = append(any, regexp.QuoteMeta(string(c)))
			}
			p.WriteString("(?:" + strings.Join(any, "|") + ")")
			p.example.WriteString(string([]rune(t.Literal)[:1]))
		}
	}
}
