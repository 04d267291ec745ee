package main

import (
	"bytes"
	"io"

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

var errorMark = []byte(`{"event":"error"`)

func (w *errorWatch) Write(p []byte) (int, error) {
	if !w.json {
		return w.out.Write(p)
	}
	text := p
	if len(w.held) > 0 {
		text, w.held = append(w.held, p...), nil
	}
	last := bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n') + 1
	if bytes.HasPrefix(text[last:], errorMark) {
		text, w.held = text[:last], bytes.Clone(text[last:])
	}
	w.seen = w.seen || bytes.Contains(text, errorMark)
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
		w.out.Write(w.held) // standard output itself remembers a fault
		w.seen = true
	}
	w.held = nil
}
