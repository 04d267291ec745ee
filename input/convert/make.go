package convert

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"ringtrain/input"
	"ringtrain/input/idx"
	"ringtrain/input/synth"
)

// Kinds returns the kinds of data that Make can draw.
func Kinds() []string { return []string{"linear", "digits", "clicks", "table"} }

// Make writes the records of a job with input.synthetic and train.seed: seed to the
// folder dir, and returns the files:
//
//	linear   linear.tfrecords: features [1], label (float)
//	digits   four IDX files with the names of MNIST's
//	clicks   clicks_train.tfrecords, clicks_test.tfrecords: label (int64), ids, values
//
// Of a table, which no job draws, it writes table.csv with so many rows; 0: [synth.TableRows].
//
// Make creates dir if necessary. If one of the files exists, Make writes nothing and the
// error carries exitcode.CannotCreate. After any error no file is left.
func Make(kind string, seed uint64, rows int, dir string) ([]string, error) {
	outputs, err := drawn(kind, seed, rows)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, o := range outputs {
		files = append(files, o.name)
	}
	names, err := freshNames(dir, files)
	if err != nil {
		return nil, err
	}
	for i, o := range outputs {
		if err := o.write(names[i]); err != nil {
			faults := []error{err}
			for _, done := range names[:i] {
				faults = append(faults, os.Remove(done))
			}
			return nil, errors.Join(faults...)
		}
	}
	return names, nil
}

// output is a file to write.
type output struct {
	name  string
	write func(name string) error
}

// drawn returns the files of a kind.
func drawn(kind string, seed uint64, rows int) ([]output, error) {
	switch kind {
	case "linear":
		return []output{records("linear.tfrecords", func() input.Dataset { return synth.Linear(seed) }, Spec{Dense: true, FloatLabel: true})}, nil
	case "clicks":
		return []output{
			records("clicks_train.tfrecords", func() input.Dataset { return synth.Clicks(seed, synth.ClicksTrain, synth.Train) }, Spec{}),
			records("clicks_test.tfrecords", func() input.Dataset { return synth.Clicks(seed, synth.ClicksEval, synth.Eval) }, Spec{}),
		}, nil
	case "digits":
		return append(images("train", seed, synth.DigitsTrain, synth.Train), images("t10k", seed, synth.DigitsEval, synth.Eval)...), nil
	case "table":
		return []output{{"table.csv", func(path string) error { return writeTable(path, synth.Table{Seed: seed}, rows) }}}, nil
	}
	return nil, usage("no data %q to draw, want one of %s", kind, strings.Join(Kinds(), ", "))
}

// records returns the TFRecord file of the records of draw.
func records(name string, draw func() input.Dataset, s Spec) output {
	return output{name, func(path string) error {
		s.Files = []string{path}
		return writeTFRecord(context.Background(), draw(), s)
	}}
}

// images returns a pair of IDX files.
func images(prefix string, seed uint64, n int, split synth.Split) []output {
	pixels, labels := synth.DigitsBytes(seed, n, split)
	return []output{
		{prefix + "-images-idx3-ubyte.gz", func(path string) error {
			return idx.WriteImages(path, false, pixels, synth.DigitsSide, synth.DigitsSide)
		}},
		{prefix + "-labels-idx1-ubyte.gz", func(path string) error {
			return idx.WriteLabels(path, false, labels)
		}},
	}
}

// writeTable writes the first rows of a table.
func writeTable(path string, t synth.Table, rows int) error {
	out, err := input.Create(path, false)
	if err != nil {
		return err
	}
	defer out.Close()
	line := []byte(synth.TableHeader)
	for i := range cmp.Or(rows, synth.TableRows) {
		if _, err := out.Write(line); err != nil {
			return err
		}
		line = t.AppendRow(line[:0], i)
	}
	if _, err := out.Write(line); err != nil {
		return err
	}
	return out.Commit()
}
