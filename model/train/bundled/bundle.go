// Package bundled asks a bundle about the records of files, as predict and eval do without a job: for a
// bundle without a job file, whoever made it. All goes through the graph, by one of its signatures.
//
//	CSV, JSON lines, TFRecord ─► inputs ─► the graph ─► outputs ─► predictions
//	                          └► labels ──────────────────────┴──► metrics
package bundled

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
	"ringtrain/export/savedmodel"
	"ringtrain/input"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// Options say which bundle answers, and how.
type Options struct {
	Bundle    string // a base, which means its highest version, or a version folder
	Signature string // "": the one that requests without a name mean
	Output    string // "": all
	Label     string // column of the labels; "": the one that the bundle names
}

// Bundle is an open bundle.
type Bundle struct {
	Path      string // the version folder
	Signature string
	Warnings  []report.Warning // of the files that were read

	model   *interpreter.Model
	program *interpreter.Program
	inputs  *interpreter.Signature
	columns ask.Columns
}

// Open opens a bundle. Close closes it.
func Open(o Options) (*Bundle, error) {
	path, err := savedmodel.VersionFolder(o.Bundle)
	if err != nil {
		return nil, err
	}
	b := &Bundle{Path: path}
	b.columns, err = ask.ReadColumns(path)
	if err != nil {
		return nil, err
	}
	if o.Label != "" {
		b.columns.Label.Name = o.Label
	}
	b.model, err = interpreter.Open(path)
	if err != nil {
		return nil, err
	}
	if err := b.choose(o); err != nil {
		b.Close()
		return nil, exitcode.With(exitcode.Usage, err)
	}
	return b, nil
}

// choose compiles the signature and the output of the options.
func (b *Bundle) choose(o Options) error {
	var err error
	b.inputs = ask.Usual(b.model)
	if o.Signature != "" {
		if b.inputs, err = b.model.Signature(o.Signature); err != nil {
			return fmt.Errorf("--%w", err)
		}
	}
	if b.inputs == nil {
		return fmt.Errorf("%s has no signature", b.Path)
	}
	b.Signature = b.inputs.Name
	var outputs []string
	if o.Output != "" {
		if _, err := b.inputs.Output(o.Output); err != nil {
			return fmt.Errorf("--%w of signature %s", err, b.Signature)
		}
		outputs = []string{o.Output}
	}
	b.program, err = b.model.Compile(b.Signature, outputs)
	return err
}

// Close closes the bundle.
func (b *Bundle) Close() error { return b.model.Close() }

// Files are the records that a bundle is asked about.
type Files struct {
	Names []string
	Pipe  io.Reader // instead of files; nil: none
	Label bool      // the records have labels
}

// each calls visit with the answers to all records, in order, some at a time.
func (b *Bundle) each(ctx context.Context, files Files, visit func(*block, []*interpreter.Tensor) error) error {
	first := 0
	answer := func(k *block) error {
		outputs, err := b.program.Run(k.inputs)
		if err != nil {
			return exitcode.With(exitcode.BadData, fmt.Errorf("%s, records %d to %d: %w", k.name, k.first, k.first+k.records-1, err))
		}
		k.total = first
		first += k.records
		return visit(k, outputs)
	}
	if files.Pipe != nil {
		f, err := input.FileOf(ctx, "standard input", files.Pipe)
		if err != nil {
			return err
		}
		err = b.read(f, files.Label, answer)
		return cmp.Or(err, noRecord(first, f.Name))
	}
	for _, name := range files.Names {
		if err := b.readFile(ctx, name, files.Label, answer); err != nil {
			return err
		}
		b.compareTexts(ctx, name)
	}
	return noRecord(first, files.Names[0])
}

// noRecord is the error of files without a record.
func noRecord(records int, name string) error {
	if records > 0 {
		return nil
	}
	return exitcode.With(exitcode.BadData, fmt.Errorf("%s has no record", name))
}
