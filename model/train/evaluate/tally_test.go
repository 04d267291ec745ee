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
	if err := addCells(&c, sent, 7, 3); err != nil || !reflect.DeepEqual(c.Cells(), cells) {
		t.Errorf("cells %v, error %v, want %v", c.Cells(), err, cells)
	}
	for _, tt := range []struct {
		name             string
		b                []byte
		records, classes int
		want             string
	}{
		{"cut", sent[:20], 7, 3, "20 bytes of counts"},
		{"too few records", sent, 8, 3, "counts of 7 records, want 8"},
		{"none", nil, 1, 3, "counts of 0 records, want 1"},
		{"class beyond", sent, 7, 2, "class 0 predicted as 2, want less than 2"},
	} {
		if err := addCells(new(model.Confusion), tt.b, tt.records, tt.classes); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}
