package job

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/image"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// Input configures the records and their batches.
type Input struct {
	Train      Files           `yaml:"train"`       // training records
	Eval       Files           `yaml:"eval"`        // validation records; none: the evaluation reads the training records
	Evals      []NamedFiles    `yaml:"evals"`       // more validation records, each with a name and events of its own
	Columns    []column.Column `yaml:"columns"`     // csv, criteo, tfrecord: inputs of the model from the columns of a record
	Batch      int             `yaml:"batch"`       // examples per step over all ranks
	LocalBatch int             `yaml:"local_batch"` // examples per step on each rank, instead of input.batch
	Shuffle    bool            `yaml:"shuffle"`     // another order in each epoch, from train.seed alone
	Prefetch   int             `yaml:"prefetch"`    // number of batches read ahead
	Shape      []int           `yaml:"shape"`       // height, width and channels of a record, if the file does not give them
	Resize     int             `yaml:"resize"`      // images: pixels of the shorter side before the centre is cropped; 0: the fewest that cover input.shape
	Synthetic  bool            `yaml:"synthetic"`   // ringtrain draws the records from train.seed

	// MaxFeatures bounds the ids of sparse records, if model.features is not set. Ids are below it.
	MaxFeatures int `yaml:"max_features"`

	// Cache is the place of the parsed records of text: auto, off or a folder. See docs/reference.md.
	Cache string `yaml:"cache"`

	// MaxBad is the largest number of bad training records of an epoch, over all ranks. A bad record
	// is left out of its batch.
	MaxBad int64 `yaml:"max_bad_records"`

	// MaxInflate bounds the bytes to which a compressed file inflates. A larger file may inflate to 64
	// times its size.
	MaxInflate Size `yaml:"max_inflate"`
}

// Files names the files of one data set, relative to the data folder, and describes their records. What
// validation records do not say of how they are read is as of input.train, if the format is the same.
type Files struct {
	Format      string   `yaml:"format"`      // idx, images, tfrecord, libsvm, libffm, vw, csv or criteo
	Files       []string `yaml:"files"`       // all formats but idx and images: files or globs
	Images      string   `yaml:"images"`      // idx: file of images; images: folder with a folder of PNG and JPEG files for each class
	Labels      string   `yaml:"labels"`      // idx: file of labels
	Label       string   `yaml:"label"`       // tfrecord: name of the feature that holds the label
	IDs         string   `yaml:"ids"`         // tfrecord: name of the feature that holds sparse ids
	Values      string   `yaml:"values"`      // tfrecord: name of the feature that holds the values
	Compression string   `yaml:"compression"` // tfrecord: auto, none, gzip or zlib
	Base        int      `yaml:"base"`        // libsvm: subtracted from ids
	Header      bool     `yaml:"header"`      // csv: the first line of each file names the columns; else input.columns names them in order
	Separator   string   `yaml:"separator"`   // csv: one character between fields, or tab; default a comma
}

func (in *Input) check(sparse bool) error {
	var f faults
	if in.LocalBatch == 0 {
		f.wantBetween("input.batch", in.Batch, 1, maxBatch)
	} else {
		f.wantBetween("input.local_batch", in.LocalBatch, 1, maxBatch)
	}
	f.wantBetween("input.prefetch", in.Prefetch, 0, maxPrefetch)
	f.wantBetween("input.max_features", in.MaxFeatures, 1, maxIDs)
	in.checkShape(&f, sparse)
	if in.MaxBad < 0 {
		f.add("input.max_bad_records is %d, want 0 or more", in.MaxBad)
	}
	if in.MaxInflate < input.DefaultMaxInflate {
		f.add("input.max_inflate is %d, want %d (64MiB) or more", in.MaxInflate, input.DefaultMaxInflate)
	}
	if in.Synthetic {
		return f.err() // no file is read
	}
	if in.Train.Format == "" {
		f.add("input.train.format is empty, want one of %s (or input.synthetic: true)", strings.Join(formats(), ", "))
	}
	f = append(f, in.Train.check("input.train", sparse)...)
	f = append(f, in.Eval.check("input.eval", sparse)...)
	in.checkEvals(&f, sparse)
	in.checkColumns(&f)
	in.checkImages(&f)
	return f.err()
}

// checkShape checks input.shape, except the conditions of checkImages.
func (in *Input) checkShape(f *faults, sparse bool) {
	switch n := len(in.Shape); {
	case n == 0 || !in.Synthetic && in.hasImages():
		return
	case sparse:
		f.add("input.shape is %v, want none: the model reads sparse records", in.Shape)
	case n != 1 && n != 3:
		f.add("input.shape is %v, want height, width and channels, or one size", in.Shape)
	}
	before := len(*f)
	for _, n := range in.Shape {
		f.wantBetween("input.shape", n, 1, maxShape)
	}
	if n := graph.Shape(in.Shape).Len(); n > maxWidth && len(*f) == before {
		f.add("input.shape is %v, which is %d values, want at most %d", in.Shape, n, maxWidth)
	}
}

