package convert

import (
	"context"
	"errors"
	"fmt"

	"ringtrain/input"
	"ringtrain/input/cache"
	"ringtrain/input/column"
	"ringtrain/input/csvfile"
	"ringtrain/input/idx"
	"ringtrain/input/image"
	"ringtrain/input/libsvm"
	"ringtrain/input/parquet"
	"ringtrain/input/text"
	"ringtrain/input/tfrecord"
	"ringtrain/input/vw"
	"ringtrain/ring/exitcode"
)

// Spec describes a data set in files, to read or to write.
type Spec struct {
	Origin // with the files that its names mean: see Origin.Find. To write: one file, or folder

	Shape  []int    // images: height, width, channels
	Resize int      // images: as in image.Config
	Names  []string // images: the classes in order; nil means those of the folder, sorted

	Columns *column.Plan // the conversion of columns; nil means that the format has none, or a record of its own
	Learn   bool         // the plan learns from these records, which are those of training
	Split   input.Split  // of these records: nothing is learnt from those that are held out

	Dense bool // the model reads dense records: values that are dense, or sparse records that are made so

	Features  int          // 0: the number in the files
	Fields    int          // bags of a record whose ids have fields; 0: one of all ids
	Limits    input.Limits // of compressed files, and of ids if Features is 0
	LabelRule input.Labels // the valid labels

	// Later postpones long reads that are not needed to describe the data set until Load
	// of its facts or the first record. A format may ignore it.
	Later bool

	// Cache is the location of the parsed records of text: auto (or empty), off, or a
	// folder. CacheDir is the folder of auto; without it there is no cache. Again means
	// that the records are read several times. Notice, unless nil, receives messages
	// about a cache. FindCache means that a cache is read if it exists, and none is made.
	Cache, CacheDir string
	FindCache       bool
	Again           bool
	Notice          func(string)

	// Share leaves the records of large text to be counted: see input.Counting.
	Share bool

	// Tolerate permits bad records of text and TFRecords; see input.SourceConfig.MaxBad.
	Tolerate bool

	FloatLabel bool // tfrecord, to write: write float labels even if all are whole
	Overwrite  bool // to write: replace a file that exists
}

// Open opens a data set to read. The errors are those of the format's package; an
// unknown format is exitcode.Usage. When ctx ends, Open returns the cause.
func Open(ctx context.Context, s Spec) (input.Dataset, error) {
	f, err := s.check()
	if err != nil {
		return nil, err
	}
	if f.IsCached() {
		return s.openCached(ctx)
	}
	return f.open(ctx, s)
}

// check returns the format of s, unless the files or the columns do not suit it.
func (s Spec) check() (Format, error) {
	f, known := FormatOf(s.Format)
	if !known {
		return f, usage("format is %q, want one of %s", s.Format, s.Format.Takes())
	}
	given := len(s.Files) > 0 && !f.Has("files") && s.LabelRule.Absent // without labels, see Origin.Give
	for i, r := range f.Reads {
		if len(s.names(r.Key)) == 0 && !given && (i == 0 || !s.LabelRule.Absent) {
			return f, usage("%s is empty, want %s", r.Key, r.Want)
		}
	}
	if !given {
		if err := errors.Join(s.unused("", f)...); err != nil {
			return f, usage("%w", err)
		}
	}
	if s.Columns == nil && f.Columns == WantColumns {
		return f, usage("format %s wants input.columns, which a job file has", s.Format)
	}
	return f, nil
}

func openTFRecord(ctx context.Context, s Spec) (input.Dataset, error) {
	if s.Columns != nil {
		return tfrecord.OpenColumns(ctx, s.Files, tfrecord.Config{Limits: s.Limits, Labels: s.LabelRule, Compression: s.Compression, Tolerate: s.Tolerate, Split: s.Split},
			tfrecord.Columns{Plan: s.Columns, Learn: s.Learn, Share: s.Share})
	}
	return tfrecord.Open(ctx, s.Files, tfrecord.Config{
		Label: s.Label, IDs: s.IDs, Values: s.Values, Dense: s.Dense,
		Features: s.Features, Limits: s.Limits, Labels: s.LabelRule, Compression: s.Compression, Tolerate: s.Tolerate, Split: s.Split,
	})
}

func openLibSVM(ctx context.Context, s Spec, paths []string) (cache.Text, error) {
	return libsvm.Open(ctx, s.Files, s.libsvm(paths))
}

func libsvmLines(s Spec) (text.Config, error) { return libsvm.Lines(s.libsvm(nil)) }

func (s Spec) libsvm(paths []string) libsvm.Config {
	f, _ := FormatOf(s.Format)
	return libsvm.Config{
		Base: s.Base, Features: s.Features, Limits: s.Limits, Labels: s.LabelRule, Dense: s.Dense, Tolerate: s.Tolerate, Paths: paths,
		Fields: f.Fields, Bags: s.Fields, Share: s.Share, Split: s.Split,
	}
}

