package train

import (
	"fmt"
	"path/filepath"
	"testing"

	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
)

// TestExportIsVerified verifies that an export reads its variables back and predicts with them as
// the model does, with the kernels that trained it.
func TestExportIsVerified(t *testing.T) {
	tests := []struct {
		name, text string
		data       records.Set
		want       int
		kernels    string
	}{
		{"linear", linearText, linearData(), 100, "auto"},
		{"digits", digitsText, digitsData(), 300, "auto"},
		{"digits", digitsText, digitsData(), 300, "portable"},
		{"clicks", clicksText, clicksData(), 1000, "auto"}, // of 1100
	}
	for _, tt := range tests {
		t.Run("job="+tt.name+"/kernels="+tt.kernels, func(t *testing.T) {
			base := filepath.Join(t.TempDir(), "export")
			job := loadText(t, tt.text, "export.savedmodel="+base, "train.kernels="+tt.kernels)
			for version := range 2 {
				m := mustTrain(t, 2, job, tt.data, nil)[0]
				want := report.Exported{Step: 10, Path: filepath.Join(base, fmt.Sprint(version+1)), Format: "savedmodel", Verified: tt.want, How: "variables read back"}
				if got := eventsOf[report.Exported](m); len(got) != 1 || got[0] != want {
					t.Errorf("exports are %+v, want %+v", got, want)
				}
			}
		})
	}
}
