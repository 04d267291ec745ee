package launch

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/folder"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/phrase"
)

// rankOutputs are the outputs of all ranks, for people and in files.
type rankOutputs struct {
	mux   *outputMux
	ranks [][2]rankOutput // standard output and standard error of each rank
	leave Output          // All, Once and Told

	mu   sync.Mutex
	said map[string]int // text of a line: the first rank that has written it
}

// rankOutput is one output of one rank. One goroutine at a time writes to it.
type rankOutput struct {
	lines process.Prefixer
	toErr bool
	read  *lineReader // nil: lines are passed on
	text  []byte
	file  *os.File // gets every byte, or what a Reader makes of it; nil: none

	mu     sync.Mutex
	failed error  // the first fault of the file
	reason string // the last reason for the end of the rank, of standard error
	ended  bool   // nothing more comes, until the rank is started again
	last   []byte // comes behind all else of standard error
}

// A Reader makes of a line of rank 0's standard output what the launcher's outputs get of it. The line
// has its newline, unless it is longer than maxReadLine: then it comes in pieces. A Reader is called for one
// line at a time, on whatever host rank 0 runs, also after rank 0 was started again. It does not block.
type Reader func(line []byte) Text

// Text is what the launcher's outputs get of a line: whole lines, or nothing.
type Text struct {
	Out  []byte // for Stdout, with the prefix of rank 0
	Err  []byte // for Stderr, with the prefix of rank 0, and for the file of its standard error
	File []byte // for the file of rank 0's standard output
	Last []byte // as Err, behind all that rank 0 itself writes to its standard error
}

// maxReadLine bounds a line for a Reader: the event of an evaluation has several numbers of each class.
const maxReadLine = 64 << 20

// lineReader hands the lines of rank 0's standard output to a Reader.
type lineReader struct {
	read  Reader
	lines [2]process.Prefixer // of the text for Stdout and Stderr
	text  [2][]byte
}

// Lines of this program about the end of a rank: the reason, and what to do about it.
const (
	reasonPrefix = "ringtrain: "
	remedyPrefix = reasonPrefix + "what to do: "
	maxReason    = 1000 // bytes that are kept
	maxSaid      = 1000 // lines that are kept, each of maxReason bytes at most
)

// newRankOutputs opens the files and chooses the prefixes.
func newRankOutputs(c *Config) (*rankOutputs, error) {
	v := &rankOutputs{
		mux: newOutputMux(c.Stdout, c.Stderr, c.OneOutput, c.Notice), ranks: make([][2]rankOutput, c.worldSize()),
		leave: c.Output, said: map[string]int{},
	}
	for rank := range v.ranks {
		for i, name := range [2]string{"stdout", "stderr"} {
			if err := v.open(c, rank, i, name); err != nil {
				v.close()
				return nil, err
			}
		}
	}
	if c.Read != nil {
		v.ranks[0][0].readBy(c.Read, v.ranks[0][1].lines)
	}
	return v, nil
}

// open prepares one output of a rank: i is 0 for standard output and 1 for standard error.
func (r *rankOutputs) open(c *Config, rank, i int, name string) error {
	o := &r.ranks[rank][i]
	o.toErr = i == 1
	o.lines.Prefix = "[" + strconv.Itoa(rank) + "] "
	if c.Tag {
		o.lines.Prefix = fmt.Sprintf("[%d,%s] ", rank, name)
	}
	if c.Stamp {
		o.lines.Clock = time.Now
	}
	if i == 0 && c.Bare {
		o.toErr = rank != 0
		if rank == 0 { // no prefix
			o.lines = process.Prefixer{}
		}
	}
	if c.OutputDir == "" {
		return nil
	}
	dir := filepath.Join(c.OutputDir, "rank."+strconv.Itoa(rank))
	err := folder.Make(dir)
	if err != nil {
		return fmt.Errorf("--output-dir: %w", err)
	}
	if o.file, err = folder.Open(filepath.Join(dir, name), os.O_WRONLY|os.O_TRUNC); err != nil {
		return fmt.Errorf("--output-dir: %w", err)
	}
	return nil
}

// write writes the output of a rank, once there is room. An empty chunk is the end of the
// output, until the rank is started again.
func (r *rankOutputs) write(rank int, toErr bool, chunk []byte) {
	r.writeAsync(rank, toErr, chunk, nil)
}

// writeAsync is write, but does not wait: it calls accepted, if that is not nil, when there is
// room.
func (r *rankOutputs) writeAsync(rank int, toErr bool, chunk []byte, accepted func()) {
	o := &r.ranks[rank][0]
	if toErr {
		o = &r.ranks[rank][1]
	}
	if o.read == nil {
		o.keep(chunk)
	}
	last := o.take(len(chunk) == 0)
	if len(chunk) == 0 {
		o.text = o.lines.Finish(o.text[:0])
	} else {
		o.text = o.lines.Append(o.text[:0], chunk)
	}
	switch {
	case o.read != nil:
		r.writeRead(o, accepted)
		return
	case toErr:
		r.sift(rank)
		o.keep(last)
		o.text = o.lines.Append(o.text, last)
	}
	r.mux.write(o.toErr, o.text, accepted)
}

