package column

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ringtrain/model/graph"
	"ringtrain/ring/phrase"
)

// dateRule is an input that is a date, and how it is written.
type dateRule struct {
	input  int
	layout string
	tokens []graph.DateToken
}

func (p *Plan) time(o *TimeOptions) error {
	names, err := listed(o.Names)
	if err != nil {
		return err
	}
	layout, parts := o.Layout, o.Parts
	if layout == "" {
		layout = graph.AutoLayout
	}
	if len(parts) == 0 {
		parts = []string{graph.Days, string(graph.Month), string(graph.Weekday)}
	}
	tokens, err := graph.DateTokens(layout)
	if err != nil {
		return fmt.Errorf("has layout %q, which %w", layout, err)
	}
	for _, name := range names {
		at, err := placeOf(p, dateRule{p.input(name), layout, tokens})
		if err != nil {
			return err
		}
		for _, part := range parts {
			if err := makePart(p, name, part, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// placeOf adds a date to a plan, and returns its place among the plan's.
func placeOf(p *Plan, rule dateRule) (int, error) {
	at := slices.IndexFunc(p.dates, func(d dateRule) bool { return d.input == rule.input })
	if at < 0 {
		p.dates = append(p.dates, rule)
		return len(p.dates) - 1, nil
	}
	if was := p.dates[at].layout; was != rule.layout {
		return 0, fmt.Errorf("reads %s with layout %q, but another item with %q", p.Inputs[rule.input], rule.layout, was)
	}
	return at, nil
}

// makePart adds a part of a date to a plan.
func makePart(p *Plan, name, part string, date int) error {
	input := p.dates[date].input
	if kind := graph.BagKind(part); kind.DatePart() > 0 {
		return p.bag(bagRule{BagColumn: graph.BagColumn{Name: name, Kind: kind, Size: kind.DatePart()}, inputs: []int{input}, date: date})
	}
	is := [2]string{name, part}
	if p.made[is] {
		return fmt.Errorf("makes %s of %s, which another item does", part, name)
	}
	p.made[is] = true
	p.dense = append(p.dense, denseRule{DenseColumn: graph.DenseColumn{Name: name, Part: part, Scale: 1}, input: input, date: date, standardize: true, meanDefault: true})
	return nil
}

// date is the date of a record, in UTC.
type date struct {
	missing              bool
	days                 int64 // since 1970
	year                 int
	month, weekday, hour uint32 // from 0; Monday is 0
	day                  uint32
}

func dateOf(seconds int64) date {
	t := time.Unix(seconds, 0).UTC()
	year, month, day := t.Date()
	days := seconds / daySeconds
	if seconds%daySeconds < 0 {
		days--
	}
	return date{days: days, year: year, month: uint32(month) - 1, weekday: uint32(t.Weekday()+6) % 7, hour: uint32(t.Hour()), day: uint32(day) - 1}
}

// number returns a part that is a number, NaN of a date that is missing.
func (d *date) number(part string) float64 {
	switch {
	case d.missing:
		return math.NaN()
	case part == graph.Year:
		return float64(d.year)
	}
	return float64(d.days)
}

// id returns a part that is an id.
func (d *date) id(kind graph.BagKind) uint32 {
	switch kind {
	case graph.Month:
		return d.month
	case graph.Weekday:
		return d.weekday
	case graph.Day:
		return d.day
	}
	return d.hour
}

// readDates reads the dates of a record. at is the input that an error is of.
func (r *Runner) readDates(cells []Cell) (at int, err error) {
	r.dates = r.dates[:0]
	for i := range r.plan.dates {
		rule := &r.plan.dates[i]
		seconds, there, err := r.seconds(&cells[rule.input], rule)
		if err != nil {
			return rule.input, err
		}
		if there {
			r.dates = append(r.dates, dateOf(seconds))
		} else {
			r.dates = append(r.dates, date{missing: true})
		}
	}
	return 0, nil
}

const daySeconds = 24 * 60 * 60

// seconds returns the seconds from 1970 to a date, there is false where it is missing.
func (r *Runner) seconds(c *Cell, rule *dateRule) (seconds int64, there bool, err error) {
	w := &r.plan.numberWords
	plain := Trimmed(c.Text)
	word := w.find(plain)
	switch isUnix := rule.tokens == nil; {
	case c.missing():
		return 0, false, nil
	case c.listed() > 1:
		return 0, false, c.list()
	case len(c.Values) == 1:
		return 0, false, errors.New("is a float, which has no exact seconds, want an integer or a text")
	case len(c.IDs) == 1 && !isUnix:
		return 0, false, fmt.Errorf("is an integer, want a text of the layout %s, or layout unix", rule.layout)
	case word >= 0 || len(plain) == 0 && len(c.IDs) == 0:
		r.note(rule.input, word)
		return 0, false, nil
	case isUnix:
		return r.unixSeconds(c, plain, rule)
	}
	f, ok := readDate(rule.tokens, plain)
	if !ok {
		return 0, false, fmt.Errorf("is %s, want a date of the layout %s", phrase.Quote(string(c.Text)), rule.layout)
	}
	if !f.exists() {
		return 0, false, fmt.Errorf("is %s, want a day and a time that exist", phrase.Quote(string(c.Text)))
	}
	return f.seconds(), true, nil
}

// unixSeconds reads the seconds or milliseconds since 1970 of a cell that is not missing, without its fraction.
func (r *Runner) unixSeconds(c *Cell, plain []byte, rule *dateRule) (seconds int64, there bool, err error) {
	v, err := c.number(plain, 64)
	if err != nil {
		return 0, false, err
	}
	if word := r.plan.numberWords.value(v); word >= 0 {
		r.note(rule.input, word)
		return 0, false, nil
	}
	if len(c.IDs) == 1 {
		v = float64(c.IDs[0])
	}
	v = math.Floor(v)
	if rule.layout == graph.UnixMilli {
		v = math.Floor(v / 1000)
	}
	if v < graph.LeastSecond || v > graph.MostSecond {
		return 0, false, fmt.Errorf("is %s, want seconds of the years 1 to 9999; layout unix has seconds, unix_ms milliseconds", phrase.Quote(string(plain)))
	}
	return int64(v), true, nil
}

// A DateReader finds dates of a layout that is written in fields.
type DateReader struct{ tokens []graph.DateToken }

// NewDateReader returns a reader of dates of a layout.
func NewDateReader(layout string) (*DateReader, error) {
	tokens, err := graph.DateTokens(layout)
	return &DateReader{tokens}, err
}

// Reads reports whether a text is a date of the layout that exists.
func (r *DateReader) Reads(text []byte) bool {
	f, ok := readDate(r.tokens, text)
	return ok && f.exists()
}

// readDate reads a text as a date.
func readDate(tokens []graph.DateToken, text []byte) (f dateFields, ok bool) {
	f = dateFields{month: 1, day: 1}
	rest, ok := f.match(tokens, text)
	return f, ok && len(rest) == 0
}

// dateFields are the fields of a date that is written.
type dateFields struct {
	year, month, day     int
	hour, minute, second int
	zoneHour, zoneMinute int // east of Greenwich
	west                 bool
}

// match reads tokens at the beginning of a text, and returns the rest.
func (f *dateFields) match(tokens []graph.DateToken, text []byte) (rest []byte, ok bool) {
	for i := range tokens {
		t := &tokens[i]
		switch {
		case t.Optional != nil:
			before := *f
			if rest, ok := f.match(t.Optional, text); ok {
				text = rest
			} else {
				*f = before
			}
		case t.Field == 'z':
			if text, ok = f.zone(text); !ok {
				return nil, false
			}
		case t.Field != 0:
			if text, ok = f.field(t, text); !ok {
				return nil, false
			}
		default:
			if text, ok = literal(t.Literal, text); !ok {
				return nil, false
			}
		}
	}
	return text, true
}

// literal takes one of some characters off a text.
func literal(characters string, text []byte) (rest []byte, ok bool) {
	for _, c := range characters {
		if rest, ok := strings.CutPrefix(view(text), string(c)); ok {
			return text[len(text)-len(rest):], true
		}
	}
	return nil, false
}

// field reads a field of digits.
func (f *dateFields) field(t *graph.DateToken, text []byte) (rest []byte, ok bool) {
	most := max(2, t.Digits)
	if t.Field == 'f' {
		most = len(text)
	}
	n, value := 0, 0
	for n < most && n < len(text) && text[n] >= '0' && text[n] <= '9' {
		if t.Field != 'f' {
			value = 10*value + int(text[n]-'0')
		}
		n++
	}
	if n == 0 || n < t.Digits {
		return nil, false
	}
	switch t.Field {
	case 'Y':
		f.year = value
	case 'y':
		f.year = 1900 + value
		if value < 69 { // as POSIX has it
			f.year += 100
		}
	case 'm':
		f.month = value
	case 'd':
		f.day = value
	case 'H':
		f.hour = value
	case 'M':
		f.minute = value
	case 'S':
		f.second = value
	}
	return text[n:], true
}

// zone reads Z, or an offset such as +02:00, +0200 and +02.
func (f *dateFields) zone(text []byte) (rest []byte, ok bool) {
	if len(text) > 0 && text[0] == 'Z' {
		return text[1:], true
	}
	if len(text) < 3 || text[0] != '+' && text[0] != '-' {
		return nil, false
	}
	f.west = text[0] == '-'
	two := func(b []byte) (int, bool) {
		if len(b) < 2 || b[0] < '0' || b[0] > '9' || b[1] < '0' || b[1] > '9' {
			return 0, false
		}
		return int(b[0]-'0')*10 + int(b[1]-'0'), true
	}
	if f.zoneHour, ok = two(text[1:]); !ok {
		return nil, false
	}
	text = text[3:]
	minutes := text
	if len(minutes) > 0 && minutes[0] == ':' {
		minutes = minutes[1:]
	}
	if value, ok := two(minutes); ok {
		f.zoneMinute, text = value, minutes[2:]
	}
	return text, true
}

// exists reports whether the calendar has the day, and the day the time.
func (f *dateFields) exists() bool {
	if f.year < 1 || f.month < 1 || f.month > 12 || f.day < 1 || f.hour > 23 || f.minute > 59 || f.second > 59 || f.zoneHour > 23 || f.zoneMinute > 59 {
		return false
	}
	return f.day <= time.Date(f.year, time.Month(f.month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// seconds returns the seconds from 1970 to the date.
func (f *dateFields) seconds() int64 {
	offset := int64(f.zoneHour*60+f.zoneMinute) * 60
	if f.west {
		offset = -offset
	}
	return time.Date(f.year, time.Month(f.month), f.day, f.hour, f.minute, f.second, 0, time.UTC).Unix() - offset
}
