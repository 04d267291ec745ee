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
	lines := make([][]byte, len(run.Events))
	for i, e := range run.Events {
		if lines[i], err = report.Line(e.Event, e.Time); err != nil {
			return "", err
		}
	}
	data := append(head[:len(head)-1], `,"events":[`...)
	data = append(append(data, bytes.Join(lines, []byte(","))...), "]}"...)
	return `<script type="application/json" class="run">` + string(bytes.ReplaceAll(data, []byte("<"), []byte(`\u003c`))) + "</script>\n", nil
}
