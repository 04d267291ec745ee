package main

import (
	"fmt"
	"os"
	"strconv"
	"testing"
)

// TestBenchScaleCheck verifies that bench scale predicts what bench allreduce then measures, within a
// quarter: between two and four hosts whose links are shaped to 100 Mbit/s, where the wire takes most
// of the time.
func TestBenchScaleCheck(t *testing.T) {
	if os.Getenv("RINGTRAIN_NETNS") == "" {
		t.Skip("set RINGTRAIN_NETNS=1 and run as root to test over network namespaces")
	}
	cells := []string{"--codec", "none,int8", "--sizes", "2MiB,8MiB", "--json"}
	for _, n := range []int{2, 4} {
		t.Run(fmt.Sprintf("hosts=%d", n), func(t *testing.T) {
			b := newBox(t)
			predicted := map[string]float64{}
			scale := append([]string{"bench", "scale", "-np", strconv.Itoa(n), "--bandwidth", "100mbit"}, cells...)
			for _, v := range b.must(0, scale...).ofKind(t, "scale") {
				predicted[fmt.Sprint(v["codec"], v["bytes"])] = v.num("predicted_s")
			}
			argv := append([]string{self(b), "bench", "allreduce", "--in-place", "--budget", "1s"}, cells...)
			rows := b.startArgvOnHosts(newHosts(t, n, "100mbit"), []int{0, 1, 2, 3}[:n], argv).ranks[0].wait().ofKind(t, "bench")
			if len(rows) != 4 || len(predicted) != 4 {
				t.Fatalf("%d measured and %d predicted, want 4", len(rows), len(predicted))
			}
			for _, v := range rows {
				want := predicted[fmt.Sprint(v["codec"], v["bytes"])]
				if off := want/v.num("time_s") - 1; !(off > -0.25 && off < 0.25) {
					t.Errorf("%v of %v bytes takes %v s, predicted %v s", v["codec"], v["bytes"], v["time_s"], want)
				}
			}
		})
	}
}
