package bench

import "testing"

// TestCrossovers verifies that the table has the least loss and is valid for
// allreduce.algorithm.
func TestCrossovers(t *testing.T) {
	times := func(of ...[5]float64) []Timing {
		var all []Timing
		for i, row := range of {
			for j, name := range Ladder() {
				all = append(all, Timing{name, 1 << (10 + i), row[j]})
			}
		}
		return all
	}
	fold, doubling, tree := [5]float64{1, 2, 3, 4, 5}, [5]float64{2, 1, 3, 4, 5}, [5]float64{3, 2, 1, 4, 5}
	halving, ring := [5]float64{4, 3, 2, 1, 5}, [5]float64{5, 4, 3, 2, 1}
	tests := []struct {
		name    string
		timings []Timing
		want    string
	}{
		{"none", nil, "ring"},
		{"ring", times(ring, ring), "ring"},
		{"fold", times(fold, fold), "<=2KiB:fold,ring"},
		{"ladder", times(fold, doubling, tree, halving, ring), "<=1KiB:fold,<=2KiB:doubling,<=4KiB:tree,<=8KiB:halving,ring"},
		{"doubling", times(doubling, doubling, ring), "<=2KiB:doubling,ring"},
		{"equal", times([5]float64{1, 1, 1, 1, 1}), "ring"},
		{"outlier", times(fold, [5]float64{1.01, 1, 9, 9, 9}, fold, ring), "<=4KiB:fold,ring"},
		{"falling", times(ring, ring, fold), "ring"},
		{"incomplete", append(times(fold), Timing{"ring", 8, 1}), "<=1KiB:fold,ring"},
	}
	for _, tt := range tests {
		t.Run("times="+tt.name, func(t *testing.T) {
			if got := Crossovers(tt.timings); got != tt.want {
				t.Errorf("table is %s, want %s", got, tt.want)
			}
		})
	}
}

// TestSizeText verifies that a formatted size parses to the same number.
func TestSizeText(t *testing.T) {
	for n, want := range map[int]string{0: "0", 8: "8", 1000: "1000", 1024: "1KiB", 3 << 10: "3KiB", 8 << 20: "8MiB", 1<<20 + 1: "1048577", 1 << 30: "1GiB"} {
		if got := SizeText(n); got != want {
			t.Errorf("%d bytes are %s, want %s", n, got, want)
		}
	}
}
