package page

import (
	"bytes"
	"fmt"
	"io"

	"ringtrain/export/history"
	"ringtrain/model/train/report"
)

// Report writes a page of runs that stands for itself: it has the events inside, opens from disk and makes no request.
func Report(w io.Writer, runs []*history.Run) error {
	var blocks []string
	for _, run := range runs {
		block, err := dataOf(run)
		if err != nil {
			return fmt.Errorf("report of %s: %w", run.Name, err)
		}
		blocks = append(blocks, block)
	}
	html, _ := assemble(blocks, "")
	_, err := io.WriteString(w, html)
	return err
}

// dataOf returns the element that has the events of a run: JSON in which no text can end the element. The character <
// stands in texts of JSON alone, where \u003c is the same.
func dataOf(run *history.Run) (string, error) {
	head, err := report.Marshal(struct {
		Name    string `json:"name"`
		Running bool   `json:"running"`
	}{run.Name, run.Running})
	if err != nil {
		return "", err
	}
	events := gathered(run.Events)
	lines := make([][]byte, len(events))
	for i, e := range events {
		if lines[i], err = report.Line(e.Event, e.Time); err != nil {
			return "", err
		}
	}
	data := append(head[:len(head)-1], `,"events":[`...)
	data = append(append(data, bytes.Join(lines, []byte(","))...), "]}"...)
	return `<script type="application/json" class="run">` + string(bytes.ReplaceAll(data, []byte("<"), []byte(`\u003c`))) + "</script>\n", nil
}

// gathered returns events with the loads of ranks added up over each attempt and generation: a page shows their sums.
// Those of more than 64 ranks stay, for each has others.
func gathered(events []report.Stamped) []report.Stamped {
	var all []report.Stamped
	loads := -1 // where the sum is
	for _, s := range events {
		switch e := s.Event.(type) {
		case report.Start, report.Generation:
			loads = -1
		case report.Ranks:
			if loads >= 0 && e.Least == nil {
				all[loads].Event = all[loads].Event.(report.Ranks).Add(e)
				continue
			}
			loads = len(all)
		}
		all = append(all, s)
	}
	return all
}
