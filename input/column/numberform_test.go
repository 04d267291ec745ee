package column

import (
	"testing"

	"ringtrain/input"
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
