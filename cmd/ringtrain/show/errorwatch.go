package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
)

// An ErrorWatch forwards standard output in whole lines and records whether rank 0 has
// printed the error event of the end. It keeps such an event back while the event is the
// last line: if the launcher fails first, it ends rank 0, which then reports this as the
// cause.
type ErrorWatch struct {
	Out     io.Writer
	JSON    bool // standard output carries events
	Seen    bool // an error event was forwarded
	pending []byte
}

var (
	errorMark = []byte(`{"event":"error"`)
	startMark = []byte(`{"event":"start"`) // rank 0 was restarted: its earlier error events do not count
)

func (w *ErrorWatch) Write(p []byte) (int, error) {
	if !w.JSON {
		return w.Out.Write(p)
	}
	text := p
	if bytes.HasPrefix(p, errorMark) {
		w.pending = nil // rank 0 was restarted and failed before its start event
	}
	if len(w.pending) > 0 {
		text, w.pending = append(w.pending, p...), nil
	}
	last := bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n') + 1
	if bytes.HasPrefix(text[last:], errorMark) {
		text, w.pending = text[:last], bytes.Clone(text[last:])
	}
	if told, begun := bytes.LastIndex(text, errorMark), bytes.LastIndex(text, startMark); told != begun {
		w.Seen = told > begun
	}
	if len(text) > 0 {
		if _, err := w.Out.Write(text); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// finish forwards or drops the pending event after all ranks have ended. It drops the
// event if the launcher failed before any rank. Afterwards Seen reports whether no other
// error event may be written.
func (w *ErrorWatch) finish(res launch.Result, err error) {
	switch {
	case res.Unread: // a write might block forever
		w.Seen = true
	case len(w.pending) > 0 && (err == nil || res.Text != ""):
		if line := withLauncherCode(w.pending, res); line != nil {
			w.Out.Write(line) // the sink keeps a write error
			w.Seen = true
		}
	}
	w.pending = nil
}

// withLauncherCode returns the error event with the launcher's exit code if both
// describe the end of the same rank: a rank does not know the code of a rank that was
// killed or refused alone. It returns nil if the event of rank 0 reports a signal that
// was not the reason of the end, because a rank had failed before or the time limit had
// passed.
func withLauncherCode(line []byte, res launch.Result) []byte {
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
