package bundled

import (
	"context"
	"fmt"
	"slices"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Predict calls each with the answers to all records, in order, some at a time. All have the same columns.
func (b *Bundle) Predict(ctx context.Context, files Files, each func(*ask.Answers) error) error {
	files.Label = false
	var keys *interpreter.Program
	if of, outputs := b.columns.Handed(b.model); of != nil {
		var err error
		keys, err = b.model.Compile(of.Name, outputs)
		if err != nil {
			return err
		}
	}
	var names []string // of the columns
	return b.each(ctx, files, func(k *block, outputs []*interpreter.Tensor) error {
		var handed []*interpreter.Tensor
		if keys != nil {
			var err error
			handed, err = keys.Run(k.inputs)
			if err != nil {
				return err
			}
		}
		a, err := ask.NewAnswers(b.columns, b.program.Outputs, outputs, handed, k.total)
		if err != nil {
			return err
		}
		if names == nil {
			names = a.Names
		}
		if !slices.Equal(a.Names, names) {
			return exitcode.With(exitcode.BadData, fmt.Errorf("%s: the answers to records from %d on have the columns %s, and those before %s",
				k.name, k.first, phrase.Names(a.Names, ask.MaxNames), phrase.Names(names, ask.MaxNames)))
		}
		return each(a)
	})
}
