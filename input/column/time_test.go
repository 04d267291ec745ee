package column

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// TestDates verifies the parts of dates of each layout, and that what is none is an error.
func TestDates(t *testing.T) {
	const missing, bad = "missing", "bad"
	for _, tt := range []struct{ layout, cell, want string }{ // want: a time of RFC 3339 in UTC
		{"", "2024-02-29", "2024-02-29T00:00:00Z"},
		{"auto", " 2024-02-29T23:30 ", "2024-02-29T23:30:00Z"},
		{"auto", "2024-02-29 23:30:01.5Z", "2024-02-29T23:30:01Z"},
		{"auto", "2024-02-29T23:30:00-02:30", "2024-03-01T02:00:00Z"},
		{"auto", "2024-01-01 00:10:00+0100", "2023-12-31T23:10:00Z"},
		{"auto", "2024-01-01 00:10:00,123+01", "2023-12-31T23:10:00Z"},
		{"auto", "0001-01-01", "0001-01-01T00:00:00Z"},
		{"auto", "9999-12-31T23:59:59", "9999-12-31T23:59:59Z"},
		{"auto", "1969-12-31T23:59:59", "1969-12-31T23:59:59Z"},
		{"auto", "", missing},
		{"auto", "  ", missing},
		{"auto", "NA", missing},
		{"auto", "2023-02-29", bad},
		{"auto", "2026-02-31", bad},
		{"auto", "2100-02-29", bad},
		{"auto", "2000-02-29", "2000-02-29T00:00:00Z"},
		{"auto", "0000-01-01", bad},
		{"auto", "2024-13-01", bad},
		{"auto", "2024-1-1", bad},
		{"auto", "2024-01-01T24:00", bad},
		{"auto", "2024-01-01T23:00:60", bad},
		{"auto", "2024-01-01Z", bad},
		{"auto", "2024-01-01T10:00:00+1:00", bad},
		{"auto", "2024-01-01T10:00:00+24:00", bad},
		{"auto", "20240101", bad},
		{"auto", "x", bad},
		{"%d/%m/%Y %H:%M", "1/2/2024 3:04", "2024-02-01T03:04:00Z"},
		{"%d/%m/%Y %H:%M", "31/02/2024 3:04", bad},
		{"%d/%m/%Y %H:%M", "1/2/2024", bad},
		{"%m/%d/%y", "2/29/68", "2068-02-29T00:00:00Z"},
		{"%m/%d/%y", "12/31/69", "1969-12-31T00:00:00Z"},
		{"%Y%m%d%H", "2024022907", "2024-02-29T07:00:00Z"},
		{"%Y%m%d%H", "20240229 7", bad},
		{"%Y年%m月%d日", "2024年2月9日", "2024-02-09T00:00:00Z"},
		{"%Y", "2024", "2024-01-01T00:00:00Z"},
		{"%d.%m.%Y %H:%M:%S.%f%z", "9.12.2024 1:2:3.456789-0100", "2024-12-09T02:02:03Z"},
		{"unix", "-1", "1969-12-31T23:59:59Z"},
		{"unix", "1709251199.9", "2024-02-29T23:59:59Z"},
		{"unix", "1709251199000", bad},
		{"unix_ms", "1709251199999", "2024-02-29T23:59:59Z"},
		{"unix", "null", missing},
		{"unix", "2024-02-29", bad},
	} {
		p := compiled(t, []Column{
			{Time: &TimeOptions{Names: []string{"t"}, Layout: tt.layout, Parts: []string{"days", "year", "month", "weekday", "day", "hour"}}},
			{IDs: &IDsOptions{Names: []string{"ids"}, Size: 1}},
		})
		c := p.Columns()
		for i := range c.Dense {
			c.Dense[i].Default = -7
		}
		if err := p.Adopt(c); err != nil {
			t.Fatal(err)
		}
		var b input.Batch
		err := NewRunner(p, input.Labels{Absent: true}).Append(&b, texts(p, map[string]string{"t": tt.cell}))
		if (tt.want == bad) != (err != nil) || err != nil && (exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "column t is ")) {
			t.Errorf("%s %q: error %v, want %s", tt.layout, tt.cell, err, tt.want)
		}
		if err != nil {
			continue
		}
		row, ids := []float32{-7, -7}, []uint32(nil)
		if tt.want != missing {
			at, err := time.Parse(time.RFC3339, tt.want)
			if err != nil {
				t.Fatal(err)
			}
			days := at.Truncate(24*time.Hour).Unix() / (24 * 60 * 60)
			row = []float32{float32(days), float32(at.Year())}
			ids = []uint32{uint32(at.Month()) - 1, 12 + uint32(at.Weekday()+6)%7, 19 + uint32(at.Day()) - 1, 50 + uint32(at.Hour())}
		}
		if got := b.X.Dense.Row(0); !slices.Equal(got, row) || !slices.Equal(b.X.Bags.Slot, ids) {
			t.Errorf("%s %q: %v and ids %v, want %v and %v", tt.layout, tt.cell, got, b.X.Bags.Slot, row, ids)
		}
	}
}

