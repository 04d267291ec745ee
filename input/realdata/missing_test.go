package realdata

import (
	"fmt"
	"strings"
	"testing"
)

// judged is a test that records how it ended.
type judged struct {
	testing.TB
	end string
}

func (j *judged) Helper() {}

func (j *judged) Skipf(format string, args ...any) {
	j.end = "skipped: " + fmt.Sprintf(format, args...)
	panic(j)
}

func (j *judged) Fatalf(format string, args ...any) {
	j.end = "failed: " + fmt.Sprintf(format, args...)
	panic(j)
}

// TestMissingData verifies that a test of real data is skipped, in CI too, where the folder of
// the data is missing.
func TestMissingData(t *testing.T) {
	t.Setenv("RINGTRAIN_SHARED", t.TempDir())
	for _, ci := range []string{"", "true"} {
		t.Run("ci="+ci, func(t *testing.T) {
			t.Setenv("CI", ci)
			j := &judged{TB: t}
			func() {
				defer func() {
					if r := recover(); r != nil && r != j {
						panic(r)
					}
				}()
				Path(j, "data", "mnist")
			}()
			if !strings.HasPrefix(j.end, "skipped: ") || !strings.Contains(j.end, "RINGTRAIN_SHARED") {
				t.Errorf("the test is %s; want it skipped, and RINGTRAIN_SHARED named", j.end)
			}
		})
	}
}
