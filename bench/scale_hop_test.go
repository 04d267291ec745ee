package bench

import (
	"testing"
	"time"
)

// TestHopOf verifies the time of a hop, and that HopOf refuses other output.
func TestHopOf(t *testing.T) {
	good := `{"event":"memory"}` + "\n" + `{"event":"bench","bytes":1024,"time_s":0.0006}` + "\n"
	if hop, err := HopOf([]byte(good), 4); err != nil || hop != 100*time.Microsecond {
		t.Errorf("hop is %v, error %v, want 100µs: 6 steps", hop, err)
	}
	for _, bad := range []string{"", "x\n", `{"event":"bench","time_s":0}`, `{"event":"bench","time_s":1,"wrong":2}`, `{"event":"bench","time_s":"1"}`} {
		if hop, err := HopOf([]byte(bad), 4); err == nil {
			t.Errorf("printed=%s: hop is %v, want an error", bad, hop)
		}
	}
}
