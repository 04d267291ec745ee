package launch

import (
	"bytes"
	"sync/atomic"

	"ringtrain/ring/launch/process"
)

// A Reader makes of a line of rank 0's standard output what the launcher's outputs get of it. The line
// has its newline, unless it is longer than 1 MiB: then it comes in pieces. A Reader is called for one
// line at a time, on whatever host rank 0 runs, also after rank 0 was started again. It does not block.
type Reader func(line []byte) Text

// Text is what the launcher's outputs get of a line: whole lines, or nothing.
type Text struct {
	Out  []byte // for Stdout, with the prefix of rank 0
	Err  []byte // for Stderr, with the prefix of rank 0, and for the file of its standard error
	File []byte // for the file of rank 0's standard output
}

// lineReader hands the lines of rank 0's standard output to a Reader.
type lineReader struct {
	read  Reader
	lines [2]process.Prefixer // of the text for Stdout and Stderr
	text  [2][]byte
}

// readBy has read get the lines of o. err has the prefix of the same rank's standard error.
func (o *rankOutput) readBy(read Reader, err process.Prefixer) {
	o.read = &lineReader{read: read, lines: [2]process.Prefixer{o.lines, err}}
	o.lines = process.Prefixer{} // read gets lines without a prefix
}

// writeRead is writeAsync for the lines of o.text, which a Reader reads. accepted is called when both
// outputs have room.
func (r *rankOutputs) writeRead(o *rankOutput, accepted func()) {
	l, errFile := o.read, &r.ranks[0][1]
	l.text[0], l.text[1] = l.text[0][:0], l.text[1][:0]
	for line := range bytes.Lines(o.text) {
		t := l.read(line)
		o.keep(t.File)
		errFile.keep(t.Err)
		l.text[0] = l.lines[0].Append(l.text[0], t.Out)
		l.text[1] = l.lines[1].Append(l.text[1], t.Err)
	}
	if accepted == nil {
		r.mux.write(o.toErr, l.text[0], nil)
		r.mux.write(true, l.text[1], nil)
		return
	}
	var left atomic.Int32
	left.Store(2)
	one := func() {
		if left.Add(-1) == 0 {
			accepted()
		}
	}
	r.mux.write(o.toErr, l.text[0], one)
	r.mux.write(true, l.text[1], one)
}