// TestDatesLearnt verifies that days and years are standardized by the training records, that a missing date counts as
// their mean, and is counted.
func TestDatesLearnt(t *testing.T) {
	p := compiled(t, []Column{{Time: &TimeOptions{Names: []string{"t"}, Parts: []string{"days"}}}})
	l := NewLearner(p, input.Labels{Absent: true})
	part := l.Part(0)
	for _, cell := range []string{"1970-01-02", "1970-01-04", "?"} {
		if err := part.Learn(texts(p, map[string]string{"t": cell})); err != nil {
			t.Fatal(err)
		}
	}
	l.End(0)
	if err := l.Finish(); err != nil {
		t.Fatal(err)
	}
	if d := p.Columns().Dense[0]; d.Mean != 2 || d.Default != 2 || d.Min != 1 || d.Max != 3 {
		t.Errorf("learnt %+v, want the mean 2 of days 1 and 3", d)
	}
	if got, want := fmt.Sprint(p.Missed()), "[{t 1 3 [1 ?]}]"; got != want {
		t.Errorf("missing %s, want %s", got, want)
	}
}

// TestDatesOfExamples verifies that integers of a tf.Example are dates of the layouts unix and unix_ms alone.
func TestDatesOfExamples(t *testing.T) {
	for _, tt := range []struct {
		layout string
		cell   Cell
		err    string
	}{
		{"unix", Cell{IDs: []int64{86400}}, ""},
		{"unix", Cell{Values: []float32{86400}}, "column t is a float, which has no exact seconds, want an integer or a text"},
		{"unix", Cell{IDs: []int64{1, 2}}, "column t is a list of 2, want one value"},
		{"auto", Cell{IDs: []int64{86400}}, "column t is an integer, want a text of the layout auto, or layout unix"},
	} {
		p := compiled(t, []Column{{Time: &TimeOptions{Names: []string{"t"}, Layout: tt.layout, Parts: []string{"year"}}}})
		var b input.Batch
		err := NewRunner(p, input.Labels{Absent: true}).Append(&b, []Cell{tt.cell})
		if fmt.Sprint(err) != tt.err && (err != nil || tt.err != "") {
			t.Errorf("%s %+v: error %v, want %q", tt.layout, tt.cell, err, tt.err)
		}
	}
}

// TestUnordered verifies which dates and numbers are in the order of their texts.
func TestUnordered(t *testing.T) {
	for layout, want := range map[string]bool{"": true, "auto": true, "unix": true, "%Y-%m-%d": true, "at %Y%m%d %H:%M:%S%z": true, "%d/%m/%Y": false, "%y-%m-%d": false, "%Y/%d/%m": false, "%H:%M %Y": false} {
		columns := []Column{{Time: &TimeOptions{Names: []string{"t1..t3"}, Layout: layout}}}
		if got := Unordered(columns, "t2"); (got == "") != want {
			t.Errorf("layout %q: unordered is %q", layout, got)
		}
		if got := Unordered(columns, "t4"); got != "" {
			t.Errorf("layout %q of another column: unordered is %q", layout, got)
		}
	}
	for want, o := range map[string]NumericOptions{"": {Decimal: "."}, `decimal ","`: {Decimal: ","}, `strip "$"`: {Strip: "$"}} {
		o.Names = []string{"a"}
		if got := Unordered([]Column{{Numeric: &o}}, "a"); got != want {
			t.Errorf("unordered is %q, want %q", got, want)
		}
		l, w := Column{Label: &LabelOptions{Names: o.Names, Decimal: o.Decimal, Strip: o.Strip}}, Column{Weight: &WeightOptions{Names: []string{"w"}, Decimal: o.Decimal, Strip: o.Strip}}
		if label, weight := Unordered([]Column{l, w}, "a"), Unordered([]Column{l, w}, "w"); label != want || weight != want {
			t.Errorf("unordered is %q of a label and %q of a weight, want %q", label, weight, want)
		}
	}
}
