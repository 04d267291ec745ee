package show

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
	"ringtrain/ring/phrase"
)

// A Next is what the commands that follow a run need to know of its command line.
type Next struct {
	Job     string // as on the command line
	Alone   bool   // no option changes the job: its name is enough
	NoFiles bool   // the job draws its records
	Data    string // folder of --data, "" for none
	Where   string // host and folder of relative names, "" for those of this process
	Again   string // the command line, "" if another launcher has it
}

const (
	wordColumns = 9  // of the word before a row
	secondCell  = 39 // column of the second cell of a row, if there is room
)

// row returns a row of the result.
func row(word, cell string) string { return fmt.Sprintf("%-*s%s", wordColumns, word, cell) }

// result returns the lines of the end of a run: its score and that of a constant prediction, where the model is, how
// long it took, and the commands that follow.
func (s *runState) result(next Next, shape Shape) []string {
	columns := cmp.Or(shape.Columns, math.MaxInt) // a file has lines of any length
	lines := append(s.scores(columns), s.places(columns)...)
	took := lasting(time.Duration(s.done.Took))
	if s.done.ExamplesPerS > 0 {
		took += fmt.Sprintf(", %s examples/s", Commas(int64(s.done.ExamplesPerS)))
	}
	took += " on " + phrase.Count(s.start.WorldSize, "rank")
	if w := s.all.straggler(); w != nil {
		took += fmt.Sprintf(", %.0f %% of it waiting for rank %d", 100*w.Share, w.Rank)
	}
	if shape.Columns > 0 { // a file has the line done
		lines = append(lines, row("time", took))
	}
	for _, z := range s.done.Zeros {
		lines = append(lines, row("zeros", fmt.Sprintf("%s of %s of %s", Commas(z.Zeros), Commas(z.Elements), phrase.Name(z.Name))))
	}
	return append(lines, s.follow(next)...)
}

// scoreNames are the metrics of the result.
var scoreNames = []string{"accuracy", "auc", "log_loss", "rmse", "r2"}

// A scoreRow has metrics of a set of records.
type scoreRow struct {
	report.Metrics
	about string
}

// cell returns the value of a metric, "" if it does not fit the model.
func (r scoreRow) cell(name string) string {
	for _, n := range r.Numbers() {
		if n.Name == name {
			return fmt.Sprintf("%.4f", n.Value)
		}
	}
	return ""
}

func scoresOf(m report.Metrics) scoreRow {
	about := fmt.Sprintf("%s %s records", Commas(m.Examples), phrase.Name(cmp.Or(m.Name, m.Split)))
	if m.Bad > 0 {
		about += ", without " + phrase.Count(int(m.Bad), "bad one")
	}
	return scoreRow{m, about}
}

// scores returns a row for the validation records, one for their baseline, and one for each other set.
func (s *runState) scores(columns int) []string {
	if s.eval == nil {
		return []string{fmt.Sprintf("%-*straining records of the last epoch", secondCell, row("loss", fourDigits(float64(s.done.Loss))))}
	}
	main := scoresOf(*s.eval)
	main.about += ", step " + Commas(s.eval.Step)
	if s.done.ExportedBest > 0 && s.done.ExportedBest == s.eval.Step {
		main.about += ", the best"
	}
	rows := []scoreRow{main}
	if b := s.eval.Baseline; b != nil {
		about := "if the largest class were always predicted"
		if b.RMSE != nil {
			about = "if the mean were always predicted"
		}
		rows = append(rows, scoreRow{report.Metrics{Accuracy: b.Accuracy, AUC: b.AUC, LogLoss: b.LogLoss, RMSE: b.RMSE}, about})
	}
	for _, e := range s.evals {
		rows = append(rows, scoresOf(e))
	}
	return scoreLines(rows, columns)
}

