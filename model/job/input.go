package job

import (
	"strings"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/remote"
	"ringtrain/model/keys"
)

// Input configures the records and their batches.
type Input struct {
	Train       Files           `yaml:"train"` // training records
	Eval        Files           `yaml:"eval"`  // validation records in files of their own
	Split       input.Split     `yaml:"split"` // or those that the training files hold out
	Evals       []NamedFiles    `yaml:"evals" doc:"More validation records. Each item has a name and the keys of input.eval. Its eval events come after those of input.eval. What input.eval or an item does not say of how its files are read is as of input.train: the format, and if it is the same, the other keys."`
	Columns     []column.Column `yaml:"columns" doc:"What the columns of a record become. Criteo's logs have a list of their own. --set finds an item by its name or its number from 0, as in ‘input.columns.2.numeric.default’."`
	Missing     []string        `yaml:"missing" doc:"Cells that are missing, besides the empty ones. Default: where a column is a number or a date the words of pandas (NA, NaN, null, None and others), \\N and ?; where it is a text none. A list is instead of both. The first lines count them."`
	Batch       int             `yaml:"batch" default:"100" takes:"1 to 1073741824" doc:"Examples of a step over all ranks. The curve does not depend on the number of ranks."`
	LocalBatch  int             `yaml:"local_batch" takes:"0 to 1073741824" doc:"Examples of a step on each rank, instead of input.batch. 0: input.batch counts."`
	Shuffle     bool            `yaml:"shuffle" default:"true" doc:"Another order in each epoch, from train.seed alone. Of more than 16 MiB of text, blocks of 64 KiB are permuted, and the records within windows of 256 blocks. A global batch of such records is arranged by block."`
	Prefetch    int             `yaml:"prefetch" default:"2" takes:"0 to 1024" doc:"Batches read ahead. None are where the records lie in memory (idx, synthetic, a cache that the system holds) and the rank has one core. Of text, each further core parses one batch more."`
	Shape       []int           `yaml:"shape" takes:"1 to 1048576" doc:"Height, width and channels of a record, such as [28, 28, 1], where the file does not say it. LibSVM records are then as wide, and numbers rather than ids. Images are brought to this size, with 1 or 3 channels."`
	Resize      int             `yaml:"resize" takes:"0 to 16384" doc:"Pixels of the shorter side, before the centre is cropped to input.shape. 0: as few as cover it."`
	Synthetic   bool            `yaml:"synthetic" doc:"Records that ringtrain draws from train.seed, instead of all files, also those of input.evals."`
	MaxFeatures int             `yaml:"max_features" default:"67108864" takes:"1 to 2147483647" doc:"Ids of sparse records are below this number, where model.features does not say it. A table of so many weights as the default takes 256 MiB."`
	Cache       string          `yaml:"cache" default:"auto" takes:"auto, off, or a folder" doc:"Where the parsed records are kept for later epochs and jobs, with what was learnt of their columns. auto is the user's cache folder (‘ringtrain/records’). It is used for text of more than 16 MiB that a job reads more than once, or that is compressed. One rank of a host makes the cache in the background, or ‘ringtrain data cache JOB’ does. Compressed text, and Parquet whose values take more than 64 MiB, are cached before the first step. With off, these are read in the order of their files."`
	CacheSize   Size            `yaml:"cache_size" doc:"Bytes that copies of objects (‘s3://’, ‘https://’) may take in the cache. Those used longest ago are dropped for others, never one that a running job reads. Default: half of the disk that is free or has copies."`
	S3          remote.S3       `yaml:"s3"` // how objects of s3:// are asked for
	MaxBad      int64           `yaml:"max_bad_records" takes:"0 or more" doc:"Training records of an epoch, over all ranks, that may be bad. Each is left out: nothing is learnt, counted or trained from it. Their number and the first one are printed, and saved. One more ends the job with 65. So many records of the files that eval and predict are given may be bad, too."`
	MaxInflate  Size            `yaml:"max_inflate" default:"64MiB" takes:"64MiB or more" doc:"Bytes that a compressed file may inflate to; a larger one may inflate to 64 times its size. A file beyond is refused with 65. So are LibSVM records that a model wants dense, unless model.features says how wide they are."`
}

// Files names the files of one data set, relative to the data folder, and describes their records. What
// validation records do not say of how they are read is as of input.train, if the format is the same.
type Files = convert.Origin

// Explain completes the texts of keys by the formats that have them.
func (in Input) Explain(key, doc string) string {
	switch key {
	case "columns":
		return keys.Owned(convert.Names(convert.Format.HasColumns), doc)
	case "resize":
		return keys.Owned(convert.Names(convert.Format.IsResized), doc)
	case "cache":
		return keys.Owned(convert.Names(convert.Format.IsCached), doc)
	}
	return doc
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
		f.add("input.train.format is empty, want one of %s (or input.synthetic: true)", in.Train.Format.Takes())
	}
	for _, s := range in.sets() {
		f = append(f, s.Check(s.key)...)
		s.checkModel(&f, sparse)
	}
	in.checkEvals(&f)
	in.checkSplit(&f)
	in.checkColumns(&f)
	in.checkMissing(&f)
	in.checkImages(&f)
	return f.err()
}

// A set is the records of a group of keys.
type set struct {
	key string
	Files
	format convert.Format // without a name, if none is said
}

// sets returns all sets of records.
func (in *Input) sets() []set {
	all := []set{{key: "input.train", Files: in.Train}, {key: "input.eval", Files: in.Eval}}
	for i, e := range in.Evals {
		all = append(all, set{key: EvalKey(e.Name, i), Files: e.Files})
	}
	for i := range all {
		all[i].format, _ = convert.FormatOf(all[i].Format)
	}
	return all
}

// checkModel checks that a model of sparse records, or another model, can read the set.
func (s *set) checkModel(f *faults, sparse bool) {
	switch {
	case s.format.Dense && sparse:
		f.add("%s.format is %s, want one of %s: the model reads sparse records", s.key, s.Format, strings.Join(convert.Names(convert.Format.IsSparse), ", "))
	case s.IDs != "" && s.format.Has("ids") && !sparse:
		f.add("%s.ids is %s, want none: the model reads dense records", s.key, s.IDs)
	}
}

// checkSplit checks input.split, which stands in the place of input.eval.
func (in *Input) checkSplit(f *faults) {
	*f = append(*f, flatten(in.Split.Check())...)
	if in.Split.Holds() && in.Eval.Format != "" {
		f.add("input.split and input.eval are given, want one of them")
	}
	if t := in.sets()[0]; in.Split.By != "" && t.Format != "" && (!t.format.HasColumns() || len(in.RecordColumns()) == 0) {
		f.add("input.split.by is %s, want none without input.columns: only columns have names", in.Split.By)
	}
	if why := column.Unordered(in.RecordColumns(), in.Split.By); in.Split.From != "" && why != "" {
		f.add("input.split.from is %s, want none: %s has %s, and its cells are compared as they are written", in.Split.From, in.Split.By, why)
	}
}
