package text

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// partBytes is how much text a Part has at least, unless its file ends.
const partBytes = 256 << 10

// A Part is whole lines that follow each other in a file.
type Part struct {
	File  string
	First bool // the first record of the file is in it
	Slot  int  // below Slots; no other Part that is not done has it

	before int64 // line ends of the file before it
	number int   // records of all files before it, without headers
	header bool  // its first line is a header
	ready  chan error
	lines
}

// Len returns the number of records of the part.
func (p *Part) Len() int { return len(p.spans) }

// Line returns the line of a record, as Config.Parse gets it.
func (p *Part) Line(k int) ([]byte, error) { return p.text(k) }

// Number returns the number of record k in all files, -1 of a header.
func (p *Part) Number(k int) int {
	switch {
	case !p.header:
		return p.number + k
	case k == 0:
		return -1
	}
	return p.number + k - 1
}

// FileNumber returns the number of its file, from 0.
func (p *Part) FileNumber() int { return p.file }

// Place returns the file of a record, and the number, from 1, of the line that it begins in.
func (p *Part) Place(k int) (file string, line int64) {
	return p.File, p.before + 1 + int64(bytes.Count(p.data[:p.spans[k].from], []byte{'\n'}))
}

// Fault is err with the coordinates of a record's line.
func (p *Part) Fault(format string, k int, err error) error {
	file, line := p.Place(k)
	return exitcode.With(exitcode.BadData, fmt.Errorf("%s: %s:%d: %w", format, file, line, err))
}

// Slots returns how many parts are in memory at a time.
func Slots() int { return runtime.GOMAXPROCS(0) + 2 }

// EachPart reads files once, from first to last, compressed or not, in memory that does not grow with
// them. It calls work for the parts side by side, and then done for each, one at a time in their order. Of c
// it uses Format, Comment, Quote, Separator, Trim, Header, Limits, Pipe and Head. Its error is the first in the order of the
// files, or the cause of ctx.
func EachPart(ctx context.Context, files []string, c Config, work, done func(*Part) error) error {
	outer := ctx
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	slots := Slots()
	free, todo, order := make(chan *Part, slots), make(chan *Part, slots), make(chan *Part, slots)
	for i := range slots {
		free <- &Part{Slot: i, ready: make(chan error, 1)}
	}
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for p := range todo {
				p.ready <- work(p)
			}
		})
	}
	var unread error
	wait.Go(func() {
		defer close(order)
		defer close(todo)
		records := 0
		for i, name := range files {
			if unread == nil {
				unread = c.readParts(ctx, name, free, func(p *Part) {
					p.number, p.file = records, i
					records = p.Number(p.Len())
					order <- p
					todo <- p
				})
			}
		}
	})
	var first error
	for p := range order {
		if err := <-p.ready; first == nil {
			if err == nil {
				err = done(p)
			}
			if err != nil {
				first = err
				stop(err)
			}
		}
		free <- p
	}
	wait.Wait()
	return cmp.Or(first, unread, context.Cause(outer))
}