// scoreLines writes the metrics of rows one below the other, with their names in the first row.
func scoreLines(rows []scoreRow, columns int) []string {
	lines := make([]string, len(rows))
	for _, name := range scoreNames {
		if rows[0].cell(name) != "" {
			addColumn(lines, rows, name)
		}
	}
	at, widest := secondCell, 0
	for _, r := range rows {
		widest = max(widest, Width(r.about))
	}
	if left := len(lines[0]) + len(gap); left > at || at+widest > columns {
		at = left
	}
	for i, r := range rows {
		lines[i] = fmt.Sprintf("%-*s%s", at, lines[i], r.about)
	}
	return lines
}

// addColumn adds the values of a metric to the lines of the rows, and its name to the first one.
func addColumn(lines []string, rows []scoreRow, name string) {
	head, widest := gap+metricName(name), 0 // the name stands in the first row
	if lines[0] == "" {
		head = fmt.Sprintf("%-*s", wordColumns-1, metricName(name))
	}
	for _, r := range rows {
		widest = max(widest, len(r.cell(name)))
	}
	columns := len(head)
	for i, r := range rows {
		lines[i] += fmt.Sprintf("%-*s %*s", columns, head, widest, r.cell(name))
		head = ""
	}
}

// places says where the model and the last state are: in one line, if both fit.
func (s *runState) places(columns int) []string {
	var rows []string
	if s.exported != nil {
		rows = append(rows, row("model", s.exported.Path))
	}
	if s.saved != nil {
		rows = append(rows, row("saved", s.saved.Path))
	}
	if len(rows) == 2 {
		if both := fmt.Sprintf("%-*s%s", max(secondCell, Width(rows[0])+len(gap)), rows[0], rows[1]); Width(both) <= columns {
			return []string{both}
		}
	}
	return rows
}

// follow returns the commands that take the model and the history of a run. They work as they are: where options
// changed the job, they name folders.
func (s *runState) follow(next Next) []string {
	job, dir := shellWord(next.Job), s.start.CheckpointDir
	if !next.Alone {
		job = shellWord(dir)
	}
	what := job // the model
	if s.exported != nil {
		what = shellWord(filepath.Dir(s.exported.Path))
	}
	if s.exported != nil && next.Alone {
		what = job + " --from " + what
	}
	if next.Data != "" {
		what += " --data " + shellWord(next.Data)
	}
	if !next.NoFiles {
		what += " FILE"
	}
	if s.exported == nil && dir == "" {
		return nil
	}
	var commands []string
	if next.Where != "" {
		commands = append(commands, phrase.Name(next.Where)+":")
	}
	commands = append(commands, "ringtrain predict "+what)
	if dir != "" && s.start.Options["log.history"] != "false" {
		commands = append(commands, "ringtrain report "+job)
	}
	return rows("next", commands)
}

// rows returns a row for each cell, the first one with the word.
func rows(word string, cells []string) []string {
	var lines []string
	for _, cell := range cells {
		lines = append(lines, row(word, cell))
		word = ""
	}
	return lines
}

// cause returns the cause of the end of a run that did not finish.
func (s *runState) cause(f report.Failure) []string {
	word := "failed"
	if f.ExitCode == exitcode.Interrupted || f.ExitCode == exitcode.Terminated {
		word = "stopped"
	}
	cause := causeOf(f).Error()
	lines := rows(word, strings.Split(cause, "\n"))
	if f.Doc != "" {
		lines = append(lines, row("help", "ringtrain help "+f.Doc))
	}
	return lines
}

// rest returns what is left of such a run: the last saved step, and the command that goes on from it. A run that did
// not begin has none.
func (s *runState) rest(f report.Failure, next Next) []string {
	saved := "nothing"
	switch {
	case s.start.WorldSize == 0:
		return nil
	case s.saved != nil:
		saved = s.saved.Path
	case s.start.RestoredStep > 0:
		saved = fmt.Sprintf("step %s, in %s", Commas(s.start.RestoredStep), s.start.CheckpointDir)
	}
	again := cmp.Or(next.Again, "start the ranks again as before")
	if f.ExitCode < launch.TimedOut { // the same would happen again
		again = "once the cause is mended: " + again
	}
	return []string{row("saved", saved), row("next", again)}
}
