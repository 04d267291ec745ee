package column

import (
	"regexp"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// TestNumberForm verifies numbers with a decimal of their own and characters that are left out, that missing cells stay
// missing, and that a number of another form is an error.
func TestNumberForm(t *testing.T) {
	for _, tt := range []struct {
		decimal, strip, cell string
		want                 float32
		err                  string
	}{
		{"", "$,", "$1,234.50", 1234.5, ""},
		{"", "$,", " - $ 3", 0, `is " - $ 3", want a number`},
		{"", "$,", "-$3", -3, ""},
		{"", "%", "12.5 %", 12.5, ""},
		{"", "$", "$", 0, `is "$", want a number`},
		{"", "$", "NA", 7, ""},
		{"", "$", "", 7, ""},
		{",", "", "3,5", 3.5, ""},
		{",", "", "3.5", 0, `is "3.5", want a number with the decimal ,`},
		{",", ".€", "€1.234,5", 1234.5, ""},
		{",", ".", "1.234", 1234, ""},
		{"٫", "", "-3٫25", -3.25, ""},
		{",", "", "3,5,1", 0, `is "3,5,1", want a number`},
	} {
		p := compiled(t, []Column{{Numeric: &NumericOptions{Names: []string{"a"}, Decimal: tt.decimal, Strip: tt.strip, Default: &Missing{Number: 7}}}})
		var b input.Batch
		err := NewRunner(p, input.Labels{Absent: true}).Append(&b, texts(p, map[string]string{"a": tt.cell}))
		switch {
		case tt.err != "":
			if err == nil || err.Error() != "column a "+tt.err {
				t.Errorf("%+v: error %v", tt, err)
			}
		case err != nil || b.X.Dense.Row(0)[0] != tt.want:
			t.Errorf("%+v: %v, error %v", tt, b.X.Dense.Row(0), err)
		}
	}
}

// TestLabelForm verifies that a label, scaled or not, and a weight are read in their forms, that one of another form is an
// error, and that a weight without a form has that of the number of the same column.
func TestLabelForm(t *testing.T) {
	a := []string{"a"}
	x := Column{Numeric: &NumericOptions{Names: []string{"x"}}}
	for name, tt := range map[string]struct {
		items []Column
		cell  string
		want  [2]float32 // label and weight
		err   string
	}{
		"label":            {[]Column{{Label: &LabelOptions{Names: a, Strip: "$,"}}, x}, "$1,234.5", [2]float32{1234.5, 1}, ""},
		"decimal":          {[]Column{{Label: &LabelOptions{Names: a, Decimal: ",", Strip: "."}}, x}, "1.234,5", [2]float32{1234.5, 1}, ""},
		"scaled label":     {[]Column{{Label: &LabelOptions{Names: a, Strip: "%", Transform: "log1p"}}, x}, "0 %", [2]float32{0, 1}, ""},
		"no label":         {[]Column{{Label: &LabelOptions{Names: a, Strip: "%"}}, x}, "NA", [2]float32{}, "column a is missing, want a label"},
		"wrong label":      {[]Column{{Label: &LabelOptions{Names: a, Decimal: ","}}, x}, "1.5", [2]float32{}, `column a is "1.5", want a number with the decimal ,`},
		"weight":           {[]Column{{Weight: &WeightOptions{Names: a, Decimal: ",", Strip: "€"}}, x}, "€2,5", [2]float32{0, 2.5}, ""},
		"weight of number": {[]Column{{Weight: &WeightOptions{Names: a}}, {Numeric: &NumericOptions{Names: a, Strip: "%"}}}, "3 %", [2]float32{0, 3}, ""},
	} {
		var b input.Batch
		p := compiled(t, tt.items)
		err := NewRunner(p, input.Labels{}).Append(&b, texts(p, map[string]string{"a": tt.cell}))
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: error %v, want %s", name, err, tt.err)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			weight := float32(1)
			if len(b.Importance) > 0 {
				weight = b.Importance[0]
			}
			if got := [2]float32{b.Y[0], weight}; got != tt.want {
				t.Errorf("%s: label and weight are %v, want %v", name, got, tt.want)
			}
		}
	}
	for name, item := range map[string]Column{
		"label.* has strip \"1\"":         {Label: &LabelOptions{Names: a, Strip: "1"}},
		"weight.* has decimal \"ab\"":     {Weight: &WeightOptions{Names: a, Decimal: "ab"}},
		"numeric reads a with decimal .*": {Weight: &WeightOptions{Names: a, Strip: "%"}},
	} {
		_, err := Compile([]Column{item, {Numeric: &NumericOptions{Names: []string{"a"}}}}, nil)
		if err == nil || !regexp.MustCompile(name).MatchString(err.Error()) || exitcode.Of(err) != exitcode.Usage {
			t.Errorf("error %v, want %s", err, name)
		}
	}
}
