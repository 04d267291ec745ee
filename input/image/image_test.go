package image

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// encodedPNG returns a PNG of one colour.
func encodedPNG(t testing.TB, w, h int, c color.Color) []byte {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		m.Set(i%w, i/w, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func level8(v uint8) color.Color { return color.RGBA{v, v, v, 255} }

// put writes a file and makes its folders.
func put(t testing.TB, data []byte, elem ...string) {
	t.Helper()
	name := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// animals makes a folder of three classes with n images each: image i of class k has
// level 10·k + i.
func animals(t testing.TB, n int) string {
	dir := t.TempDir()
	for k, name := range []string{"bird", "cat", "dog"} {
		for i := range n {
			put(t, encodedPNG(t, 5+i, 4+k, level8(uint8(10*k+i))), dir, name, fmt.Sprintf("%02d.png", i))
		}
	}
	put(t, []byte("about"), dir, "README.txt")
	put(t, []byte("hidden"), dir, "cat", ".DS_Store")
	put(t, []byte("hidden"), dir, ".git", "config")
	put(t, []byte("thumbnails"), dir, "cat", "Thumbs.db")
	put(t, nil, dir, "dog", "desktop.ini")
	put(t, nil, dir, "dog", "._01.png")
	put(t, nil, dir, "thumbs.db")
	return dir
}

var small = Config{Shape: Shape{Height: 2, Width: 3, Channels: 1}}

func open(t testing.TB, folder string, c Config) *Dataset {
	t.Helper()
	d, err := Open(t.Context(), folder, c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestFolder verifies records, labels, names of classes and the manifest of a folder,
// and that hidden files and files beside the classes are ignored.
func TestFolder(t *testing.T) {
	dir := animals(t, 4)
	d := open(t, dir, small)
	if want := []string{"bird", "cat", "dog"}; !slices.Equal(d.Facts().Classes, want) || d.Facts().Records != 12 || d.Facts().Features != 6 {
		t.Fatalf("classes %v, %d records of %d, want %v, 12 of 6", d.Facts().Classes, d.Facts().Records, d.Facts().Features, want)
	}
	var b input.Batch
	for i := range d.Facts().Records {
		if err := d.Append(&b, i); err != nil {
			t.Fatal(err)
		}
		want := float32(10*(i/4)+i%4) / 255
		if row := b.X.Dense.Row(i); b.Y[i] != float32(i/4) || row[0] != want || row[5] != want {
			t.Errorf("record %d: label %v, values %v, want %d and %v", i, b.Y[i], row, i/4, want)
		}
	}
	if lines := d.Facts().Manifest; len(lines) != 3 || !strings.HasPrefix(lines[1], "cat ") {
		t.Errorf("manifest %q, want a line for each class", lines)
	}
}

// TestAppendMany verifies that many records come in order, with the values of single
// ones, for any number of processors, and that the first error is returned.
func TestAppendMany(t *testing.T) {
	dir := animals(t, 9)
	d := open(t, dir, small)
	order := []int{26, 0, 13, 13, 7, 1, 20, 5, 9, 18, 3}
	var want input.Batch
	for _, i := range order {
		if err := d.Append(&want, i); err != nil {
			t.Fatal(err)
		}
	}
	for _, procs := range []int{1, 2, 5} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		var got input.Batch
		for range 3 {
			got.Reset()
			if err := d.Append(&got, order...); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Y, want.Y) || !reflect.DeepEqual(got.X.Dense.Data, want.X.Dense.Data) {
				t.Fatalf("procs=%d: labels %v, want %v, or other values", procs, got.Y, want.Y)
			}
		}
	}
	put(t, []byte("\x89PNG broken"), dir, "bird", "05.png")
	put(t, []byte("\x89PNG broken"), dir, "bird", "03.png")
	var got input.Batch
	if err := d.Append(&got, order...); err == nil || !strings.Contains(err.Error(), "05.png") || exitcode.Of(err) != exitcode.BadData {
		t.Errorf("error %v, want that of 05.png, which comes first", err)
	}
}

// TestNames verifies that validation records have the labels of the training classes,
// also if they lack one, and that another class is refused.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	put(t, encodedPNG(t, 3, 2, level8(1)), dir, "dog", "a.png")
	c := small
	c.Names = []string{"bird", "cat", "dog"}
	d := open(t, dir, c)
	var b input.Batch
	if err := d.Append(&b, 0); err != nil || b.Y[0] != 2 {
		t.Errorf("label %v, error %v, want 2", b.Y, err)
	}
	put(t, encodedPNG(t, 3, 2, level8(1)), dir, "fish", "a.png")
	if _, err := Open(t.Context(), dir, c); err == nil || !strings.Contains(err.Error(), `class "fish" is not among those of the training records: bird, cat, dog`) {
		t.Errorf("error %v, want the class named", err)
	}
}

// TestBadFolders verifies the errors before any image is read, with the file or folder
// and the code.
func TestBadFolders(t *testing.T) {
	good := encodedPNG(t, 3, 2, level8(1))
	tests := []struct {
		name string
		make func(dir string)
		code int
		want string
	}{
		{"missing", func(dir string) { os.Remove(dir) }, exitcode.NoInput, "no such file"},
		{"no classes", func(dir string) { put(t, nil, dir, "README") }, exitcode.BadData, "no classes"},
		{"flat", func(dir string) { put(t, good, dir, "a.png") }, exitcode.BadData, "a.png: an image beside the folders"},
		{"unknown", func(dir string) { put(t, good, dir, "cat", "a.webp") }, exitcode.BadData, "a.webp: no image, want .png"},
		{"nested", func(dir string) { put(t, good, dir, "cat", "young", "a.png") }, exitcode.BadData, "young: a folder in a class"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.make(dir)
			if _, err := Open(t.Context(), dir, small); exitcode.Of(err) != tt.code || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %v with code %d, want %q with %d", err, exitcode.Of(err), tt.want, tt.code)
			}
		})
	}
}

