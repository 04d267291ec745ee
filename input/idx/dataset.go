package idx

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"sync"

	"ringtrain/input"
	"ringtrain/input/internal/pixel"
	"ringtrain/ring/exitcode"
)

// Config describes the labels and the limits.
type Config struct {
	Labels input.Labels

	// Later postpones the read of the pixels until Facts.Load or the first record. Open reads
	// and checks headers and labels.
	Later bool

	Limits input.Limits
}

// Dataset is a list of pairs of files, an [input.Dataset]. Pixels are bytes in memory.
type Dataset struct {
	parts []part
	facts input.Facts
}

// part is one pair of files. first is the index of its first record.
type part struct {
	first  int
	images *content
	load   func() (*input.Memory, error) // reads the pixels once
	labels []float32                     // nil means all labels are 0
}

// Open opens pairs of files: images[i] with labels[i]. The features of a record are its
// pixels in row-major order, each divided by 255 and rounded once to float32. All pixels
// are in memory, one byte each, after Open or, with c.Later, after the first use.
//
// The error is exitcode.NoInput for a missing file, exitcode.BadData for a broken one,
// for two files of different counts and for a label that c.Labels refuses, and
// exitcode.Usage for unpaired files. When ctx ends, reads return the cause, also later ones. If labels may be absent, labels may be nil: then
// all are 0.
func Open(ctx context.Context, images, labels []string, c Config) (*Dataset, error) {
	if labels == nil && c.Labels.Absent {
		labels = make([]string, len(images))
	}
	if len(images) != len(labels) || len(images) == 0 {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf(
			"idx: %d files of images and %d of labels, want as many of both, at least one", len(images), len(labels)))
	}
	d := new(Dataset)
	d.facts.InMemory = true // the first record of a file reads the whole file
	d.facts.Load = d.load
	for i := range images {
		if err := d.add(ctx, images[i], labels[i], c); err != nil {
			d.Close()
			return nil, err
		}
	}
	return d, nil
}

const maxPixels = math.MaxInt32 // of an image

// add appends a pair of files.
func (d *Dataset) add(ctx context.Context, images, labels string, config Config) error {
	c, err := open(ctx, images, config.Limits, checkImages(images))
	if err != nil {
		return err
	}
	count := c.dims[0]
	p := part{first: d.facts.Records, images: c, load: sync.OnceValues(c.read)}
	d.parts = append(d.parts, p) // to be closed
	columns, ok := c.payload(c.dims[1:])
	if !ok || columns == 0 || columns > maxPixels {
		return flaw(images, "shape is %s, want images of 1 to %d pixels", c.shape(), maxPixels)
	}
	if d.facts.Features > 0 && int(columns) != d.facts.Features {
		return flaw(images, "images have %d pixels, want %d as in the files before", columns, d.facts.Features)
	}
	if !config.Later {
		if _, err := p.load(); err != nil {
			return err
		}
	}
	d.facts.Manifest = append(d.facts.Manifest, c.line())
	if labels != "" {
		values, line, err := readLabels(ctx, labels, images, count, config)
		if err != nil {
			return err
		}
		d.parts[len(d.parts)-1].labels = values
		d.facts.Manifest = append(d.facts.Manifest, line)
	}
	d.setShape(c.dims[1:])
	d.facts.Features = int(columns)
	d.facts.Records += int(count)
	return nil
}

// setShape sets the shape from the dimensions of a file's images. Files of equal size
// and different shapes have no common shape.
func (d *Dataset) setShape(dims []uint32) {
	var shape []int
	for _, n := range dims {
		shape = append(shape, int(n))
	}
	switch {
	case len(shape) == 2:
		shape = append(shape, 1)
	case len(shape) != 3:
		shape = nil
	}
	if d.facts.Features > 0 && !slices.Equal(shape, d.facts.Shape) {
		shape = nil
	}
	d.facts.Shape = shape
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

// load reads everything that Open postponed. For a broken file it returns an error with
// exitcode.BadData.
func (d *Dataset) load() error {
	for i := range d.parts {
		if _, err := d.parts[i].load(); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the unread files and ends a load in progress.
func (d *Dataset) Close() error {
	var faults []error
	for i := range d.parts {
		if err := d.parts[i].images.file.Close(); !errors.Is(err, os.ErrClosed) {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// Append adds images. It returns the errors of a load.
func (d *Dataset) Append(b *input.Batch, records ...int) error {
	for _, i := range records {
		if err := d.append(b, i); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dataset) append(b *input.Batch, i int) error {
	p := &d.parts[sort.Search(len(d.parts), func(k int) bool { return d.parts[k].first > i })-1]
	held, err := p.load()
	if err != nil {
		return err
	}
	i -= p.first
	row, off := b.DenseRow(d.facts.Features), int64(i)*int64(d.facts.Features)
	for len(row) > 0 {
		pixels := held.View(off)
		n := min(len(pixels), len(row))
		pixel.Unit(row[:n], pixels[:n])
		row, off = row[n:], off+int64(n)
	}
	y := float32(0)
	if p.labels != nil {
		y = p.labels[i]
	}
	b.Y = append(b.Y, y)
	return nil
}
