package convert

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"ringtrain/input"
	"ringtrain/input/image"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
)

// writeImages writes the records of d as a folder of PNG images with one folder per
// class: DIR/7/00042.png is record 42. The folder must not exist, and appears complete.
func writeImages(ctx context.Context, d input.Dataset, s Spec) (err error) {
	if !s.Dense {
		return usage("the records are sparse, want dense ones to write %s", s.Format)
	}
	to := s.Files[0]
	switch at, err := folder.Nearest(to); {
	case err != nil:
		return fmt.Errorf("output: %w", err)
	case at == to:
		return exitcode.With(exitcode.CannotCreate, fmt.Errorf("output %s: %w", to, fs.ErrExist))
	}
	shape, err := shapeOf(d, s.Shape)
	if err != nil {
		return err
	}
	beside := fmt.Sprintf("%s.tmp-%016x", filepath.Clean(to), rand.Uint64())
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(beside))
		}
	}()
	classes, err := makeClasses(ctx, d, beside)
	if err != nil {
		return err
	}
	digits := len(strconv.Itoa(d.Facts().Records - 1))
	err = eachRecord(ctx, d, func(i int, b *input.Batch) error {
		name := filepath.Join(beside, classes[int(b.Y[0])], fmt.Sprintf("%0*d.png", digits, i))
		return writeImage(name, b.X.Dense.Row(0), shape)
	})
	if err != nil {
		return err
	}
	return exitcode.With(exitcode.IO, os.Rename(beside, to))
}

// shapeOf returns the shape of the records of d, or said if it is set.
func shapeOf(d input.Dataset, said []int) (image.Shape, error) {
	dims, facts := said, d.Facts()
	if len(dims) == 0 {
		dims = facts.ShapeOf()
	}
	if len(dims) == 2 {
		dims = []int{dims[0], dims[1], 1}
	}
	if len(dims) != 3 {
		return image.Shape{}, usage("the shape of the records is not known, want --shape HEIGHT,WIDTH,CHANNELS")
	}
	s := image.Shape{Height: dims[0], Width: dims[1], Channels: dims[2]}
	if err := (image.Config{Shape: s}).Check(); err != nil {
		return s, err
	}
	if s.Pixels() != facts.Features {
		return s, usage("shape is %v, want one of %d values as records have", dims, facts.Features)
	}
	return s, nil
}

// maxClasses is the maximum number of class folders.
const maxClasses = 1 << 16

// makeClasses makes the folder, and in it one folder for each class up to the largest
// label. Their names are the labels, with as many digits as the largest label.
func makeClasses(ctx context.Context, d input.Dataset, folder string) ([]string, error) {
	var b input.Batch
	most := 0
	for i := range d.Facts().Records {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		b.Reset()
		if err := d.Append(&b, i); err != nil {
			return nil, err
		}
		y := b.Y[0]
		if y < 0 || y >= maxClasses || y != float32(int(y)) {
			return nil, exitcode.With(exitcode.BadData, fmt.Errorf("record %d: label %v, want a class, 0 to %d", i, y, maxClasses-1))
		}
		most = max(most, int(y))
	}
	names := make([]string, most+1)
	for k := range names {
		names[k] = fmt.Sprintf("%0*d", len(strconv.Itoa(most)), k)
		if err := os.MkdirAll(filepath.Join(folder, names[k]), 0o777); err != nil {
			return nil, exitcode.With(exitcode.CannotCreate, fmt.Errorf("output: %w", err))
		}
	}
	return names, nil
}

func writeImage(name string, record []float32, s image.Shape) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return exitcode.With(exitcode.IO, err)
	}
	w := bufio.NewWriter(f)
	if err := image.Encode(w, record, s); err != nil {
		return errors.Join(exitcode.With(exitcode.BadData, err), f.Close())
	}
	return exitcode.With(exitcode.IO, errors.Join(w.Flush(), f.Close()))
}
