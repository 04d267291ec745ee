package convert

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"ringtrain/input"
	"ringtrain/input/remote"
	"ringtrain/model/keys"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// An Origin says where the records of one set are from: the keys input.train.* of a job.
type Origin struct {
	Format      FormatName `yaml:"format" doc:"Format of the records. docs/data.md has a line on each."`
	Files       []string   `yaml:"files" doc:"Names of files and folders, and globs, in which ** means any folders."`
	Images      string     `yaml:"images" doc:"The file of the images, or the folder that has a folder of PNG and JPEG files for each class."`
	Labels      string     `yaml:"labels" doc:"The file of the labels."`
	Label       string     `yaml:"label" doc:"The feature with the label. Default: label."`
	IDs         string     `yaml:"ids" doc:"The feature with the ids. Default: ids."`
	Values      string     `yaml:"values" doc:"The feature with the values. Default: values, and of dense models features."`
	Compression string     `yaml:"compression" takes:"auto, none, gzip, zlib" doc:"How the file is compressed. Default: auto."`
	Base        int        `yaml:"base" doc:"This number is subtracted from ids."`
	Header      bool       `yaml:"header" doc:"The first line of each file names the columns. Without it, input.columns names them in the order of the file."`
	Separator   string     `yaml:"separator" doc:"A character, or tab. Default: a comma."`
	Trim        bool       `yaml:"trim" doc:"Blanks around texts, and around the quotes of a field, are no part of them. Blanks around numbers never are."`
}

// A FormatName is the name of a [Format], or nothing.
type FormatName string

// Takes returns the values of a key that is a format.
func (FormatName) Takes() string { return strings.Join(Names(nil), ", ") }

// Explain completes the text of a key by the formats that have it.
func (o Origin) Explain(key, doc string) string {
	of := Names(func(f Format) bool { return f.Has(key) })
	if len(of) == len(Formats()) {
		of = nil
	}
	return keys.Owned(of, doc)
}

// PlainKeys returns the keys that say how records are read, of formats that are read without a job.
func PlainKeys() []keys.Field {
	plain := func(k keys.Field) bool {
		return slices.ContainsFunc(Formats(), func(f Format) bool { return f.IsPlain() && slices.Contains(f.Keys, k.Name) })
	}
	return slices.DeleteFunc(keys.Of(reflect.ValueOf(Origin{})), func(k keys.Field) bool { return !plain(k) })
}

// Set sets a key to the value that text says. It does nothing if text is no value of the key.
func (o *Origin) Set(key, text string) {
	if k, ok := keys.Find(o, key); ok {
		keys.Set(k.Value, text)
	}
}

// A Read is a key that says what a format reads.
type Read struct {
	Key  string
	Want string // in the error of a job that does not say it

	// find finds the files or the folder of names.
	find func(roots, names []string, notice func(string)) ([]string, error)
}

// Check returns what is wrong with the keys of o, whose group is called key.
func (o Origin) Check(key string) []error {
	var errs []error
	f, known := FormatOf(o.Format)
	if !known { // the check of values reports other words
		if errs = keys.Unused(key, o, []string{"format", "files"}, "a format"); o.Format == "" && (len(errs) > 0 || len(o.Files) > 0) {
			return []error{fmt.Errorf("%s.format is empty, want one of %s", key, o.Format.Takes())}
		}
		return nil
	}
	for _, r := range f.Reads {
		if len(o.names(r.Key)) == 0 {
			errs = append(errs, fmt.Errorf("%s.%s is empty, want %s", key, r.Key, r.Want))
		}
	}
	if _, err := o.separator(); err != nil {
		errs = append(errs, fmt.Errorf("%s.%w", key, err))
	}
	return append(errs, o.unused(key, f)...)
}

// unused returns an error for each key that the format does not have.
func (o Origin) unused(key string, f Format) []error {
	taken := append([]string{"format"}, f.Keys...)
	for _, r := range f.Reads {
		taken = append(taken, r.Key)
	}
	return keys.Unused(key, o, taken, "format "+f.Name)
}

