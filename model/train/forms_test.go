package train

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"ringtrain/input/look"
	"ringtrain/model/job"
	"ringtrain/model/train/report"
)

// TestFormsOfNumbers verifies that a job of init trains on numbers of each form that init knows, as a column and as the label:
// both are the number that is plain in another column.
func TestFormsOfNumbers(t *testing.T) {
	thousands := regexp.MustCompile(`^(-?\d+)(\d{3}[.])`)
	american := func(x float64) string { return thousands.ReplaceAllString(fmt.Sprintf("%.2f", x), "$1,$2") }
	european := func(x float64) string { return strings.NewReplacer(",", ".", ".", ",").Replace(american(x)) }
	by := func(format string) func(float64) string {
		return func(x float64) string { return fmt.Sprintf(format, x) }
	}
	for name, of := range map[string]func(float64) string{
		"plain":               by("%.2f"),
		"thousands":           american,
		"european":            european,
		"decimal comma":       func(x float64) string { return strings.ReplaceAll(by("%.2f")(x), ".", ",") },
		"dollars":             func(x float64) string { return "$" + american(x) },
		"pounds":              by("£%.2f"),
		"euros":               func(x float64) string { return european(x) + " €" },
		"percent":             by("%.2f %%"),
		"blanks":              func(x float64) string { return strings.ReplaceAll(american(x), ",", " ") },
		"blanks and a comma":  func(x float64) string { return strings.NewReplacer(",", " ", ".", ",").Replace(american(x)) },
		"a currency before":   func(x float64) string { return "CHF " + american(x) },
		"a currency behind":   func(x float64) string { return european(x) + " EUR" },
		"crowns":              by("kr %.2f"),
		"a unit":              by("%.1f kg"),
		"a unit at the digit": by("%.1fkm/h"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			text := "x,d,y\n"
			for i := range 200 {
				v := float64(i*i%197)*13.5 - 250.25
				text += fmt.Sprintf("%g,%q,%q\n", v, of(v), of(v))
			}
			if err := os.WriteFile("t.csv", []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			table, err := look.Look(t.Context(), look.Options{Names: []string{"t.csv"}, Label: "y"})
			if err != nil {
				t.Fatal(err)
			}
			file, _, err := (&job.Draft{Table: table, Name: "t"}).File()
			if err != nil {
				t.Fatal(err)
			}
			numbers := table.Label.Numbers
			if d := table.Columns[1].Numbers; numbers == nil || d == nil || math.Abs(numbers.Min+250.25) > 0.1 || *d != *numbers {
				t.Fatalf("the numbers are %+v and %+v:\n%s", d, numbers, file)
			}
			m := trainFiles(t, 1, loadText(t, string(file), "train.epochs=20", "optimizer.learning_rate=0.1"))
			evals := eventsOf[report.Metrics](m)
			if last := evals[len(evals)-1]; *last.R2 < 0.99 {
				t.Errorf("R2 is %v of\n%s", *last.R2, file)
			}
		})
	}
}