// TestLitter verifies that litter among files to predict is passed over, and that litter alone is an
// error that names it.
func TestLitter(t *testing.T) {
	dir := t.TempDir()
	put(t, encodedPNG(t, 3, 2, level8(7)), dir, "a.png")
	litter := []string{filepath.Join(dir, "Thumbs.db"), filepath.Join(dir, ".DS_Store"), filepath.Join(dir, "Desktop.ini")}
	d, err := OpenFiles(append(litter, filepath.Join(dir, "a.png")), small)
	if err != nil || d.Facts().Records != 1 {
		t.Fatalf("error %v, want one image", err)
	}
	var b input.Batch
	if err := d.Append(&b, 0); err != nil || b.X.Dense.Row(0)[0] != float32(7)/255 {
		t.Errorf("error %v, values %v", err, b.X.Dense.Row(0))
	}
	if _, err := OpenFiles(litter, small); exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "Thumbs.db") {
		t.Errorf("error %v of litter alone", err)
	}
}

// TestEmptyImage verifies that an image of 0 bytes is a bad record among good ones: the manifest
// counts it, and its fault comes when its record is due.
func TestEmptyImage(t *testing.T) {
	dir := animals(t, 2)
	put(t, nil, dir, "cat", "01.png")
	d := open(t, dir, small)
	source, err := input.NewSource(t.Context(), d, input.SourceConfig{Batch: d.Facts().Records, Size: 1, MaxBad: 1}, input.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	var b input.Batch
	if err := source.Next(t.Context(), &b); err != nil || len(b.Bad) != 1 || !strings.Contains(fmt.Sprint(b.Fault), "01.png: is empty") {
		t.Errorf("error %v, bad records %d, the first %v", err, b.Bad, b.Fault)
	}
}

// bomb returns a small PNG whose header declares w × h pixels.
func bomb(t *testing.T, w, h uint32) []byte {
	b := encodedPNG(t, 1, 1, level8(1))
	binary.BigEndian.PutUint32(b[16:], w)
	binary.BigEndian.PutUint32(b[20:], h)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

// TestBadImages verifies that an undecodable image is bad data and is named, and that
// sizes in a header are not trusted.
func TestBadImages(t *testing.T) {
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 40, 40)), nil); err != nil {
		t.Fatal(err)
	}
	good := encodedPNG(t, 30, 20, level8(1))
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"text", []byte("GIF89a"), "is neither PNG nor JPEG"},
		{"empty", nil, "a.png: is empty, want an image"},
		{"png cut", good[:len(good)/2], ""},
		{"jpeg cut", photo.Bytes()[:photo.Len()-20], ""},
		{"png header alone", good[:12], "file ends early"},
		{"flipped", append(slices.Clone(good[:50]), append([]byte{good[50] ^ 1}, good[51:]...)...), ""},
		{"bomb", bomb(t, 60000, 60000), "inflate to more than 67108864"},
		{"long bomb", bomb(t, 1<<31-1, 1), "want sides of 1 to 65535"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, tt.data, dir, "cat", "a.png")
			var b input.Batch
			var before, after runtime.MemStats
			d := open(t, dir, small)
			runtime.ReadMemStats(&before)
			err := d.Append(&b, 0)
			runtime.ReadMemStats(&after)
			if exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), filepath.Join("cat", "a.png")) {
				t.Errorf("error %v with code %d, want %q", err, exitcode.Of(err), tt.want)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
				t.Errorf("%d bytes were allocated for %d", grown, len(tt.data))
			}
		})
	}
}