// hasImages reports whether some of the files are folders of images.
func (in *Input) hasImages() bool {
	return in.Train.Format == "images" || in.Eval.Format == "images" ||
		slices.ContainsFunc(in.Evals, func(e NamedFiles) bool { return e.Format == "images" })
}

// checkImages checks the options of images.
func (in *Input) checkImages(f *faults) {
	if !in.hasImages() {
		if in.Resize != 0 {
			f.add("input.resize is %d, want 0: no format is images", in.Resize)
		}
		return
	}
	if len(in.Shape) != 3 {
		f.add("input.shape is %v, want height, width and channels of the images", in.Shape)
		return
	}
	c := image.Config{Shape: image.Shape{Height: in.Shape[0], Width: in.Shape[1], Channels: in.Shape[2]}, Resize: in.Resize}
	*f = append(*f, flatten(c.Check())...)
}

// checkFields checks that records of a model of so many fields have numbered fields.
func (in *Input) checkFields(fields int) error {
	var f faults
	refuse := func(of string) { f.add("model.fields is %d, want 0 with %s: only libffm numbers fields", fields, of) }
	if fields == 0 {
		return nil
	}
	if in.Synthetic {
		refuse("input.synthetic")
		return f.err()
	}
	for _, k := range []struct{ key, format string }{{"input.train", in.Train.Format}, {"input.eval", in.Eval.Format}} {
		if k.format != "" && k.format != "libffm" {
			refuse(k.key + ".format " + k.format)
		}
	}
	for i, e := range in.Evals {
		if e.Format != "libffm" {
			refuse(EvalKey(e.Name, i) + ".format " + e.Format)
		}
	}
	return f.err()
}

func formats() []string {
	return []string{"idx", "images", "tfrecord", "libsvm", "libffm", "vw", "csv", "criteo"}
}

// check returns the faults of the files at key, for a model of sparse records or another model.
func (f *Files) check(key string, sparse bool) faults {
	var all faults
	add := func(format string, args ...any) { all.add(key+"."+format, args...) }
	switch f.Format {
	case "":
		empty := *f
		if empty.Files = nil; len(f.Files) > 0 || !reflect.DeepEqual(empty, Files{}) {
			add("format is empty, want one of %s", strings.Join(formats(), ", "))
		}
		return all
	case "idx":
		if f.Images == "" {
			add("images is empty, want the file of images")
		}
		if f.Labels == "" {
			add("labels is empty, want the file of labels")
		}
		if sparse {
			add("format is idx, want tfrecord, libsvm, libffm, vw, csv or criteo: the model reads sparse records")
		}
	case "images":
		if f.Images == "" {
			add("images is empty, want the folder of the classes")
		}
		if sparse {
			add("format is images, want tfrecord, libsvm, libffm, vw, csv or criteo: the model reads sparse records")
		}
	case "tfrecord", "libsvm", "libffm", "vw":
		if len(f.Files) == 0 {
			add("files is empty, want at least one file")
		}
		if f.IDs != "" && !sparse {
			add("ids is %s, want none: the model reads dense records", f.IDs)
		}
	case "csv", "criteo":
		if len(f.Files) == 0 {
			add("files is empty, want at least one file")
		}
		if _, err := f.SeparatorByte(); err != nil {
			add("%w", err)
		}
	case "parquet":
		add("format is %s, which is not built yet, want one of %s", f.Format, strings.Join(formats(), ", "))
		return all
	default:
		add("format is %s, want one of %s", f.Format, strings.Join(formats(), ", "))
		return all
	}
	if !slices.Contains([]string{"", "auto", "none", "gzip", "zlib"}, f.Compression) {
		add("compression is %s, want one of auto, none, gzip, zlib", f.Compression)
	}
	return append(all, f.unusedKeys(key)...)
}

