package evaluate

import (
	"reflect"
	"ringtrain/model"
	"strings"
	"testing"
)

// TestAddCells verifies that the counts of a rank are decoded as sent, and that malformed counts
// are refused.
func TestAddCells(t *testing.T) {
	cells := []model.Cell{{Class: 0, Predicted: 2, Examples: 3}, {Class: 1, Predicted: 1, Examples: 4}}
	sent := appendCells(nil, cells)
	var c model.Confusion
	if sum, rest, err := addCells(&c, append(sent, 7), 3, 3); err != nil || sum != 7 || len(rest) != 1 || !reflect.DeepEqual(c.Cells(), cells) {
		t.Errorf("cells %v of %d examples, rest %v, error %v, want %v", c.Cells(), sum, rest, err, cells)
	}
	for _, tt := range []struct {
		name             string
		b                []byte
		classes, columns int
		want             string
	}{
		{"cut", sent[:30], 3, 3, "2 counts in 22 bytes"},
		{"none", nil, 3, 3, "0 bytes"},
		{"class beyond", sent, 1, 3, "class 1 predicted as 1, want less than 1 and 3"},
		{"prediction beyond", sent, 3, 2, "class 0 predicted as 2, want less than 3 and 2"},
	} {
		if _, _, err := addCells(new(model.Confusion), tt.b, tt.classes, tt.columns); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}
