package show

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"ringtrain/model/train/trained"
)

// escaped makes a key one field of one line.
var escaped = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)

// Prediction writes a record as text: its number, its key, its scores.
func Prediction(w io.Writer, p trained.Prediction) error {
	key := ""
	if p.Key != nil {
		key = "\t" + escaped.Replace(*p.Key)
	}
	_, err := fmt.Fprintf(w, "%d%s\t%s\n", p.Record, key, strings.Trim(fmt.Sprint(p.Scores), "[]"))
	return err
}

// CSVPredictions returns a function that writes predictions as CSV. The header has key,
// or record if the model has no key, and score, or score_0 and on.
func CSVPredictions(w *csv.Writer) func(trained.Prediction) error {
	var line []string
	return func(p trained.Prediction) error {
		if line == nil {
			line = csvHeader(p)
			if err := w.Write(line); err != nil {
				return err
			}
		}
		line[0] = strconv.Itoa(p.Record)
		if p.Key != nil {
			line[0] = *p.Key
		}
		for k, s := range p.Scores {
			line[1+k] = strconv.FormatFloat(float64(s), 'g', -1, 32)
		}
		return w.Write(line)
	}
}

func csvHeader(p trained.Prediction) []string {
	line := []string{"record"}
	if p.Key != nil {
		line[0] = "key"
	}
	for k := range p.Scores {
		name := "score"
		if len(p.Scores) > 1 {
			name += "_" + strconv.Itoa(k)
		}
		line = append(line, name)
	}
	return line
}
