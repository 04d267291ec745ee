package image

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"

	"ringtrain/input"
	"ringtrain/input/internal/pixel"
	"ringtrain/ring/exitcode"
)

// Config describes the conversion of images.
type Config struct {
	Shape  Shape
	Resize int // pixels of the shorter side before the crop; 0: the minimum that covers the shape

	// Names are the classes of the training records in order; nil means those of the
	// folder, sorted.
	Names []string

	// Unlabelled takes a folder without folders for one of images.
	Unlabelled bool

	Limits input.Limits // limits of the decoded size
}

// Check returns the errors of the shape and the size.
func (c Config) Check() error {
	var faults []error
	s := c.Shape
	if s.Height < 1 || s.Width < 1 || s.Height > maxSide || s.Width > maxSide || s.Channels != 1 && s.Channels != 3 {
		faults = append(faults, fmt.Errorf("input.shape is [%d, %d, %d], want [height, width, channels]: sides of 1 to %d, and 1 or 3 channels",
			s.Height, s.Width, s.Channels, maxSide))
	}
	if least := max(s.Height, s.Width); c.Resize != 0 && (c.Resize < least || c.Resize > maxSide) {
		faults = append(faults, fmt.Errorf("input.resize is %d, want 0, or %d to %d: the crop's longer side or more", c.Resize, least, maxSide))
	}
	return exitcode.With(exitcode.Usage, errors.Join(faults...))
}

// maxSide bounds the sides of records, in pixels.
const maxSide = 1 << 14

// Dataset has the images of a folder. It is an [input.Dataset].
type Dataset struct {
	config  Config
	classes []class // by name
	facts   input.Facts

	readers sync.Pool // *scratch
}

// Open lists the images of a folder, class by class. Append reads and decodes images.
// When ctx ends, Open returns the cause.
//
// Errors name the file or folder. The code is exitcode.NoInput for a missing folder,
// exitcode.BadData for an unexpected content, exitcode.Usage for c.
func Open(ctx context.Context, folder string, c Config) (*Dataset, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if names, err := Classes(folder); c.Unlabelled && err == nil && len(names) == 0 {
		all := class{dir: folder}
		if err := all.list(ctx); err != nil {
			return nil, err
		} else if len(all.files) > 0 {
			return newDataset(c, []class{all}), nil
		}
	}
	classes, err := listClasses(ctx, folder, c.Names)
	if err != nil {
		return nil, err
	}
	d := newDataset(c, classes)
	if d.facts.Classes == nil {
		for _, k := range classes {
			d.facts.Classes = append(d.facts.Classes, k.name)
		}
	}
	return d, nil
}

// OpenFiles is Open for images without labels. It passes over the files that Open passes over.
func OpenFiles(files []string, c Config) (*Dataset, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	images := slices.DeleteFunc(slices.Clone(files), func(f string) bool { return isLitter(filepath.Base(f)) })
	if len(images) == 0 {
		return nil, flaw(strings.Join(files, ", "), "no image, want .png, .jpg or .jpeg")
	}
	return newDataset(c, []class{{files: images}}), nil
}

// newDataset returns the images of classes. Their names are those of c, if there are any.
func newDataset(c Config, classes []class) *Dataset {
	d := &Dataset{config: c, classes: classes, facts: input.Facts{Features: c.Shape.Pixels(), Keys: []string{"file"}, Classes: c.Names}}
	for i := range classes {
		classes[i].first = d.facts.Records
		d.facts.Records += len(classes[i].files)
	}
	d.facts.Manifest = manifest(classes)
	return d
}

// Facts returns what is known of the images. The manifest has one line per class, "name bytes images
// sum", with the checksum of the names and sizes of its files, or one line for all of more than 64.
func (d *Dataset) Facts() input.Facts { return d.facts }

// Close does nothing: no file stays open.
func (d *Dataset) Close() error { return nil }

// place returns the file and label of record i.
func (d *Dataset) place(i int) (file string, label float32) {
	k := sort.Search(len(d.classes), func(k int) bool { return d.classes[k].first > i }) - 1
	c := &d.classes[k]
	return filepath.Join(c.dir, c.files[i-c.first]), float32(c.label)
}

// Append adds the images of records in order. It decodes GOMAXPROCS images in
// parallel. It returns the error of the first bad record.
func (d *Dataset) Append(b *input.Batch, records ...int) error {
	rows := make([][]float32, len(records))
	first := b.X.Dense.Rows
	for _, i := range records {
		file, label := d.place(i)
		b.Y = append(b.Y, label)
		if b.WantKeys {
			b.AddKeys(1)[0] = file
		}
		b.DenseRow(d.facts.Features)
	}
	for k := range rows {
		rows[k] = b.X.Dense.Row(first + k)
	}
	return input.SideBySide(context.Background(), len(records), runtime.GOMAXPROCS(0), func(_, k int) error {
		s := d.scratch()
		defer d.readers.Put(s)
		file, _ := d.place(records[k])
		return s.read(d, rows[k], file)
	})
}

// scratch is the memory of one reader.
type scratch struct {
	file    []byte
	pix     []byte
	small   []byte
	resizer resizer
}

func (d *Dataset) scratch() *scratch {
	if s, ok := d.readers.Get().(*scratch); ok {
		return s
	}
	return &scratch{small: make([]byte, d.facts.Features)}
}

// read sets row to the image in a file.
func (s *scratch) read(d *Dataset, row []float32, name string) error {
	var err error
	if s.file, err = readFile(s.file[:0], name); err != nil {
		return err
	}
	if len(s.file) == 0 {
		return flaw(name, "is empty, want an image")
	}
	m, err := decode(s.file, d.config.Limits)
	if err != nil {
		return flaw(name, "%w", err)
	}
	shape := d.config.Shape
	s.pix = appendPixels(s.pix[:0], m, shape.Channels)
	size := m.Bounds().Size()
	s.resizer.resize(s.small, s.pix, size.X, size.Y, shape, d.config.Resize)
	pixel.Unit(row, s.small)
	return nil
}

// readFile appends the bytes of a file to dst.
func readFile(dst []byte, name string) ([]byte, error) {
	f, size, err := input.OpenRaw(name)
	if err != nil {
		return dst, err
	}
	defer f.Close()
	dst = append(dst, make([]byte, size)...)
	n, err := f.ReadAt(dst, 0)
	if int64(n) < size {
		return dst, input.ReadError(name, err)
	}
	return dst, nil
}