// readParts fills free parts with the lines of a file and hands them on.
func (c *Config) readParts(ctx context.Context, name string, free <-chan *Part, hand func(*Part)) error {
	f, err := c.openText(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := partReader{config: c, file: f, first: true, head: c.Head}
	for !r.ended {
		var p *Part
		select {
		case p = <-free:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		err := r.read(p)
		if err == nil {
			err = r.dropHead(p)
		}
		if err != nil {
			return err
		}
		hand(p)
	}
	return nil
}

// openText opens a file, or the pipe in its place.
func (c *Config) openText(ctx context.Context, name string) (*input.File, error) {
	if c.Pipe != nil {
		return input.TextOf(ctx, name, c.Pipe)
	}
	return input.OpenText(ctx, name, c.Limits)
}

// partReader cuts a file into parts.
type partReader struct {
	config *Config
	file   *input.File
	first  bool                                 // no record was read
	head   func(file string, line []byte) error // of the first record; nil: it is past, or a record like others
	begun  bool                                 // a part was read
	before int64                                // line ends before rest
	rest   []byte                               // the line that the last part has begun
	ended  bool
}

// read fills p with lines: more than none, unless the file ends.
func (r *partReader) read(p *Part) error {
	if cap(p.data) > 4*partBytes {
		p.data = nil
	}
	p.File, p.First, p.before = r.file.Name, r.first, r.before
	p.data, p.spans = append(p.data[:0], r.rest...), p.spans[:0]
	for at, mark := 0, 0; ; {
		if err := r.more(p); err != nil {
			return err
		}
		if !r.begun {
			mark = markLength(p.data)
		}
		at = r.cut(p, max(at, mark))
		if at <= mark && !r.ended {
			if len(p.data) > MaxLine {
				return exitcode.With(exitcode.BadData, fmt.Errorf("%s: %s:%d: line is longer than %d bytes", r.config.Format, p.File, r.before+1, MaxLine))
			}
			continue // a long line: read on
		}
		r.rest = append(r.rest[:0], p.data[at:]...)
		p.data = p.data[:at]
		break
	}
	r.before += int64(bytes.Count(p.data, []byte{'\n'}))
	p.zeros = bytes.IndexByte(p.data, 0) >= 0
	p.header = r.config.Header && r.first && len(p.spans) > 0
	r.first, r.begun = r.first && len(p.spans) == 0, true
	return nil
}

// dropHead takes the header off the first part that has a record.
func (r *partReader) dropHead(p *Part) error {
	if r.head == nil || p.Len() == 0 {
		return nil
	}
	line, err := p.Line(0)
	if err == nil {
		err = r.head(p.File, line)
	}
	if err != nil {
		return p.Fault(r.config.Format, 0, err)
	}
	p.spans, r.head = p.spans[1:], nil
	return nil
}

// more appends text of the file to p, up to twice what it has, and room for Pad bytes.
func (r *partReader) more(p *Part) error {
	b := blockReader{lines: &p.lines}
	have, want := len(p.data), max(partBytes, 2*len(p.data))
	b.grow(want - have)
	p.data = p.data[:want]
	for have < want {
		n, err := r.file.Read(p.data[have:want])
		have += n
		if r.config.Pipe != nil && bytes.IndexByte(p.data[have-n:have], '\n') >= 0 {
			break // whoever writes it may wait for the answer
		}
		if err == io.EOF {
			r.ended = true
			break
		}
		if err != nil {
			return input.ReadError(r.file.Name, err)
		}
	}
	p.data = p.data[:have]
	if n := len(p.data); r.ended && n > 0 && p.data[n-1] != '\n' {
		p.data = append(p.data, '\n')
	}
	return nil
}

// cut finds the lines of p from a position on, and returns the position behind the last one.
func (r *partReader) cut(p *Part, at int) int {
	q := r.config.quoting(p.data)
	for at < len(p.data) {
		start, from := at, fieldStart
		for start < len(p.data) && r.config.blank(p.data[start]) {
			start, from = start+1, inField
		}
		n, _, ended := q.line(p.data[start:], from)
		if !ended && !r.ended {
			break
		}
		if c := p.data[min(start, len(p.data)-1)]; c != '\n' && (c != r.config.Comment || c == 0) {
			p.spans = append(p.spans, span{uint32(at), uint32(start + n)})
		}
		at = start + n
	}
	return at
}

// Lines returns the lines of a file's beginning that hold a record: without the last one, which may be cut,
// unless it is the whole file.
func Lines(head []byte, c Config, whole bool) [][]byte {
	p, r := &Part{lines: lines{data: head}}, partReader{config: &c, ended: whole}
	r.cut(p, markLength(head))
	all := make([][]byte, p.Len())
	for k, s := range p.spans {
		all[k] = head[s.from:s.to]
	}
	return all
}
