package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"ringtrain/input/column"
	"ringtrain/model/train/records"
)

func dataStatsCommand() command {
	return command{
		name: "stats", args: "JOB", examples: []string{"ringtrain data stats job.yaml"}, run: (*app).dataStats, flags: []cli.Flag{dataFlag(), setFlag(), jsonFlag()},
		usage: "what a job's training records have in each column",
	}
}

// dataStats prints a line for each column.
func (a *app) dataStats(c *cli.Context) error {
	if err := wantArgs(c, 1, 1, "one job"); err != nil {
		return err
	}
	job, err := loadJob(c, a.environ, c.Args().First())
	if err != nil {
		return err
	}
	all, err := records.StatsOfColumns(job, records.Options{Roots: dataRoots(c, a.getenv), Notice: func(line string) { fmt.Fprintln(a.stderr, line) }})
	if err != nil {
		return err
	}
	out := a.newReporter(c, 0)
	if out.json {
		for _, s := range all {
			out.writeJSON(s)
		}
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "column\trecords\tmissing\tunknown\tmean\tdeviation\tmin\tmax\tdistinct\tmost frequent")
	for _, s := range all {
		unknown := ""
		if s.Unknown != nil {
			unknown = fmt.Sprint(*s.Unknown)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\n", escaped.Replace(s.Column), s.Records, s.Missing, unknown, numbersOf(s.Numbers), textsOf(s.Texts))
	}
	return w.Flush()
}

// numbersOf returns the four cells of numbers.
func numbersOf(n *column.NumberStats) string {
	if n == nil {
		return "\t\t\t"
	}
	return fmt.Sprintf("%.12g\t%.12g\t%.12g\t%.12g", n.Mean, n.Deviation, n.Min, n.Max)
}

// textsOf returns the two cells of texts.
func textsOf(t *column.TextStats) string {
	switch {
	case t == nil:
		return "\t"
	case t.More:
		return fmt.Sprintf("> %d\t", t.Distinct)
	}
	var frequent []string
	for _, f := range t.Frequent {
		frequent = append(frequent, fmt.Sprintf("%q %d", f.Text, f.Records))
	}
	return fmt.Sprintf("%d\t%s", t.Distinct, strings.Join(frequent, ", "))
}
