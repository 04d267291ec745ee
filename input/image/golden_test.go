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
	levels := make([]byte, d.Facts().Features)
	for i, v := range b.X.Dense.Row(0) {
		levels[i] = byte(v*255 + 0.5)
	}
	return levels
}

// readPNG returns the pixels of a PNG.
func readPNG(t *testing.T, name string, channels int) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return appendPixels(nil, m, channels)
}

// differ returns the mean and the largest difference of levels.
func differ(t *testing.T, got, want []byte) (mean float64, worst int) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d levels, want %d", len(got), len(want))
	}
	sum := 0
	for i := range want {
		d := max(int(got[i])-int(want[i]), int(want[i])-int(got[i]))
		sum, worst = sum+d, max(worst, d)
	}
	return float64(sum) / float64(len(want)), worst
}

// TestGoldenChroma verifies JPEGs of each sampling of chroma against libjpeg, by Pillow in
// testdata/make_golden.py: no level differs by more than 3, and the mean by less than half a level.
// The sizes are odd, and so small that libjpeg does not interpolate.
func TestGoldenChroma(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "chroma*.jpg"))
	if err != nil || len(files) != 12 {
		t.Fatalf("%d images, error %v, want 12", len(files), err)
	}
	for _, file := range files {
		c := Config{Shape: Shape{Channels: 3}}
		if _, err := fmt.Sscanf(filepath.Base(file)[len("chroma420_"):], "%dx%d.jpg", &c.Shape.Width, &c.Shape.Height); err != nil {
			t.Fatal(err)
		}
		if mean, worst := differ(t, record(t, file, c), readPNG(t, file+".png", 3)); mean >= 0.5 || worst > 3 {
			t.Errorf("%s: %.2f levels off on average and %d at most", file, mean, worst)
		}
	}
}

// TestGoldenPillow verifies images against Pillow, by testdata/make_golden.py. A PNG is
// within 1 level of 255, and 0.25 on average, because Pillow resizes vertically first if
// that is less work.
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
			got := record(t, filepath.Join("testdata", parts[0]+"."+parts[1]), c)
			mean, worst := differ(t, got, readPNG(t, golden, c.Shape.Channels))
			if worst > 1 || mean > 0.25 {
				t.Errorf("%d levels, %.2f off on average and %d at most", len(got), mean, worst)
			}
		})
	}
}
