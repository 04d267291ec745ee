package image

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/input"
)

// record returns the levels of a file as a record.
func record(t *testing.T, file string, c Config) []byte {
	t.Helper()
	d, err := OpenFiles([]string{file}, c)
	if err != nil {
		t.Fatal(err)
	}
	var b input.Batch
	if err := d.Append(&b, 0); err != nil {
		t.Fatal(err)
	}
	levels := make([]byte, d.Features())
	for i, v := range b.X.Dense.Row(0) {
		levels[i] = byte(v*255 + 0.5)
	}
	return levels
}

// TestGoldenPillow verifies images against Pillow, by testdata/make_golden.py. A PNG is
// within 1 level of 255, and 0.25 on average, because Pillow resizes vertically first if
// that is less work. A JPEG, decoded by another decoder, is within 2 levels on average
// and 8 at most.
func TestGoldenPillow(t *testing.T) {
	goldens, err := filepath.Glob(filepath.Join("testdata", "*.*.*.*.png"))
	if err != nil || len(goldens) != 10 {
		t.Fatalf("%d golden images, error %v, want 10", len(goldens), err)
	}
	for _, golden := range goldens {
		parts := strings.Split(filepath.Base(golden), ".")
		t.Run(filepath.Base(golden), func(t *testing.T) {
			var c Config
			if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "%dx%dx%d %d", &c.Shape.Width, &c.Shape.Height, &c.Shape.Channels, &c.Resize); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(golden)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			m, err := png.Decode(f)
			if err != nil {
				t.Fatal(err)
			}
			want := appendPixels(nil, m, c.Shape.Channels)
			got := record(t, filepath.Join("testdata", parts[0]+"."+parts[1]), c)
			sum, worst := 0, 0
			for i := range want {
				d := max(int(got[i])-int(want[i]), int(want[i])-int(got[i]))
				sum, worst = sum+d, max(worst, d)
			}
			mean := float64(sum) / float64(len(want))
			if parts[1] == "png" && (worst > 1 || mean > 0.25) || mean > 2 || worst > 8 || len(got) != len(want) {
				t.Errorf("%d levels, %.2f off on average and %d at most", len(got), mean, worst)
			}
		})
	}
}