// How returns how records are read: the format and its keys, apart from the names of files.
func (o Origin) How() string {
	f, _ := FormatOf(o.Format)
	how := f.Name
	for _, name := range f.Keys {
		k, _ := keys.Find(&o, name)
		if name == "trim" && !o.Trim {
			continue // as older versions, which do not have it, say
		}
		how += fmt.Sprintf(" %s=%q", name, fmt.Sprint(k.Value))
	}
	return how
}

// separator returns the character between the fields of a line.
func (o Origin) separator() (byte, error) {
	switch {
	case o.Separator == "":
		return ',', nil
	case o.Separator == "tab":
		return '\t', nil
	case len(o.Separator) == 1 && o.Separator[0] < utf8.RuneSelf && !strings.Contains("\"\r\n", o.Separator):
		return o.Separator[0], nil
	}
	return 0, fmt.Errorf("separator is %q, want ASCII, one character that is no quote, or tab", o.Separator)
}

// names returns the names of files that a key has.
func (o Origin) names(key string) []string {
	f, _ := keys.Find(&o, key)
	if names, ok := f.Value.Interface().([]string); ok {
		return names
	}
	return slices.DeleteFunc([]string{f.Value.String()}, func(name string) bool { return name == "" })
}

// setNames sets what names returns.
func (o *Origin) setNames(key string, names []string) {
	if f, _ := keys.Find(o, key); key == "files" {
		o.Files = names
	} else if len(names) > 0 {
		f.Value.SetString(names[0])
	} else {
		f.Value.SetString("")
	}
}

// Named returns the files that o names first: those of the records.
func (o Origin) Named() []string {
	f, _ := FormatOf(o.Format)
	if len(f.Reads) == 0 || len(o.Files) > 0 {
		return o.Files
	}
	return o.names(f.Reads[0].Key)
}

// NamesRecords reports whether o names records of some format.
func (o Origin) NamesRecords() bool {
	return slices.ContainsFunc(Formats(), func(f Format) bool { return len(o.names(f.Reads[0].Key)) > 0 })
}

// Find returns o with the files that its names mean, which lie below the roots: see input.Expand.
func (o Origin) Find(roots []string, notice func(string)) (Origin, error) {
	f, _ := FormatOf(o.Format)
	reads := f.Reads
	if !f.Has("files") { // files in place of a folder, see Give
		reads = append(reads, Read{Key: "files", find: input.Expand})
	}
	for _, r := range reads {
		names := o.names(r.Key)
		if len(names) == 0 {
			continue
		}
		found, err := r.find(roots, names, notice)
		if err != nil {
			return o, err
		}
		o.setNames(r.Key, found)
	}
	return o, nil
}

// findOne finds the one file of a name.
func findOne(roots, names []string, _ func(string)) ([]string, error) {
	file, err := input.ExpandOne(roots, names[0])
	return []string{file}, err
}

// findFolder finds the folder of a name.
func findFolder(roots, names []string, _ func(string)) ([]string, error) {
	folder, err := input.ExpandFolder(roots, names[0])
	return []string{folder}, err
}

// Give returns o with other files, in the order in which the format reads them. In place of a folder of
// classes there may be files, whose records then have no labels.
func (o Origin) Give(files []string) (Origin, error) {
	f, _ := FormatOf(o.Format)
	o.Files = nil
	for _, r := range f.Reads {
		o.setNames(r.Key, nil)
	}
	switch isFiles := f.Has("files"); {
	case isFiles, f.Classes != nil && (len(files) != 1 || !isFolder(files[0])):
		o.Files = files
	case len(files) > len(f.Reads):
		return o, exitcode.With(exitcode.Usage, fmt.Errorf("%d files, want %s at most with format %s", len(files), phrase.Count(len(f.Reads), "file"), f.Name))
	default:
		for i, name := range files {
			o.setNames(f.Reads[i].Key, []string{name})
		}
	}
	return o, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() || remote.IsFolder(path)
}
