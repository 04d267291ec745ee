package train

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"ringtrain/input"
	"ringtrain/input/image"
	"ringtrain/model/graph"
	"ringtrain/model/internal/kernel"
)

// What a job may ask for at most. Products of two of these, or with a world
// size, are far from overflow; no list of that many things is made but of
// batches read ahead.
const (
	maxBatch    = 1 << 30
	maxEpochs   = 1 << 30
	maxPrefetch = 1 << 10
	maxIDs      = input.MaxFeatures
	maxTopK     = 1 << 20
	maxShape    = 1 << 20 // of each axis
	maxWidth    = 1 << 28 // of a record of input.shape: 1 GiB
)

// Check returns all that is wrong with the job at once. Each error begins with
// the key that it is about.
func (j *Job) Check() error {
	return errors.Join(
		j.Model.Check(j.Loss),
		j.Input.check(j.Model.Sparse()),
		j.Optimizer.Check(),
		j.Schedule.Check(),
		j.AllReduce.Check(),
		j.checkNumbers(),
		j.checkTrain(),
		j.checkLists(),
	)
}

func (j *Job) checkNumbers() error {
	var f faults
	if j.Train.Steps < 0 {
		f.add("train.steps is %d, want 0 or more", j.Train.Steps)
	}
	if j.Train.Steps == 0 {
		f.wantBetween("train.epochs", j.Train.Epochs, 1, maxEpochs)
	}
	if _, err := kernel.ParseSet(j.Train.Kernels); err != nil && j.Train.Kernels != auto {
		f.add("train.kernels is %q, want auto, portable, avx2 or avx512", j.Train.Kernels)
	}
	if j.Train.CheckEvery < 0 {
		f.add("train.check_every is %d, want 0 or more", j.Train.CheckEvery)
	}
	f.wantBetween("eval.top_k", j.Eval.TopK, 0, maxTopK)
	if j.Checkpoint.Keep < 1 {
		f.add("checkpoint.keep is %d, want 1 or more", j.Checkpoint.Keep)
	}
	return f.err()
}

// checkTrain returns what is wrong with the keys of training, apart from its length.
func (j *Job) checkTrain() error {
	var f faults
	f.wantFinite("train.clip_norm", j.Train.ClipNorm)
	f.wantFloat32("train.clip_value", j.Train.ClipValue)
	f.wantBetween("train.accumulate", j.Train.Accumulate, 1, maxBatch)
	j.checkClassWeights(&f)
	j.Train.Average.check(&f)
	j.Train.InitFrom.check(&f)
	j.Train.EarlyStopping.check(&f, j)
	return f.err()
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
	if in.MaxBad > 0 && in.Eval.Format == "" {
		f.add("input.max_bad_records is %d, want 0 without input.eval: the training records are evaluated, each of which must be good", in.MaxBad)
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

// checkShape checks input.shape, all but what checkImages wants of it.
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

// checkImages checks what is said of images.
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

func formats() []string {
	return []string{"idx", "images", "tfrecord", "libsvm", "vw", "csv", "criteo"}
}

// check returns what is wrong with the files at key, for a model of sparse
// records or another.
func (f *Files) check(key string, sparse bool) faults {
	var all faults
	add := func(format string, args ...any) { all.add(key+"."+format, args...) }
	switch f.Format {
	case "":
		if len(f.Files) > 0 || f.Images != "" || f.Labels != "" {
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
			add("format is idx, want tfrecord, libsvm, vw, csv or criteo: the model reads sparse records")
		}
	case "images":
		if f.Images == "" {
			add("images is empty, want the folder of the classes")
		}
		if sparse {
			add("format is images, want tfrecord, libsvm, vw, csv or criteo: the model reads sparse records")
		}
	case "tfrecord", "libsvm", "vw":
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
		if _, err := f.separator(); err != nil {
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
	return append(all, f.superfluous(key)...)
}

// superfluous returns the keys that are set and that the format does not know.
func (f *Files) superfluous(key string) faults {
	var all faults
	for _, k := range []struct {
		name, value string
		of          []string // formats
	}{
		{"files", strings.Join(f.Files, " "), []string{"tfrecord", "libsvm", "vw", "csv", "criteo"}},
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
	if f.Base != 0 && f.Format != "libsvm" {
		all.add("%s.base is %d, want none with format %s", key, f.Base, f.Format)
	}
	if f.Header && f.Format != "csv" {
		all.add("%s.header is true, want none with format %s", key, f.Format)
	}
	return all
}

// faults collects what is wrong, to be said at once.
type faults []error

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Errorf(format, args...)) }

func (f *faults) wantBetween(key string, value, least, most int) {
	if value < least || value > most {
		f.add("%s is %d, want %d to %d", key, value, least, most)
	}
}

// wantFinite wants a number that is 0 or more.
func (f *faults) wantFinite(key string, value float64) {
	if !(value >= 0) || math.IsInf(value, 0) {
		f.add("%s is %v, want 0 or more", key, value)
	}
}

// wantFloat32 wants a number that is 0 or more and, above 0, also as a float32.
func (f *faults) wantFloat32(key string, value float64) {
	if !(value >= 0) || value > math.MaxFloat32 || value > 0 && float32(value) == 0 {
		f.add("%s is %v, want 0 or more, within the range of float32", key, value)
	}
}

func (f faults) err() error { return errors.Join(f...) }