// unusedKeys returns a fault for each key that is set but has no meaning for the format.
func (f *Files) unusedKeys(key string) faults {
	var all faults
	for _, k := range []struct {
		name, value string
		of          []string // formats
	}{
		{"files", strings.Join(f.Files, " "), []string{"tfrecord", "libsvm", "libffm", "vw", "csv", "criteo"}},
		{"images", f.Images, []string{"idx", "images"}},
		{"labels", f.Labels, []string{"idx"}},
		{"label", f.Label, []string{"tfrecord"}},
		{"ids", f.IDs, []string{"tfrecord"}},
		{"values", f.Values, []string{"tfrecord"}},
		{"compression", f.Compression, []string{"tfrecord"}},
		{"separator", f.Separator, []string{"csv"}},
	} {
		if k.value != "" && !slices.Contains(k.of, f.Format) {
			all.add("%s.%s is %s, want none with format %s", key, k.name, k.value, f.Format)
		}
	}
	if f.Base != 0 && f.Format != "libsvm" && f.Format != "libffm" {
		all.add("%s.base is %d, want none with format %s", key, f.Base, f.Format)
	}
	if f.Header && f.Format != "csv" {
		all.add("%s.header is true, want none with format %s", key, f.Format)
	}
	return all
}

// NamedFiles is an item of input.evals: records that are evaluated besides input.eval, with an event of
// their own.
type NamedFiles struct {
	Name  string `yaml:"name"` // in the event, and of the curves
	Files        // as in input.eval
}

// checkEvals checks the items of input.evals.
func (in *Input) checkEvals(f *faults, sparse bool) {
	for i := range in.Evals {
		e := &in.Evals[i]
		key := EvalKey(e.Name, i)
		if e.Name == "" {
			f.add("%s.name is empty, want a name for its events", key)
		}
		if e.Format == "" {
			f.add("%s.format is empty, want one of %s", key, strings.Join(formats(), ", "))
		}
		*f = append(*f, e.check(key, sparse)...)
	}
}

// EvalKey returns the key of an item of input.evals, by its name, or by its number without a name.
func EvalKey(name string, i int) string {
	if name == "" {
		name = fmt.Sprint(i)
	}
	return "input.evals." + name
}

// criteoHash is the number of ids of each text column of format criteo without input.columns.
const criteoHash = 100_000

// criteoColumns returns the columns of Criteo's click logs: label, 13 counts and 26 texts.
func criteoColumns() []column.Column {
	return []column.Column{
		{Label: &column.LabelOptions{Names: []string{"label"}}},
		{Numeric: &column.NumericOptions{Names: []string{"I1..I13"}, Transform: "log1p", Standardize: true, Default: &column.Missing{}}},
		{Categorical: &column.CategoricalOptions{Names: []string{"C1..C26"}, Hash: criteoHash}},
	}
}

// columnFormats returns the formats whose records have columns.
func columnFormats() []string { return []string{"csv", "criteo", "tfrecord"} }

// checkColumns checks input.columns against the formats, except the conditions that need files.
func (in *Input) checkColumns(f *faults) {
	files := []struct{ key, format string }{{"input.train", in.Train.Format}, {"input.eval", in.Eval.Format}}
	for i, e := range in.Evals {
		files = append(files, struct{ key, format string }{EvalKey(e.Name, i), e.Format})
	}
	for _, k := range files {
		has := slices.Contains(columnFormats(), k.format)
		switch {
		case len(in.Columns) > 0 && !has && slices.Contains(formats(), k.format):
			f.add("%s.format is %s, want one of %s with input.columns", k.key, k.format, strings.Join(columnFormats(), ", "))
		case len(in.Columns) == 0 && k.format == "csv":
			f.add("input.columns is empty, want what the columns become: %s.format is csv", k.key)
		}
	}
	if len(in.Columns) == 0 {
		return
	}
	_, err := column.Compile(in.Columns, func(string) ([]string, error) { return nil, nil })
	*f = append(*f, flatten(err)...)
}

// CheckLabel returns an error if input.columns has no label, which training and evaluation read.
func (j *Config) CheckLabel() error {
	columns := j.Input.RecordColumns()
	isLabel := func(c column.Column) bool { return c.Label != nil }
	if j.Input.Synthetic || len(columns) == 0 || slices.ContainsFunc(columns, isLabel) {
		return nil
	}
	return j.Locate(exitcode.With(exitcode.Usage, errors.New("input.columns has no label, want one to train or evaluate")))
}

// SeparatorByte returns the character between the fields of csv.
func (f *Files) SeparatorByte() (byte, error) {
	switch {
	case f.Separator == "":
		return ',', nil
	case f.Separator == "tab":
		return '\t', nil
	case len(f.Separator) == 1 && f.Separator[0] < utf8.RuneSelf && !strings.Contains("\"\r\n", f.Separator):
		return f.Separator[0], nil
	}
	return 0, fmt.Errorf("separator is %q, want ASCII, one character that is no quote, or tab", f.Separator)
}

// RecordColumns returns input.columns, or for format criteo without them the columns of Criteo's click
// logs.
func (in *Input) RecordColumns() []column.Column {
	if len(in.Columns) == 0 && in.Train.Format == "criteo" {
		return criteoColumns()
	}
	return in.Columns
}
