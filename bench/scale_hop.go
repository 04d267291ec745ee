package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"ringtrain/ring/exitcode"
)

// HopOf returns the time of a hop from the output of bench allreduce --json for one
// small buffer that the given number of ranks sum by ring. In each step every rank sends
// one frame to the next.
func HopOf(out []byte, ranks int) (time.Duration, error) {
	rows, err := rowsOf(out)
	if err != nil {
		return 0, err
	}
	return time.Duration(math.Round(rows[0].Time / float64(2*(ranks-1)) * float64(time.Second))), nil
}

// rowsOf decodes the output of bench allreduce --json.
func rowsOf(out []byte) ([]Row, error) {
	var rows []Row
	for line := range bytes.Lines(out) {
		if !isEvent(line, Row{}.Kind()) {
			continue
		}
		var r Row
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("bench: decode a row of the ranks: %w", err)
		}
		if r.Wrong > 0 || !(r.Time > 0) {
			return nil, exitcode.With(exitcode.Internal, fmt.Errorf("bench: %d elements of %d bytes are wrong", r.Wrong, r.Bytes))
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil, errors.New("bench: the ranks printed no rows")
	}
	return rows, nil
}

func isEvent(line []byte, kind string) bool {
	var head struct {
		Event string `json:"event"`
	}
	return json.Unmarshal(line, &head) == nil && head.Event == kind
}
