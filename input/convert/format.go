package convert

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"ringtrain/input"
	"ringtrain/input/cache"
	"ringtrain/input/column"
	"ringtrain/input/image"
	"ringtrain/input/text"
)

// A Format is one format of records. Job files, commands, caches, messages and pages have what they know of
// formats from the values of [Formats]; a new format is a package of its own, and a value there.
type Format struct {
	Name string

	// Parts are those of a file's name that say the format. The first ends the names of files that
	// data make writes.
	Parts []string

	// is reports whether the content of a file begins as those of the format; nil: it does not say.
	is func(head []byte) bool

	Reads []Read   // the keys of input.train that say what is read; all are wanted
	Keys  []string // the keys of input.train that say how

	Columns Columns                // what input.columns is to the format
	Default func() []column.Column // stands for input.columns where a job has none; nil: nothing does
	Lists   bool                   // a column may have several values in a record
	Dense   bool                   // records are dense, whatever the model wants
	Wide    bool                   // dense records may be as wide as input.shape says
	Fields  bool                   // ids have fields, which model.fields counts
	Tabs    bool                   // fields have tabs between them and no quotes, whatever the keys say
	Resized bool                   // images are brought to input.shape, by input.resize

	// Classes returns the names of the classes of a folder that is read; nil: classes have no names.
	Classes func(folder string) ([]string, error)

	// open opens records that are read one by one, blocks those in blocks, which a cache keeps. Text lies in paths, if its
	// files are compressed and somebody has decompressed them (see text.Config). Each format has one of the two. pipe is
	// how lines of text are read from a pipe. large reports whether the records are slow to read in any order but that of
	// their files; nil: compressed text is.
	open   func(ctx context.Context, s Spec) (input.Dataset, error)
	blocks func(ctx context.Context, s Spec, paths []string) (cache.Text, error)
	pipe   func(s Spec) (text.Config, error)
	large  func(ctx context.Context, s Spec) (bool, error)

	// write writes all records of d to the file of s, for data convert; nil: it cannot.
	write func(ctx context.Context, d input.Dataset, s Spec) error

	click *clickRows // of data make clicks; nil: it cannot
}

// Columns says what input.columns is to a format.
type Columns int

const (
	NoColumns   Columns = iota // there are none
	MayColumns                 // they may say what is read
	WantColumns                // they must
)

// clickRows writes records of a click log.
type clickRows struct {
	row  func(c ClickLog) clickRow
	head func(c ClickLog) []byte // a line of the names of columns, of which some may be numbers; nil: none
}

// Formats is the table of formats.
func Formats() []Format {
	files := Read{"files", "at least one file", input.Expand}
	return []Format{
		{
			Name: "idx", is: isIDX, Parts: []string{"idx", "ubyte"}, Dense: true, open: openIDX,
			Reads: []Read{{"images", "the file of images", findOne}, {"labels", "the file of labels", findOne}},
		},
		{
			Name: "images", Dense: true, Resized: true, Classes: image.Classes, open: openImages, write: writeImages,
			Reads: []Read{{"images", "the folder of the classes", findFolder}},
		},
		{
			Name: "tfrecord", is: isTFRecord, Parts: []string{".tfrecords", "tfrecord"}, Reads: []Read{files}, Keys: []string{"label", "ids", "values", "compression"},
			Columns: MayColumns, Lists: true, open: openTFRecord, write: writeTFRecord, click: &clickRows{row: clickExamples},
		},
		{
			Name: "libsvm", is: func(head []byte) bool { return isPairs(head, 1) }, Parts: []string{".libsvm", "libsvm", ".svm"}, Reads: []Read{files}, Keys: []string{"base"},
			Wide: true, blocks: openLibSVM, pipe: libsvmLines, write: writeLibSVM, click: &clickRows{row: clickLibSVM},
		},
		{
			Name: "libffm", is: func(head []byte) bool { return isPairs(head, 2) }, Parts: []string{".libffm", "libffm", ".ffm"}, Reads: []Read{files}, Keys: []string{"base"},
			Wide: true, Fields: true, blocks: openLibSVM, pipe: libsvmLines, click: &clickRows{row: clickLibFFM},
		},
		{
			Name: "vw", is: isVW, Parts: []string{".vw"}, Reads: []Read{files}, blocks: openVW, pipe: vwLines, click: &clickRows{row: clickVW},
		},
		{
			Name: "csv", Parts: []string{".csv", ".tsv"}, Reads: []Read{files}, Keys: []string{"header", "separator", "trim"},
			Columns: WantColumns, blocks: openSeparated, pipe: separatedLines, click: &clickRows{row: clickCSV, head: ClickLog.names},
		},
		{
			Name: "parquet", is: isParquet, Parts: []string{".parquet"}, Reads: []Read{files}, Columns: WantColumns, blocks: openParquet, large: largeParquet,
		},
		{
			Name: "criteo", is: isCriteo, Reads: []Read{files}, Columns: WantColumns, Default: criteoColumns, Tabs: true, blocks: openSeparated, pipe: separatedLines,
		},
	}
}

// FormatOf returns the format with a name.
func FormatOf(name FormatName) (f Format, known bool) {
	for _, f := range Formats() {
		if f.Name == string(name) {
			return f, true
		}
	}
	return Format{}, false
}

// FormatOfFile returns the format that the name of a file says, and no name if it says none.
func FormatOfFile(name string) FormatName {
	base := filepath.Base(name)
	for _, f := range Formats() {
		if slices.ContainsFunc(f.Parts, func(part string) bool { return strings.Contains(base, part) }) {
			return FormatName(f.Name)
		}
	}
	return ""
}

// Names returns the names of the formats of which is is true, nil for all formats.
func Names(is func(Format) bool) []string {
	var names []string
	for _, f := range Formats() {
		if is == nil || is(f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Is conditions of [Names].
func (f Format) IsText() bool     { return f.pipe != nil }                         // records are lines of text
func (f Format) IsTable() bool    { return f.IsCached() && !f.IsText() }           // files name their columns, and have their types
func (f Format) IsCached() bool   { return f.blocks != nil }                       // parsed records are kept
func (f Format) IsWritten() bool  { return f.write != nil }                        // by data convert
func (f Format) IsDrawn() bool    { return f.click != nil }                        // by data make clicks
func (f Format) HasNames() bool   { return f.click != nil && f.click.head != nil } // of the columns that data make clicks writes
func (f Format) HasColumns() bool { return f.Columns != NoColumns }
func (f Format) IsResized() bool  { return f.Resized }
func (f Format) HasFields() bool  { return f.Fields }
func (f Format) IsSparse() bool   { return !f.Dense }                 // a sparse model can read it
func (f Format) IsPlain() bool    { return f.Columns != WantColumns } // it is read without a job

// SaysHow reports whether a key of input.train says how records are read, rather than what.
func SaysHow(key string) bool {
	return slices.ContainsFunc(Formats(), func(f Format) bool { return slices.Contains(f.Keys, key) })
}

// Has reports whether the format has a key of input.train.
func (f Format) Has(key string) bool {
	return slices.Contains(f.Keys, key) || slices.ContainsFunc(f.Reads, func(r Read) bool { return r.Key == key })
}
