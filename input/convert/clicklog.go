package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ringtrain/input"
	"ringtrain/input/synth"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
)

// A ClickLog is a drawn click log that MakeClicks writes as files.
type ClickLog struct {
	synth.ClickLog
	TestRows int // records of the second file; Rows are those of the first
	Format   FormatName
	Numbers  int // of leading fields that are numeric columns, where columns have names
}

// A DrawnFile is a file of MakeClicks. AUC and LogLoss are those of the hidden model on
// its records, the best that a trained model can be expected to reach.
type DrawnFile struct {
	Name         string
	Rows, Clicks int
	AUC, LogLoss float64
}

// String returns the file as a line of text.
func (f DrawnFile) String() string {
	return fmt.Sprintf("%s: %d records, %.1f %% clicks; the hidden model has AUC %.4f, log loss %.4f",
		f.Name, f.Rows, 100*float64(f.Clicks)/float64(f.Rows), f.AUC, f.LogLoss)
}

// MakeClicks writes the splits of a click log to the folder dir, clicks_train and
// clicks_test, in one of the formats:
//
//	libsvm    1 17:1 25702:1 …
//	libffm    1 0:17:1 1:25702:1 …   with the number of the field
//	vw        1 | 17 25702 …         the label is 1 or -1
//	csv       1,3f2a90c1,0b77e254,…  under a line of names, label,C1,C2,…
//	tfrecord  label (int64), ids, values
//
// A string of a csv file has 8 hexadecimal digits and is unique to its id. A number of the
// first columns, I1 to I<Numbers>, is the place of the id in its field, from 0. Memory
// does not grow with the records. dir and errors are as those of [Make].
func MakeClicks(ctx context.Context, c ClickLog, dir string) ([]DrawnFile, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	f, _ := FormatOf(c.Format)
	names, err := freshNames(dir, []string{"clicks_train" + f.Parts[0], "clicks_test" + f.Parts[0]})
	if err != nil {
		return nil, err
	}
	train, err := c.write(ctx, c.Rows, synth.Train, names[0])
	if err != nil {
		return nil, err
	}
	test, err := c.write(ctx, c.TestRows, synth.Eval, names[1])
	if err != nil {
		return nil, errors.Join(err, os.Remove(names[0]))
	}
	return []DrawnFile{train, test}, nil
}

// check returns all errors of c, as exitcode.Usage.
func (c ClickLog) check() error {
	errs := []error{c.ClickLog.Check()}
	if c.TestRows < 1 {
		errs = append(errs, fmt.Errorf("--test-rows is %d, want 1 or more", c.TestRows))
	}
	f, _ := FormatOf(c.Format)
	if !f.IsDrawn() {
		errs = append(errs, fmt.Errorf("--format is %q, want one of %s", c.Format, strings.Join(Names(Format.IsDrawn), ", ")))
	}
	if c.Numbers < 0 || c.Numbers > c.Fields || c.Numbers > 0 && !f.HasNames() {
		errs = append(errs, fmt.Errorf("--numbers is %d, want 0, or with --format %s at most the %d fields", c.Numbers, strings.Join(Names(Format.HasNames), ", "), c.Fields))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// freshNames creates dir and returns the paths of files in it. It is an error if one
// exists.
func freshNames(dir string, files []string) ([]string, error) {
	if err := folder.Make(dir); err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
	var names []string
	for _, file := range files {
		name := filepath.Join(dir, file)
		if _, err := os.Lstat(name); err == nil {
			return nil, exitcode.With(exitcode.CannotCreate, fmt.Errorf("output %s: %w", name, fs.ErrExist))
		}
		names = append(names, name)
	}
	return names, nil
}

// write writes one split. The file appears complete.
func (c ClickLog) write(ctx context.Context, rows int, split synth.Split, name string) (DrawnFile, error) {
	log := c.ClickLog
	log.Rows = rows
	out, err := input.Create(name, false)
	if err != nil {
		return DrawnFile{}, err
	}
	defer out.Close()
	f, _ := FormatOf(c.Format)
	if f.HasNames() {
		if _, err := out.Write(f.click.head(c)); err != nil {
			return DrawnFile{}, err
		}
	}
	known := &knownModel{}
	err = inOrder(ctx, rows, func() func(p *clickPart) { return encoder(log.Draw(split), f.click.row(c)) }, func(p *clickPart) error {
		known.add(p)
		_, err := out.Write(p.text)
		return err
	})
	if err != nil {
		return DrawnFile{}, err
	}
	drawn := DrawnFile{Name: name, Rows: rows}
	drawn.Clicks, drawn.AUC, drawn.LogLoss = known.result()
	return drawn, out.Commit()
}

// encoder returns a function that encodes the text of a part. Each function has its own
// memory.
func encoder(d *synth.Drawn, row func(dst []byte, label uint8, ids []uint32) []byte) func(p *clickPart) {
	var ids []uint32
	return func(p *clickPart) {
		p.text, p.labels, p.probabilities = p.text[:0], p.labels[:0], p.probabilities[:0]
		for i := p.first; i < p.last; i++ {
			var label uint8
			var probability float64
			ids, label, probability = d.AppendRow(ids[:0], i)
			p.text = row(p.text, label, ids)
			p.labels, p.probabilities = append(p.labels, label), append(p.probabilities, probability)
		}
	}
}
