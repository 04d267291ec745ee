package trained

import (
	"errors"
	"io"

	"ringtrain/export/events"
	"ringtrain/model/train/report"
)

// ScalarInfo is a point of a curve in an event file.
type ScalarInfo struct {
	Step  int64         `json:"step"`
	Tag   string        `json:"tag"`
	Value report.Number `json:"value"`
	At    report.Number `json:"at_s"` // seconds since 1970
}

// inspectScalars lists the scalars of event files in their order. A file with a truncated last record
// is still being written, or its writer was killed; the records before the last one count.
func inspectScalars(files []string) ([]report.Event, error) {
	var list []report.Event
	for _, name := range files {
		r, err := events.Open(name)
		if err != nil {
			return nil, err
		}
		var e events.Event
		for e, err = r.Next(); err == nil; e, err = r.Next() {
			for _, s := range e.Scalars {
				list = append(list, ScalarInfo{e.Step, s.Tag, report.Number(s.Value), report.Number(e.WallTime)})
			}
		}
		r.Close()
		if err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
	}
	return list, nil
}
