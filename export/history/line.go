package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// maxLine bounds a line of a history, newline included.
const maxLine = 1 << 20

// line returns the line of an event, nil if the event has no form that fits. An evaluation of very many
// classes loses its lists.
func line(s report.Stamped) []byte {
	text, err := report.Line(s.Event, s.Time)
	if err == nil && len(text) <= maxLine {
		return text
	}
	switch e := s.Event.(type) {
	case report.Metrics:
		s.Event = withoutLists(e)
	case report.Done:
		if e.Eval != nil {
			numbers := withoutLists(*e.Eval)
			e.Eval = &numbers
		}
		s.Event = e
	}
	if text, err = report.Line(s.Event, s.Time); err != nil || len(text) > maxLine {
		return nil
	}
	return text
}

// scan hands the events of a file on that this program knows, and returns the bytes of its whole lines. name names the
// file in errors. The last line may be torn: its writer may have been killed, or may be about to write the rest.
func scan(from io.Reader, name string, use func(report.Stamped)) (whole int64, err error) {
	lines := bufio.NewReaderSize(from, maxLine)
	for number := 1; ; number++ {
		text, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return whole, exitcode.With(exitcode.BadData, fmt.Errorf("%s:%d: a line has more than %d bytes, want events of a run, one a line", name, number, maxLine))
		case err == io.EOF:
			return whole, nil
		case err != nil:
			return whole, exitcode.With(exitcode.IO, fmt.Errorf("%s:%d: %w", name, number, err))
		}
		s, err := report.Parse(text)
		if err != nil {
			return whole, exitcode.With(exitcode.BadData, fmt.Errorf("%s:%d: %w, want events of a run, one a line, as in %s or from --json", name, number, err, File))
		}
		whole += int64(len(text))
		if _, unknown := s.Event.(report.Unknown); !unknown {
			use(s)
		}
	}
}