// TestFit verifies the size of a resized image and the position of the crop.
func TestFit(t *testing.T) {
	tests := []struct {
		name         string
		w, h         int
		shape        Shape
		resize       int
		across, down span
	}{
		{"wide", 500, 375, Shape{224, 224, 3}, 256, span{341, 58, 224}, span{256, 16, 224}},
		{"tall", 375, 500, Shape{224, 224, 3}, 256, span{256, 16, 224}, span{341, 58, 224}},
		{"cover, width decides", 100, 100, Shape{20, 30, 1}, 0, span{30, 0, 30}, span{30, 5, 20}},
		{"cover, height decides", 100, 50, Shape{20, 30, 1}, 0, span{40, 5, 30}, span{20, 0, 20}},
		{"as it is", 28, 28, Shape{28, 28, 1}, 0, span{28, 0, 28}, span{28, 0, 28}},
		{"up", 2, 3, Shape{8, 8, 1}, 0, span{8, 0, 8}, span{12, 2, 8}},
		{"a line", 1, 60000, Shape{224, 224, 1}, 0, span{224, 0, 224}, span{224 * 60000, (224*60000 - 224) / 2, 224}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if across, down := fit(tt.w, tt.h, tt.shape, tt.resize); across != tt.across || down != tt.down {
				t.Errorf("across %v, down %v, want %v, %v", across, down, tt.across, tt.down)
			}
		})
	}
}

// TestSameSize verifies that an image of the right size keeps its levels, for PNGs of
// every kind and a grey JPEG, in 1 and 3 channels.
func TestSameSize(t *testing.T) {
	bounds := image.Rect(0, 0, 4, 3)
	kinds := map[string]interface {
		image.Image
		Set(x, y int, c color.Color)
	}{
		"gray": image.NewGray(bounds), "gray16": image.NewGray16(bounds), "rgba": image.NewRGBA(bounds), "nrgba": image.NewNRGBA(bounds),
		"rgba64": image.NewRGBA64(bounds), "nrgba64": image.NewNRGBA64(bounds), "paletted": image.NewPaletted(bounds, greys()),
	}
	for name, m := range kinds {
		for i := range 12 {
			m.Set(i%4, i/4, level8(uint8(20*i)))
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		put(t, b.Bytes(), dir, "a.png")
		for _, channels := range []int{1, 3} {
			got := record(t, filepath.Join(dir, "a.png"), Config{Shape: Shape{3, 4, channels}})
			for i, v := range got {
				if want := byte(20 * (i / channels)); v != want {
					t.Errorf("%s in %d channels: levels %v, want multiples of 20", name, channels, got)
					break
				}
			}
		}
	}
}

func greys() color.Palette {
	var p color.Palette
	for i := range 12 {
		p = append(p, level8(uint8(20*i)))
	}
	return p
}

// TestConfig verifies the errors of shape and size.
func TestConfig(t *testing.T) {
	for _, tt := range []struct {
		c    Config
		want string
	}{
		{Config{}, "input.shape is [0, 0, 0]"},
		{Config{Shape: Shape{28, 28, 2}}, "1 or 3 channels"},
		{Config{Shape: Shape{1 << 20, 28, 1}}, "sides of 1 to 16384"},
		{Config{Shape: Shape{28, 40, 1}, Resize: 39}, "input.resize is 39, want 0, or 40 to 16384"},
	} {
		if _, err := Open(t.Context(), t.TempDir(), tt.c); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want %q", tt.c, err, tt.want)
		}
	}
}

// TestManifest verifies that another name, size or position of an image gives another
// manifest, and that many classes have one line.
func TestManifest(t *testing.T) {
	base := manifest(open(t, animals(t, 3), small).classes)
	seen := map[string]bool{strings.Join(base, "\n"): true}
	for _, change := range []func(dir string) error{
		func(dir string) error {
			return os.Rename(filepath.Join(dir, "cat", "00.png"), filepath.Join(dir, "cat", "0.png"))
		},
		func(dir string) error {
			return os.Rename(filepath.Join(dir, "cat", "00.png"), filepath.Join(dir, "dog", "0.png"))
		},
		func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "cat", "00.png"), []byte("longer"), 0o666)
		},
	} {
		dir := animals(t, 3)
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		lines := strings.Join(open(t, dir, small).Facts().Manifest, "\n")
		if seen[lines] {
			t.Errorf("manifest %s is that of other images", lines)
		}
		seen[lines] = true
	}
	if lines := manifest(make([]class, maxLines+1)); len(lines) != 1 || !strings.HasPrefix(lines[0], "65 classes 0 0 ") {
		t.Errorf("manifest %q of many classes, want one line", lines)
	}
}

// FuzzDecode verifies that no file makes decoding panic or allocate beyond its bound.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"colour.png", "palette.png", "smooth.jpg"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decode(data, input.Limits{})
		if err != nil {
			return
		}
		var r resizer
		size := m.Bounds().Size()
		r.resize(make([]byte, 6), appendPixels(nil, m, 1), size.X, size.Y, small.Shape, 0)
	})
}

// BenchmarkAppend measures the decoding of one image and its resize to 224 × 224.
func BenchmarkAppend(b *testing.B) {
	m := image.NewRGBA(image.Rect(0, 0, 500, 375))
	for i := range m.Pix {
		m.Pix[i] = byte(i * i >> 9)
	}
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, m, nil); err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	put(b, photo.Bytes(), dir, "a", "a.jpg")
	d := open(b, dir, Config{Shape: Shape{224, 224, 3}, Resize: 256})
	var batch input.Batch
	for b.Loop() {
		batch.Reset()
		if err := d.Append(&batch, 0); err != nil {
			b.Fatal(err)
		}
	}
}
