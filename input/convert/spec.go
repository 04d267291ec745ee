package convert

import (
	"context"
	"fmt"
	"slices"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/csvfile"
	"ringtrain/input/idx"
	"ringtrain/input/image"
	"ringtrain/input/text"
	"ringtrain/input/tfrecord"
	"ringtrain/ring/exitcode"
)

// Spec describes a data set in files, to read or to write. The fields have the names of
// the keys input.train.* of a job.
type Spec struct {
	Format string   // idx, images, tfrecord, libsvm, libffm, vw, csv, criteo
	Files  []string // tfrecord, libsvm, libffm, vw, csv, criteo: the files in order; exactly one to write. images: files without labels, instead of a folder

	Images, Labels string // idx: the two files; images: the folder, and none

	Shape  []int    // images: height, width, channels
	Resize int      // images: as in image.Config
	Names  []string // images: the classes in order; nil means those of the folder, sorted

	Label, IDs, Values string // tfrecord: names of features; empty as in tfrecord.Config
	Compression        string // tfrecord, to read: auto (or empty), none, gzip, zlib
	Base               int    // libsvm, libffm: the index of id 0

	Columns   *column.Plan // tfrecord, csv, criteo: the conversion of columns; nil for tfrecord means label, ids and values
	Learn     bool         // the plan learns from these records, which are those of training
	Header    bool         // csv: the first line names the columns
	Separator byte         // csv: 0 means a comma

	Dense bool // tfrecord: Values are dense features; libsvm, libffm, vw: rows are made dense

	Features  int          // 0: the number in the files
	Fields    int          // libffm: bags of a record; 0: one of all ids
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
	switch s.Format {
	case "idx":
		return openIDX(ctx, s)
	case "images":
		return openImages(ctx, s)
	case "tfrecord":
		if err := s.wantFiles(); err != nil {
			return nil, err
		}
		if s.Columns != nil {
			return tfrecord.OpenColumns(ctx, s.Files, tfrecord.Config{Limits: s.Limits, Labels: s.LabelRule, Compression: s.Compression, Tolerate: s.Tolerate},
				tfrecord.Columns{Plan: s.Columns, Learn: s.Learn, Share: s.Share})
		}
		return tfrecord.Open(ctx, s.Files, tfrecord.Config{
			Label: s.Label, IDs: s.IDs, Values: s.Values, Dense: s.Dense,
			Features: s.Features, Limits: s.Limits, Labels: s.LabelRule, Compression: s.Compression, Tolerate: s.Tolerate,
		})
	case "parquet":
		return nil, usage("format parquet is not built yet, want idx, images, tfrecord, libsvm, libffm, vw, csv or criteo")
	}
	if !slices.Contains(textFormats, s.Format) {
		return nil, usage("format is %q, want idx, images, tfrecord, libsvm, libffm, vw, csv or criteo", s.Format)
	}
	if err := s.wantFiles(); err != nil {
		return nil, err
	}
	if s.Columns == nil && (s.Format == "csv" || s.Format == "criteo") {
		return nil, usage("format %s wants input.columns, which a job file has", s.Format)
	}
	return s.openCached(ctx)
}

// openFields opens text with separated fields, as openLines does. Criteo's format has
// tabs, no header and no quotes.
func (s Spec) openFields(ctx context.Context, paths []string) (*text.Set, error) {
	c := csvfile.Config{
		Format: s.Format, Columns: s.Columns, Learn: s.Learn, Header: s.Header, Separator: s.Separator,
		Paths: paths, Limits: s.Limits, Labels: s.LabelRule, Tolerate: s.Tolerate, Share: s.Share,
	}
	if s.Format == "criteo" {
		c.Header, c.Separator, c.NoQuotes = false, '\t', true
	}
	return csvfile.Open(ctx, s.Files, c)
}

func openIDX(ctx context.Context, s Spec) (input.Dataset, error) {
	if s.Images == "" || s.Labels == "" && !s.LabelRule.Absent || len(s.Files) > 0 {
		return nil, usage("format idx wants images and labels, one file each, and no files")
	}
	var labels []string
	if s.Labels != "" && !s.LabelRule.Absent {
		labels = []string{s.Labels}
	}
	d, err := idx.Open(ctx, []string{s.Images}, labels, idx.Config{Labels: s.LabelRule, Later: s.Later, Limits: s.Limits})
	if err != nil {
		return nil, err
	}
	if s.Features > 0 && d.Facts().Features != s.Features {
		d.Close()
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("%s: images have %d pixels, want %d", s.Images, d.Facts().Features, s.Features))
	}
	return d, nil
}

// openImages opens a folder of images, or images without labels.
func openImages(ctx context.Context, s Spec) (input.Dataset, error) {
	if s.Labels != "" || (s.Images == "") == (len(s.Files) == 0) || s.Images == "" && !s.LabelRule.Absent {
		return nil, usage("format images wants images, a folder, and neither labels nor files")
	}
	if len(s.Shape) != 3 {
		return nil, usage("shape is %v, want HEIGHT,WIDTH,CHANNELS that the images are brought to", s.Shape)
	}
	c := image.Config{Resize: s.Resize, Names: s.Names, Unlabelled: s.LabelRule.Absent, Limits: s.Limits}
	c.Shape = image.Shape{Height: s.Shape[0], Width: s.Shape[1], Channels: s.Shape[2]}
	if s.Images == "" {
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
	}
	if n := len(d.Facts().Classes); want > 0 && n != want {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("%s: %d classes, want %d", s.Images, n, want))
	}
	return d, nil
}

func (s Spec) wantFiles() error {
	if len(s.Files) == 0 || s.Images != "" || s.Labels != "" {
		return usage("format %s wants files, and neither images nor labels", s.Format)
	}
	return nil
}

func usage(format string, args ...any) error {
	return exitcode.With(exitcode.Usage, fmt.Errorf("input: "+format, args...))
}
