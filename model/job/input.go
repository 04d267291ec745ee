package job

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"ringtrain/input/column"
	"ringtrain/input/image"
	"ringtrain/model/graph"
	"ringtrain/model/keys"
	"ringtrain/ring/exitcode"
)

// Input configures the records and their batches.
type Input struct {
	Train       Files           `yaml:"train"` // training records
	Eval        Files           `yaml:"eval"`  // validation records; none: the evaluation reads the training records
	Evals       []NamedFiles    `yaml:"evals" doc:"More validation records. Each item has a name and the keys of input.eval. Its eval events come after those of input.eval. What input.eval or an item does not say of how its files are read is as of input.train: the format, and if it is the same, the other keys."`
	Columns     []column.Column `yaml:"columns" doc:"Of csv, criteo and tfrecord: what the columns of a record become. criteo has a list of its own. --set finds an item by its name or its number from 0, as in ‘input.columns.2.numeric.default’."`
	Batch       int             `yaml:"batch" default:"100" takes:"1 to 1073741824" doc:"Examples of a step over all ranks. The curve does not depend on the number of ranks."`
	LocalBatch  int             `yaml:"local_batch" takes:"0 to 1073741824" doc:"Examples of a step on each rank, instead of input.batch. 0: input.batch counts."`
	Shuffle     bool            `yaml:"shuffle" default:"true" doc:"Another order in each epoch, from train.seed alone. Of more than 16 MiB of text, blocks of 64 KiB are permuted, and the records within windows of 256 blocks. A global batch of such records is arranged by block."`
	Prefetch    int             `yaml:"prefetch" default:"2" takes:"0 to 1024" doc:"Batches read ahead. None are where the records lie in memory (idx, synthetic, a cache that the system holds) and the rank has one core. Of text, each further core parses one batch more."`
	Shape       []int           `yaml:"shape" takes:"1 to 1048576" doc:"Height, width and channels of a record, such as [28, 28, 1], where the file does not say it. LibSVM records are then as wide. Images are brought to this size, with 1 or 3 channels."`
	Resize      int             `yaml:"resize" takes:"0 to 16384" doc:"Of images: pixels of the shorter side, before the centre is cropped to input.shape. 0: as few as cover it."`
	Synthetic   bool            `yaml:"synthetic" doc:"Records that ringtrain draws from train.seed, instead of all files, also those of input.evals."`
	MaxFeatures int             `yaml:"max_features" default:"67108864" takes:"1 to 2147483647" doc:"Ids of sparse records are below this number, where model.features does not say it. A table of so many weights as the default takes 256 MiB."`
	Cache       string          `yaml:"cache" default:"auto" takes:"auto, off, or a folder" doc:"Where the parsed records of libsvm, libffm, vw, csv and criteo are kept for later epochs and jobs, with what was learnt of their columns. auto is the user's cache folder (‘ringtrain/records’). It is used for text of more than 16 MiB that a job reads more than once, or that is compressed. One rank of a host makes the cache in the background, or ‘ringtrain data cache JOB’ does. Compressed text is cached before the first step. With off, it is read in the order of its files."`
	MaxBad      int64           `yaml:"max_bad_records" takes:"0 or more" doc:"Training records of an epoch, over all ranks, that may be bad. Each is left out: nothing is learnt, counted or trained from it. Their number and the first one are printed, and saved. One more ends the job with 65."`
	MaxInflate  Size            `yaml:"max_inflate" default:"64MiB" takes:"64MiB or more" doc:"Bytes that a compressed file may inflate to; a larger one may inflate to 64 times its size. A file beyond is refused with 65. So are LibSVM records that a model wants dense, unless model.features says how wide they are."`
}

// Files names the files of one data set, relative to the data folder, and describes their records. What
// validation records do not say of how they are read is as of input.train, if the format is the same.
type Files struct {
	Format      string   `yaml:"format" takes:"idx, images, tfrecord, libsvm, libffm, vw, csv, criteo" doc:"Format of the records. Fields of libffm are bags if model.fields says how many. Ids of vw are those of ‘vw -b b’ where model.features is 2^b; 0 means 2^18."`
	Files       []string `yaml:"files" doc:"Files of tfrecord, libsvm, libffm, vw, csv and criteo. Globs are expanded; formats of text take folders, too."`
	Images      string   `yaml:"images" doc:"Of idx: the file of the images. Of images: a folder that has a folder of PNG and JPEG files for each class."`
	Labels      string   `yaml:"labels" doc:"Of idx: the file of the labels."`
	Label       string   `yaml:"label" doc:"Of tfrecord: the feature with the label. Default: label."`
	IDs         string   `yaml:"ids" doc:"Of tfrecord: the feature with the ids. Default: ids."`
	Values      string   `yaml:"values" doc:"Of tfrecord: the feature with the values. Default: values, and of dense models features."`
	Compression string   `yaml:"compression" takes:"auto, none, gzip, zlib" doc:"Of tfrecord: how the file is compressed. Default: auto."`
	Base        int      `yaml:"base" doc:"Of libsvm and libffm: this number is subtracted from ids."`
	Header      bool     `yaml:"header" doc:"Of csv: the first line of each file names the columns. Without it, input.columns names them in the order of the file."`
	Separator   string   `yaml:"separator" doc:"Of csv: a character, or tab. Default: a comma."`
}

func (in *Input) check(sparse bool) error {
	numbers := *in
	if in.LocalBatch > 0 && in.Batch == 0 {
		numbers.Batch = 1 // it counts no more
	}
	f := faults(keys.Check("input", &numbers))
	in.checkShape(&f, sparse)
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

// maxWidth bounds the values of a record of input.shape: 1 GiB.
const maxWidth = 1 << 28

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
	if n := graph.Shape(in.Shape).Len(); n > maxWidth {
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
	default: // keys.Check reports it
		return all
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
	Name  string `yaml:"name" doc:"Name of the records in the event, and of the curves."`
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
		*f = append(append(*f, keys.Check(key, &e.Files)...), e.check(key, sparse)...)
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
func (cfg *Config) CheckLabel() error {
	columns := cfg.Input.RecordColumns()
	isLabel := func(c column.Column) bool { return c.Label != nil }
	if cfg.Input.Synthetic || len(columns) == 0 || slices.ContainsFunc(columns, isLabel) {
		return nil
	}
	return cfg.Locate(exitcode.With(exitcode.Usage, errors.New("input.columns has no label, want one to train or evaluate")))
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
