package trained

import (
	"encoding/json"
	"testing"

	"ringtrain/model/train/report"
)

// TestEventJSON verifies the fields of the events about a trained model: programs of users read
// these lines.
func TestEventJSON(t *testing.T) {
	number := report.NewNumber
	for _, tt := range []struct {
		event report.Event
		kind  string
		want  string
	}{
		{
			TensorInfo{"w", "float32", []int64{2}, 8, number(1), number(2), number(1.5), []report.Number{1, 2}}, "tensor",
			`{"name":"w","dtype":"float32","shape":[2],"bytes":8,"min":1,"max":2,"mean":1.5,"values":[1,2]}`,
		},
	} {
		got, err := json.Marshal(tt.event)
		if err != nil || string(got) != tt.want || tt.event.Kind() != tt.kind {
			t.Errorf("%s (error %v):\n%s\nwant %s:\n%s", tt.event.Kind(), err, got, tt.kind, tt.want)
		}
	}
}
