package page

import (
	"encoding/json"
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

// dataOf returns the element that has the events of a run: JSON in which no text can end the element, because
// report.Marshal writes \u003c for the character <.
func dataOf(run *history.Run) (string, error) {
	lines := make([]json.RawMessage, len(run.Events))
	for i, e := range run.Events {
		line, err := report.Line(e.Event, e.Time)
		if err != nil {
			return "", err
		}
		lines[i] = line
	}
	data, err := report.Marshal(struct {
		Name    string            `json:"name"`
		Running bool              `json:"running"`
		Events  []json.RawMessage `json:"events"`
	}{run.Name, run.Running, lines})
	return `<script type="application/json" class="run">` + string(data) + "</script>\n", err
}
