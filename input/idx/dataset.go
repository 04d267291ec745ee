package idx

import (
	"encoding/binary"
	"fmt"
	"sort"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// Config says how labels are read.
type Config struct {
	Labels input.Labels
}

// dataset is a list of pairs of files. Pixels stay bytes in memory.
type dataset struct {
	parts    []part
	features int
	records  int
	manifest []string
	unit     [256]float32 // pixel/255
}

// part is one pair of files: the records from first on.
type part struct {
	first  int
	pixels *input.Memory
	labels []float32
}

// Open reads pairs of files: images[i] with labels[i]. The features of a record
// are its pixels in row-major order, each divided by 255 and rounded once to
// float32. All of it is held in memory, a byte a pixel.
//
// It returns an error with exitcode.NoInput for a file that is missing, with
// exitcode.BadData for a broken one, for two files of different counts and for
// a label that c.Labels refuses, and with exitcode.Usage for unpaired files.
// Where labels may be absent, labels may be nil: then all are 0.
func Open(images, labels []string, c Config) (input.Dataset, error) {
	if labels == nil && c.Labels.Absent {
		labels = make([]string, len(images))
	}
	if len(images) != len(labels) || len(images) == 0 {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf(
			"idx: %d files of images and %d of labels, want as many of both, at least one", len(images), len(labels)))
	}
	d := new(dataset)
	for p := range d.unit {
		d.unit[p] = float32(p) / 255
	}
	for i := range images {
		if err := d.add(images[i], labels[i], c.Labels); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// add appends a pair of files.
func (d *dataset) add(images, labels string, rule input.Labels) error {
	h, pixels, line, err := read(images, checkImages(images))
	if err != nil {
		return err
	}
	count := h.dims[0]
	columns, ok := h.payload(h.dims[1:])
	if !ok || columns == 0 || columns > 1<<31-1 {
		return flaw(images, "shape is %s, want images of at least one pixel", h.shape())
	}
	if d.features > 0 && int(columns) != d.features {
		return flaw(images, "images have %d pixels, want %d as in the files before", columns, d.features)
	}
	p := part{first: d.records, pixels: pixels, labels: make([]float32, count)}
	d.manifest = append(d.manifest, line)
	if labels != "" {
		if p.labels, line, err = readLabels(labels, images, count, rule); err != nil {
			return err
		}
		d.manifest = append(d.manifest, line)
	}
	d.parts = append(d.parts, p)
	d.features = int(columns)
	d.records += int(count)
	return nil
}

// readLabels reads the labels of so many images, and their line of the manifest.
func readLabels(name, images string, count uint32, rule input.Labels) ([]float32, string, error) {
	h, raw, line, err := read(name, checkLabels(name))
	if err != nil {
		return nil, "", err
	}
	if h.dims[0] != count {
		return nil, "", flaw(name, "%d labels, want %d as images in %s", h.dims[0], count, images)
	}
	values, err := decodeLabels(name, h.kind, raw, rule)
	return values, line, err
}

func checkImages(name string) func(header) error {
	return func(h header) error {
		if h.kind != kindUint8 || len(h.dims) < 2 {
			return flaw(name, "holds %v of %d dimensions, want images: uint8 of 2 or more", h.kind, len(h.dims))
		}
		return nil
	}
}

func checkLabels(name string) func(header) error {
	return func(h header) error {
		if len(h.dims) != 1 || h.kind == kindFloat32 || h.kind == kindFloat64 {
			return flaw(name, "holds %v of %d dimensions, want labels: integers of 1", h.kind, len(h.dims))
		}
		return nil
	}
}

// decodeLabels checks every label against the rule.
func decodeLabels(name string, k kind, raw *input.Memory, rule input.Labels) ([]float32, error) {
	labels := make([]float32, raw.Size()/k.bytes())
	var word [4]byte
	for i := range labels {
		raw.ReadAt(word[:k.bytes()], int64(i)*k.bytes())
		y, err := rule.Value(float64(integer(k, word)))
		if err != nil {
			return nil, fmt.Errorf("idx: %s: record %d: %w", name, i, err)
		}
		labels[i] = y
	}
	return labels, nil
}

// integer decodes the big-endian element at the beginning of word.
func integer(k kind, word [4]byte) int32 {
	switch k {
	case kindInt8:
		return int32(int8(word[0]))
	case kindInt16:
		return int32(int16(binary.BigEndian.Uint16(word[:])))
	case kindInt32:
		return int32(binary.BigEndian.Uint32(word[:]))
	}
	return int32(word[0])
}

// Len returns the number of images.
func (d *dataset) Len() int { return d.records }

// Features returns the number of pixels of an image.
func (d *dataset) Features() int { return d.features }

// Manifest has two lines a pair: images, labels.
func (d *dataset) Manifest() []string { return d.manifest }

// Close does nothing: the files were closed after they were read.
func (d *dataset) Close() error { return nil }

// Append adds image i. It cannot fail: everything was checked by Open.
func (d *dataset) Append(b *input.Batch, i int) error {
	p := &d.parts[sort.Search(len(d.parts), func(k int) bool { return d.parts[k].first > i })-1]
	i -= p.first
	row, off := b.DenseRow(d.features), int64(i)*int64(d.features)
	for len(row) > 0 {
		pixels := p.pixels.View(off)
		n := min(len(pixels), len(row))
		for j, v := range pixels[:n] {
			row[j] = d.unit[v]
		}
		row, off = row[n:], off+int64(n)
	}
	b.Y = append(b.Y, p.labels[i])
	return nil
}
