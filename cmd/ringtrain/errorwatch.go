package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
)

// errorWatch passes standard output on, whole lines, and sees whether rank 0 told the
// cause of the end itself. As long as that is the last line it is held: where the
// launcher fails first, it ends rank 0, which takes that for the cause.
type errorWatch struct {
	out  io.Writer
	json bool // standard output carries events
	seen bool // one of an end is written
	held []byte
}

var (
	errorMark = []byte(`{"event":"error"`)
	startMark = []byte(`{"event":"start"`) // of a rank 0 that was started again: what it told before is not of the end
)

func (w *errorWatch) Write(p []byte) (int, error) {
	if !w.json {
		return w.out.Write(p)
	}
	text := p
	if bytes.HasPrefix(p, errorMark) {
		w.held = nil // of a rank 0 that was started again, and did not come to its start
	}
	if len(w.held) > 0 {
		text, w.held = append(w.held, p...), nil
	}
	last := bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n') + 1
	if bytes.HasPrefix(text[last:], errorMark) {
		text, w.held = text[:last], bytes.Clone(text[last:])
	}
	if told, begun := bytes.LastIndex(text, errorMark), bytes.LastIndex(text, startMark); told != begun {
		w.seen = told > begun
	}
	if len(text) > 0 {
		if _, err := w.out.Write(text); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// settle decides on what is held, once all ranks have ended: it is dropped where the
// launcher's own fault came before any rank's. Afterwards seen tells whether nothing
// more is to be written.
func (w *errorWatch) settle(res launch.Result, err error) {
	switch {
	case res.Unread: // to write might block for ever
		w.seen = true
	case len(w.held) > 0 && (err == nil || res.Text != ""):
		if line := amended(w.held, res); line != nil {
			w.out.Write(line) // standard output itself remembers a fault
			w.seen = true
		}
	}
	w.held = nil
}

// amended is the event of the end with the launcher's code, where both are of one rank's
// end: others are told the code that they are to end with, which is not that of a rank
// that was killed, or refused alone. It is nil where rank 0 says that a signal has ended
// it, and that is not why the ranks have ended: one of them had failed before, or the time
// was up.
func amended(line []byte, res launch.Result) []byte {
	var told struct {
		Rank int `json:"rank"`
		Code int `json:"exit_code"`
	}
	if json.Unmarshal(line, &told) != nil || res.Code == exitcode.OK {
		return line
	}
	if bySignal := told.Code == exitcode.Terminated || told.Code == exitcode.Interrupted; bySignal && told.Code != res.Code {
		return nil
	}
	if told.Rank != res.Rank {
		return line
	}
	head, ok := bytes.CutSuffix(line, fmt.Appendf(nil, `"exit_code":%d}`+"\n", told.Code))
	if !ok {
		return line
	}
	return fmt.Appendf(bytes.Clone(head), `"exit_code":%d}`+"\n", res.Code)
}