func openVW(ctx context.Context, s Spec, paths []string) (cache.Text, error) {
	return vw.Open(ctx, s.Files, s.vw(paths))
}

func vwLines(s Spec) (text.Config, error) { return vw.Lines(s.vw(nil)) }

func (s Spec) vw(paths []string) vw.Config {
	return vw.Config{Features: s.Features, Limits: s.Limits, Labels: s.LabelRule, Dense: s.Dense, Tolerate: s.Tolerate, Paths: paths, Share: s.Share, Split: s.Split}
}

func openSeparated(ctx context.Context, s Spec, paths []string) (cache.Text, error) {
	c, err := s.separated(paths)
	if err != nil {
		return nil, err
	}
	return csvfile.Open(ctx, s.Files, c)
}

func separatedLines(s Spec) (text.Config, error) {
	c, err := s.separated(nil)
	if err != nil {
		return text.Config{}, err
	}
	return csvfile.Lines(c)
}

func openParquet(ctx context.Context, s Spec, _ []string) (cache.Text, error) {
	return parquet.Open(ctx, s.Files, s.parquet())
}

func largeParquet(ctx context.Context, s Spec) (bool, error) {
	return parquet.Large(ctx, s.Files, s.parquet())
}

func (s Spec) parquet() parquet.Config {
	return parquet.Config{Columns: s.Columns, Learn: s.Learn, Split: s.Split, Limits: s.Limits, Labels: s.LabelRule, Tolerate: s.Tolerate}
}

// separated describes text with separated fields. Criteo's has tabs, no header and no quotes.
func (s Spec) separated(paths []string) (csvfile.Config, error) {
	f, _ := FormatOf(s.Format)
	if f.Tabs {
		s.Separator = "tab"
	}
	separator, err := s.separator()
	if err != nil {
		return csvfile.Config{}, usage("%w", err)
	}
	return csvfile.Config{
		Format: f.Name, Columns: s.Columns, Learn: s.Learn, Split: s.Split, Header: s.Header, Separator: separator, Trim: s.Trim, NoQuotes: f.Tabs,
		Paths: paths, Limits: s.Limits, Labels: s.LabelRule, Tolerate: s.Tolerate, Share: s.Share,
	}, nil
}

// criteoColumns returns the columns of Criteo's click logs: label, 13 counts and 26 texts.
func criteoColumns() []column.Column {
	const hash = 100_000 // ids of each text column
	return []column.Column{
		{Label: &column.LabelOptions{Names: []string{"label"}}},
		{Numeric: &column.NumericOptions{Names: []string{"I1..I13"}, Transform: "log1p", Standardize: true, Default: &column.Missing{}}},
		{Categorical: &column.CategoricalOptions{Names: []string{"C1..C26"}, Hash: hash}},
	}
}

func openIDX(ctx context.Context, s Spec) (input.Dataset, error) {
	if s.LabelRule.Absent {
		s.Labels = ""
	}
	d, err := idx.Open(ctx, s.Images, s.Labels, idx.Config{Labels: s.LabelRule, Later: s.Later, Limits: s.Limits})
	if err != nil {
		return nil, err
	}
	if n := d.Facts().Features; s.Features > 0 && n != s.Features {
		d.Close()
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("%s: images have %d pixels, want %d", s.Images, n, s.Features))
	}
	return d, nil
}

// openImages opens a folder of images, or images without labels.
func openImages(ctx context.Context, s Spec) (input.Dataset, error) {
	if len(s.Shape) != 3 {
		return nil, usage("shape is %v, want HEIGHT,WIDTH,CHANNELS that the images are brought to", s.Shape)
	}
	c := image.Config{Resize: s.Resize, Names: s.Names, Unlabelled: s.LabelRule.Absent, Limits: s.Limits}
	c.Shape = image.Shape{Height: s.Shape[0], Width: s.Shape[1], Channels: s.Shape[2]}
	if len(s.Files) > 0 {
		return image.OpenFiles(s.Files, c)
	}
	d, err := image.Open(ctx, s.Images, c)
	if err != nil {
		return nil, err
	}
	want := s.LabelRule.Classes
	switch {
	case s.LabelRule.Absent:
		want = 0
	case s.LabelRule.Binary:
		want = 2
	case s.LabelRule.Names != nil:
		want = len(s.LabelRule.Names.Names())
	}
	if n := len(d.Facts().Classes); want > 0 && n != want {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("%s: %d classes, want %d", s.Images, n, want))
	}
	return d, nil
}

func usage(format string, args ...any) error {
	return exitcode.With(exitcode.Usage, fmt.Errorf("input: "+format, args...))
}
