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
	var names []string // of the columns
	return b.each(ctx, files, func(k *block, outputs []*interpreter.Tensor) error {
		a, err := b.columns.Answers(b.model, b.program.Outputs, outputs, k.total, func(s *interpreter.Signature, handed []string) ([]*interpreter.Tensor, error) {
			if keys == nil {
				var err error
				if keys, err = b.model.Compile(s.Name, handed); err != nil {
					return nil, err
				}
			}
			return keys.Run(k.inputs)
		})
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
