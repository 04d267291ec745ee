package convert

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"ringtrain/input"
	"ringtrain/input/text"
	"ringtrain/ring/exitcode"
)

// PipeName is the name of a pipe in messages.
const PipeName = "standard input"

// A Pipe has the lines of records, which are read once.
type Pipe struct {
	text.Config
	tolerate bool
}

// OpenPipe returns the records of a pipe. It reads nothing. In the place of records with columns of a format that is no text
// there is CSV with a header; without columns such a format is exitcode.Usage.
func (s Spec) OpenPipe(from io.Reader) (*Pipe, error) {
	switch f, known := FormatOf(s.Format); {
	case !known || f.IsText():
	case s.Columns != nil:
		s.Origin = Origin{Format: FormatName(Sniff(nil).Name), Header: true}
	default:
		return nil, usage("format %s in the place of - is no text, want one of %s, or files", f.Name, strings.Join(Names(Format.IsText), ", "))
	}
	s.Files = []string{PipeName}
	f, err := s.check()
	if err != nil {
		return nil, err
	}
	c, err := f.pipe(s)
	c.Pipe = from
	return &Pipe{c, s.Tolerate}, err
}

// Each calls each with the records in their order, some at a time: all of those that are there when the pipe would wait
// for more, with indexed bags. Memory does not grow with them. A bad line is an error, after the records before it, or,
// if the specification tolerates it, one of b.Bad.
func (p *Pipe) Each(ctx context.Context, each func(b *input.Batch) error) error {
	b, read := input.Batch{WantKeys: true}, 0
	hand := func() error {
		n := len(b.Y) + len(b.Bad)
		read += n
		defer b.Reset()
		if n == 0 {
			return nil
		}
		b.X.Bags.Index()
		return each(&b)
	}
	err := text.EachPart(ctx, []string{PipeName}, p.Config, func(*text.Part) error { return nil }, func(part *text.Part) error {
		for k := range part.Len() {
			if err := p.appendLine(&b, part, k); err != nil {
				err = part.Fault(p.Format, k, err)
				if !p.tolerate || !input.BadRecord(err) {
					return cmp.Or(hand(), err)
				}
				b.AddBad(len(b.Y)+len(b.Bad), err)
			}
			if len(b.Y)+len(b.Bad) == input.EvalBlock {
				if err := hand(); err != nil {
					return err
				}
			}
		}
		return hand()
	})
	if err == nil && read == 0 {
		err = exitcode.With(exitcode.BadData, fmt.Errorf("%s: no records in %s", p.Format, PipeName))
	}
	return err
}

// appendLine adds the record of a line of a part, or nothing if it is bad.
func (p *Pipe) appendLine(b *input.Batch, part *text.Part, k int) error {
	line, err := part.Line(k)
	if err != nil {
		return err
	}
	before := b.Mark()
	if err = p.Parse(b, line, 0); err != nil {
		b.Restore(before)
	}
	return err
}
