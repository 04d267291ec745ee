package idx

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"

	"ringtrain/input"
	"ringtrain/input/internal/pixel"
)

// Config describes the labels and the limits.
type Config struct {
	Labels input.Labels

	// Later postpones the read of the pixels until Facts.Load or the first record. Open reads
	// and checks headers and labels.
	Later bool

	Limits input.Limits
}

// Dataset is a pair of files, an [input.Dataset]. Pixels are bytes in memory.
type Dataset struct {
	images *content
	pixels func() (*input.Memory, error) // reads them once
	labels []float32                     // nil means all labels are 0
	facts  input.Facts
}

const maxPixels = math.MaxInt32 // of an image

// Open opens a file of images and one of labels. The features of a record are its
// pixels in row-major order, each divided by 255 and rounded once to float32. All pixels
// are in memory, one byte each, after Open or, with c.Later, after the first use.
//
// The error is exitcode.NoInput for a missing file, and exitcode.BadData for a broken one,
// for two files of different counts and for a label that c.Labels refuses. When ctx ends,
// reads return the cause, also later ones. With labels "" all labels are 0.
func Open(ctx context.Context, images, labels string, c Config) (*Dataset, error) {
	f, err := open(ctx, images, c.Limits, checkImages(images))
	if err != nil {
		return nil, err
	}
	d := &Dataset{images: f, pixels: sync.OnceValues(f.read)}
	if err := d.begin(ctx, labels, c); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// begin reads the labels, and the images unless that is for later.
func (d *Dataset) begin(ctx context.Context, labels string, c Config) error {
	f := d.images
	columns, ok := f.payload(f.dims[1:])
	if !ok || columns == 0 || columns > maxPixels {
		return flaw(f.file.Name, "shape is %s, want images of 1 to %d pixels", f.shape(), maxPixels)
	}
	d.facts = input.Facts{
		Records: int(f.dims[0]), Features: int(columns), Shape: shapeOf(f.dims[1:]), Manifest: []string{f.line()},
		InMemory: true, Load: d.load, // the first record reads the whole file
	}
	if !c.Later {
		if err := d.load(); err != nil {
			return err
		}
	}
	if labels == "" {
		return nil
	}
	values, line, err := readLabels(ctx, labels, f.file.Name, f.dims[0], c)
	d.labels, d.facts.Manifest = values, append(d.facts.Manifest, line)
	return err
}

// shapeOf returns height, width and channels of an image with these dimensions, nil if it has others.
func shapeOf(dims []uint32) (shape []int) {
	for _, n := range dims {
		shape = append(shape, int(n))
	}
	switch len(shape) {
	case 2:
		return append(shape, 1)
	case 3:
		return shape
	}
	return nil
}

// readLabels reads count labels and returns them with their line of the manifest.
func readLabels(ctx context.Context, name, images string, count uint32, config Config) ([]float32, string, error) {
	c, err := open(ctx, name, config.Limits, checkLabels(name))
	if err != nil {
		return nil, "", err
	}
	raw, err := c.read()
	if err != nil {
		return nil, "", err
	}
	if c.dims[0] != count {
		return nil, "", flaw(name, "%d labels, want %d as images in %s", c.dims[0], count, images)
	}
	values, err := decodeLabels(name, c.kind, raw, config.Labels)
	return values, c.line(), err
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

// decodeLabels decodes the labels and checks each against the rule.
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

// integer decodes the big-endian element at the start of word.
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

// Facts returns what is known of the images.
func (d *Dataset) Facts() input.Facts { return d.facts }

// load reads the pixels that Open postponed. For a broken file it returns an error with
// exitcode.BadData.
func (d *Dataset) load() error {
	_, err := d.pixels()
	return err
}

// Close closes an unread file and ends a load in progress.
func (d *Dataset) Close() error {
	if err := d.images.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// Append adds images. It returns the errors of a load.
func (d *Dataset) Append(b *input.Batch, records ...int) error {
	held, err := d.pixels()
	if err != nil {
		return err
	}
	for _, i := range records {
		row, off := b.DenseRow(d.facts.Features), int64(i)*int64(d.facts.Features)
		for len(row) > 0 {
			pixels := held.View(off)
			n := min(len(pixels), len(row))
			pixel.Unit(row[:n], pixels[:n])
			row, off = row[n:], off+int64(n)
		}
		y := float32(0)
		if d.labels != nil {
			y = d.labels[i]
		}
		b.Y = append(b.Y, y)
	}
	return nil
}
