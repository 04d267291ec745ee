package trained

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// drawnJobs is how many jobs TestDrawnJobs draws.
const drawnJobs = 24

// TestDrawnJobs verifies that the graphs of jobs whose columns, cells and models are drawn give the scores of the models.
func TestDrawnJobs(t *testing.T) {
	for seed := range drawnJobs {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			d := drawn{rand.New(rand.NewPCG(uint64(seed), 33))}
			dir := t.TempDir()
			file := filepath.Join(dir, "t.csv")
			model := d.model()
			if err := os.WriteFile(file, []byte(d.csv(model.label)), 0o666); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("model: %s\noptimizer: {learning_rate: 0.1}\nexport: {savedmodel: %q, if: always}\ninput:\n  train: {format: csv, files: [%q], header: true, trim: %s}\n  missing: [%s]\n  columns:\n    - %s\n",
				model.text, filepath.Join(dir, "export"), file, d.pick("true", "false"), d.pick("NA", `NA, "-9"`), strings.Join(append(d.items(), "label: "+model.column), "\n    - "))
			if e, err := exporterOf(t, text).Write(t.Context(), 5); err != nil || e.Verified != drawnRecords {
				t.Errorf("%d records, error %v, of the job\n%s", e.Verified, err, text)
			}
		})
	}
}

// drawnRecords is how many records a drawn job has.
const drawnRecords = 120

// drawn draws jobs.
type drawn struct{ *rand.Rand }

func (d drawn) pick(from ...string) string { return from[d.IntN(len(from))] }

// drawnModel is a kind of model, the column of its label, and what draws a label.
type drawnModel struct {
	text, column string
	label        func() string
}

func (d drawn) model() drawnModel {
	return []drawnModel{
		{"{kind: deepfm, embedding: 3, hidden: [4]}", "{names: [y]}", func() string { return d.pick("0", "1") }},
		{"{kind: wide-deep, embedding: 2, hidden: [5]}\nloss: {kind: squared}", d.pick("{names: [y], standardize: true}", "{names: [y], standardize: true, transform: log1p}"), func() string { return fmt.Sprintf("%.2f", 1000*d.Float64()) }},
		{"{kind: linear, classes: auto}\nloss: {kind: softmax}", "{names: [y]}", func() string { return d.pick("no", "yes", "may be") }},
	}[d.IntN(3)]
}

// items returns some columns, of which some are read in several ways.
func (d drawn) items() []string {
	all := []string{
		"numeric: {names: [n]" + d.pick("", ", transform: log1p") + d.pick("", ", standardize: true") + d.pick("", ", default: mean", ", default: 2.5") + "}",
		"numeric: {names: [n], buckets: [-1.5, 0.1, 3]" + d.pick("", ", default: 1") + "}",
		"categorical: {names: [n], hash: 30}",
		"key: {names: [n" + d.pick("", ", city", ", day") + "]}",
		"categorical: {names: [city], " + d.pick("hash: 40", "vocabulary: auto", "vocabulary: auto, min_count: 3") + "}",
		"text: {names: [words], hash: 60, lower: " + d.pick("true", "false") + ", ngrams: " + d.pick("1", "2", "3") + "}",
		"time: {names: [day], parts: [" + d.pick("days", "year, month", "weekday, hour, day") + "]}",
		"time: {names: [at], layout: " + d.pick("unix", "unix_ms") + ", parts: [days, hour]}",
		`categorical: {names: [list], separator: "|", ` + d.pick("hash: 9", "vocabulary: auto") + "}",
		"ids: {names: [ids]" + d.pick("", ", values: values") + ", size: 7}",
	}
	d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = append(all[:2+d.IntN(len(all)-2)], "numeric: {names: [m], standardize: true}")
	if slices.Contains(all, "categorical: {names: [n], hash: 30}") && slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "[city]") }) {
		all = append(all, "cross: {of: [n, city], hash: 100}")
	}
	return all
}

// csv returns records with cells of all that readers have met: blanks, words for missing, large numbers, other scripts.
func (d drawn) csv(label func() string) string {
	number := func() string {
		return d.pick("", "NA", "-9", " 1.5 ", "3", fmt.Sprint(d.IntN(30)), fmt.Sprintf("%g", d.NormFloat64()*1e5), fmt.Sprintf("%g", d.NormFloat64()*1e-30), fmt.Sprint(16777216+d.IntN(9)))
	}
	word := func() string {
		return d.pick("Bern", "bern ", " Zürich", "NA", "null", "", "a b c", "ÄÖ ü-x", "1", "x|y", "Straße", "日本 語", `"""q"""`, "İstanbul", "ΣΑΣ")
	}
	var all strings.Builder
	all.WriteString("y,n,m,city,words,day,at,list,ids,values\n")
	for range drawnRecords {
		var ids, values []string
		for range d.IntN(4) {
			ids, values = append(ids, fmt.Sprint(d.IntN(7))), append(values, fmt.Sprintf("%.2f", d.NormFloat64()))
		}
		day := d.pick("", "NA", fmt.Sprintf("20%02d-%02d-%02d", d.IntN(60), 1+d.IntN(12), 1+d.IntN(28)), fmt.Sprintf("1931-02-%02dT%02d:30:00+02:00", 1+d.IntN(28), d.IntN(24)))
		at := d.pick("", fmt.Sprint(d.IntN(2_000_000_000)), fmt.Sprint(-d.IntN(200_000_000)), fmt.Sprintf("%d.75", d.IntN(2_000_000_000)))
		cells := []string{label(), number(), number(), word(), strings.Trim(word(), `"`) + " " + strings.Trim(word(), `"`), day, at, d.pick("", "a", "a|b", " a | NA |c", "|", "b||"), strings.Join(ids, " "), strings.Join(values, " ")}
		all.WriteString(strings.Join(cells, ",") + "\n")
	}
	return all.String()
}