// take notes whether the output has ended, and returns the text that then comes.
func (o *rankOutput) take(ended bool) (last []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = ended
	if ended {
		last, o.last = o.last, nil
	}
	return last
}

// hold keeps text until the output ends, and returns it if it has ended.
func (o *rankOutput) hold(text []byte) (now []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return text
	}
	o.last = append(o.last, text...)
	return nil
}

// keep writes text to the file.
func (o *rankOutput) keep(text []byte) {
	if o.file == nil || len(text) == 0 {
		return
	}
	if _, err := o.file.Write(text); err != nil {
		o.fail(err)
	}
}

// readBy has read get the lines of o. err has the prefix of the same rank's standard error.
func (o *rankOutput) readBy(read Reader, err process.Prefixer) {
	o.read = &lineReader{read: read, lines: [2]process.Prefixer{o.lines, err}}
	o.lines = process.Prefixer{Most: maxReadLine} // read gets lines without a prefix
}

// writeRead is writeAsync for the lines of o.text, which a Reader reads. accepted is called when both
// outputs have room.
func (r *rankOutputs) writeRead(o *rankOutput, accepted func()) {
	l, errFile := o.read, &r.ranks[0][1]
	l.text[0], l.text[1] = l.text[0][:0], l.text[1][:0]
	for line := range bytes.Lines(o.text) {
		t := l.read(line)
		t.Err = append(t.Err, errFile.hold(t.Last)...)
		o.keep(t.File)
		errFile.keep(t.Err)
		l.text[0] = l.lines[0].Append(l.text[0], t.Out)
		l.text[1] = l.lines[1].Append(l.text[1], t.Err)
	}
	var one func()
	if accepted != nil {
		var left atomic.Int32
		left.Store(2)
		one = func() {
			if left.Add(-1) == 0 {
				accepted()
			}
		}
	}
	r.mux.write(o.toErr, l.text[0], one)
	r.mux.write(true, l.text[1], one)
}

// sift keeps the last reason in the lines of a rank's standard error, and drops lines that people have already.
func (r *rankOutputs) sift(rank int) {
	o := &r.ranks[rank][1]
	kept := o.text[:0]
	for line := range bytes.Lines(o.text) {
		_, text, _ := bytes.Cut(line, []byte(o.lines.Prefix))
		reason, ends := bytes.CutPrefix(text, []byte(reasonPrefix))
		if ends && !bytes.HasPrefix(text, []byte(remedyPrefix)) {
			o.mu.Lock()
			o.reason = phrase.Foreign(string(bytes.TrimSpace(reason)), maxReason)
			o.mu.Unlock()
		}
		first := rank
		if ends || r.leave.Once {
			first = r.record(rank, text)
		}
		if r.leave.All || first == rank && !(ends && r.leave.Told) {
			kept = append(kept, line...)
		}
	}
	o.text = kept
}

// record keeps the text of a line, and returns the rank that has written it first.
func (r *rankOutputs) record(rank int, text []byte) (first int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, said := r.said[string(text)]; said {
		return first
	}
	if len(text) <= maxReason {
		if len(r.said) == maxSaid {
			clear(r.said)
		}
		r.said[string(text)] = rank
	}
	return rank
}

// takeReason returns the last reason that a rank has given for its end, once, without the name of the
// rank.
func (r *rankOutputs) takeReason(rank int) string {
	o := &r.ranks[rank][1]
	o.mu.Lock()
	defer o.mu.Unlock()
	reason := o.reason
	o.reason = ""
	if who, text, ok := strings.Cut(reason, ": "); ok && strings.HasPrefix(who+" ", fmt.Sprintf("rank %d ", rank)) {
		return text
	}
	return reason
}

// fail records the first fault of the file.
func (o *rankOutput) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		o.failed = err
	}
}

// close ends the outputs. It returns whether the last lines were not read, and the first
// fault.
func (r *rankOutputs) close() (unread bool, err error) {
	unread, first := r.mux.close()
	for i := range r.ranks {
		for j := range r.ranks[i] {
			o := &r.ranks[i][j]
			if o.file == nil {
				continue
			}
			if err := o.file.Close(); err != nil {
				o.fail(err)
			}
			o.mu.Lock()
			if first == nil {
				first = o.failed
			}
			o.mu.Unlock()
		}
	}
	if first != nil {
		return unread, exitcode.With(exitcode.IO, fmt.Errorf("output of the ranks: %w", first))
	}
	return unread, nil
}
