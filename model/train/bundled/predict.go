package bundled

import (
	"context"

	"ringtrain/export/ask"
	"ringtrain/export/interpreter"
)

// Predict calls each with the answers to all records, in order, some at a time. first is the number of
// the first of them.
func (b *Bundle) Predict(ctx context.Context, files Files, each func(a *ask.Answers, first int) error) error {
	files.Label = false
	var keys *interpreter.Program
	if of, outputs := b.columns.Handed(b.model); of != nil {
		var err error
		keys, err = b.model.Compile(of.Name, outputs)
		if err != nil {
			return err
		}
	}
	return b.each(ctx, files, func(k *block, outputs []*interpreter.Tensor) error {
		var handed []*interpreter.Tensor
		if keys != nil {
			var err error
			handed, err = keys.Run(k.inputs)
			if err != nil {
				return err
			}
		}
		a, err := ask.NewAnswers(b.columns, b.program.Outputs, outputs, handed)
		if err != nil {
			return err
		}
		return each(a, k.total)
	})
}
