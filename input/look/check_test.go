package look

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
)

// oneFinding returns the only finding of r and its words with the column, nil where none is wanted. It fails if r has
// another number of findings.
func oneFinding(t *testing.T, r *Report, wanted bool) (*Finding, string) {
	t.Helper()
	if !wanted {
		if len(r.Findings) > 0 {
			t.Errorf("finds %+v in a sound file", r.Findings)
		}
		return nil, ""
	}
	if len(r.Findings) != 1 {
		t.Fatalf("findings are %+v, want one", r.Findings)
	}
	f := &r.Findings[0]
	if f.Column == "" {
		return f, f.What
	}
	return f, "column " + f.Column + ": " + f.What
}

// checkOf returns a check's specification of a file of a content, with the columns a (number), t (text), y.
func checkOf(t *testing.T, name, content string) *convert.Spec {
	t.Helper()
	plan, err := column.Compile([]column.Column{
		{Label: &column.LabelOptions{Names: []string{"y"}}}, {Numeric: &column.NumericOptions{Names: []string{"a"}}},
		{Categorical: &column.CategoricalOptions{Names: []string{"t"}, Hash: 10}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &convert.Spec{
		Origin: convert.Origin{Format: "csv", Files: []string{write(t, name, "a,t,y\n"+content)}, Header: true}, Columns: plan, LabelRule: input.Labels{Binary: true},
	}
}

// soundRows are rows without a fault; from makes them differ from others.
func soundRows(n, from int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d.%d,w%d,%d\n", i*7%50, from, i%5, i/3%2)
	}
	return b.String()
}

// TestCheck verifies each finding: a file with this fault alone has it, with its records and the first place, and
// a sound one has none.
func TestCheck(t *testing.T) {
	sound := soundRows(200, 1)
	replaced := func(row func(i int) string) string {
		var b strings.Builder
		for i := range 200 {
			b.WriteString(row(i) + "\n")
		}
		return b.String()
	}
	for name, tt := range map[string]struct {
		train, eval string
		want        string // "" for none
		records     int64
		line        int64
		ends        bool
	}{
		"fault=none":             {train: sound},
		"fault=none, eval":       {train: sound, eval: soundRows(100, 2)},
		"fault=number":           {train: sound + "many,w1,0\nmore,w1,1\n", want: `column a: input.train: is "many", want a number`, records: 2, line: 202, ends: true},
		"fault=class":            {train: sound + "1,w1,3\n", want: "column y: input.train: label is 3, want 0 or 1 (or -1 for 0)", records: 1, line: 202, ends: true},
		"fault=no label":         {train: sound + "1,w1,\n", want: "column y: input.train: is missing, want a label", records: 1, line: 202, ends: true},
		"fault=width":            {train: sound + "1,w1\n", want: "input.train: lines that are no record: has 2 fields, want 3", records: 1, line: 202, ends: true},
		"fault=open quote":       {train: sound + "1,\"w1,0\n" + strings.Repeat("2,w2,1\n", 9) + "3,w3\",0\n", want: "input.train: lines that are no record: has quotes around 9 lines of 3 fields each: a quote may not be closed", records: 1, line: 202, ends: true},
		"fault=number of eval":   {train: sound, eval: soundRows(100, 2) + "x,w1,1\n", want: `column a: input.eval: is "x", want a number`, records: 1, line: 102, ends: true},
		"fault=constant":         {train: replaced(func(i int) string { return fmt.Sprintf("7,w%d,%d", i%5, i/3%2) }), want: "column a: 7 in each record", records: 200},
		"fault=empty":            {train: replaced(func(i int) string { return fmt.Sprintf(",w%d,%d", i%5, i/3%2) }), want: "column a: empty in each record", records: 200},
		"fault=label":            {train: replaced(func(i int) string { return fmt.Sprintf("%d,w%d,%d", i/3%2, i%5, i/3%2) }), want: "column a: is the label y in each record", records: 200},
		"fault=tells by number":  {train: replaced(func(i int) string { return fmt.Sprintf("%d,w%d,%d", i%7+100*(i/3%2), i%5, i/3%2) }), want: "column a: alone tells the label y: AUC 1.0000", records: 200},
		"fault=tells by text":    {train: replaced(func(i int) string { return fmt.Sprintf("%d,%s,%d", i*7%50, []string{"no", "yes"}[i/3%2], i/3%2) }), want: "column t: alone tells the label y: AUC 1.0000", records: 200},
		"fault=all distinct":     {train: replaced(func(i int) string { return fmt.Sprintf("%d,w%d,%d", i*7%50, i, i/3%2) }), want: "column t: no text comes twice", records: 200},
		"fault=same records":     {train: sound, eval: soundRows(30, 1) + soundRows(100, 2), want: "records are in input.train and in input.eval", records: 30},
		"fault=few of a class":   {train: sound, eval: strings.ReplaceAll(soundRows(100, 2), ",1\n", ",0\n"), want: "column y: the class 1 has fewer than 10 validation records: its metrics are chance"},
		"fault=texts of its own": {train: sound, eval: strings.ReplaceAll(soundRows(100, 2), ",w4,", ",new,"), want: "column t: texts that only validation records have", records: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var eval *convert.Spec
			if tt.eval != "" {
				eval = checkOf(t, "eval.csv", tt.eval)
			}
			r, err := Check(t.Context(), checkOf(t, "train.csv", tt.train), eval)
			if err != nil {
				t.Fatal(err)
			}
			f, got := oneFinding(t, r, tt.want != "")
			if f == nil {
				return
			}
			if got != tt.want || f.Records != tt.records || f.Ends != tt.ends || f.Fix == "" || (r.Err() != nil) != tt.ends {
				t.Errorf("finds %s (%d, ends: %v, fix %q), want %s (%d, ends: %v)", got, f.Records, f.Ends, f.Fix, tt.want, tt.records, tt.ends)
			}
			if tt.line > 0 && (len(f.Examples) == 0 || f.Examples[0].Line != tt.line) {
				t.Errorf("examples are %+v, want line %d", f.Examples, tt.line)
			}
		})
	}
	spec := checkOf(t, "train.csv", sound)
	spec.Files = []string{write(t, "other.csv", "b,t,y\n1,2,0\n")}
	if _, err := Check(t.Context(), spec, nil); err == nil || !strings.Contains(err.Error(), "no column a, which input.columns names") {
		t.Errorf("a column that is not there is %v", err)
	}
}

// TestCheckSplit verifies the findings of records that a split holds out, by number and by a cell: each with this fault
// alone, and sound ones without one.
func TestCheckSplit(t *testing.T) {
	share := 0.5
	byDay := func(rows, day string) string { return strings.ReplaceAll(rows, "\n", ","+day+"\n") }
	sound := byDay(soundRows(200, 1), "1")
	distinct := ""
	for i := range 200 {
		distinct += fmt.Sprintf("%d,w%d,%d,1\n", i*7%211, i%5, i/3%2)
	}
	byNumber := input.Split{Share: &share}
	apart, parts := int64(0), byNumber.Parts(400)
	for i := range 200 {
		if parts.Trains(i) != parts.Trains(200+i) {
			apart++
		}
	}
	for name, tt := range map[string]struct {
		split   input.Split
		content string
		want    string // "" for none
		records int64
		line    int64
		ends    bool
	}{
		"fault=none":             {split: input.Split{By: "day", From: "2"}, content: sound + byDay(soundRows(100, 2), "2")},
		"fault=none, by number":  {split: byNumber, content: distinct},
		"fault=number":           {split: input.Split{By: "day", From: "2"}, content: sound + byDay(soundRows(100, 2)+"x,w1,1\n", "2"), want: `column a: input.split: is "x", want a number`, records: 1, line: 302, ends: true},
		"fault=no cell":          {split: input.Split{By: "day", From: "2"}, content: sound + byDay(soundRows(100, 2), "2") + byDay("1,w1,0\n", ""), want: "column day: input.split.by: missing, so that the records train", records: 1},
		"fault=same records":     {split: byNumber, content: distinct + distinct, want: "records are in input.train and in input.split", records: apart},
		"fault=few of a class":   {split: input.Split{By: "day", From: "2"}, content: sound + byDay(strings.ReplaceAll(soundRows(100, 2), ",1\n", ",0\n"), "2"), want: "column y: the class 1 has fewer than 10 validation records: its metrics are chance"},
		"fault=texts of its own": {split: input.Split{By: "day", From: "2"}, content: sound + byDay(strings.ReplaceAll(soundRows(100, 2), ",w4,", ",new,"), "2"), want: "column t: texts that only validation records have", records: 1},
	} {
		t.Run(name, func(t *testing.T) {
			spec := checkOf(t, "train.csv", "")
			spec.Files, spec.Split = []string{write(t, "split.csv", "a,t,y,day\n"+tt.content)}, tt.split
			r, err := Check(t.Context(), spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			f, got := oneFinding(t, r, tt.want != "")
			if f == nil {
				return
			}
			if got != tt.want || f.Records != tt.records || f.Ends != tt.ends || tt.line > 0 && f.Examples[0].Line != tt.line {
				t.Errorf("finds %+v, want %s (%d, ends: %v, line %d)", f, tt.want, tt.records, tt.ends, tt.line)
			}
		})
	}
	spec := checkOf(t, "train.csv", soundRows(20, 1))
	spec.Split = input.Split{By: "a", From: "1e9"}
	if _, err := Check(t.Context(), spec, nil); err == nil || err.Error() != "input.split: no validation records: {by: a, from: 1e9}" {
		t.Errorf("a split without validation records is %v", err)
	}
}

// TestCheckTogether verifies that columns of which only validation records have texts share a finding if they are many.
func TestCheckTogether(t *testing.T) {
	for columns, want := range map[int]string{3: "texts that only validation records have", 4: "4 columns (t1, t2, t3, t4) have texts that only validation records have"} {
		names, words := fmt.Sprintf("t1..t%d", columns), func(i int, word string) string {
			return fmt.Sprintf("%d,%d", i%2, i%50) + strings.Repeat(fmt.Sprintf(",%s%d", word, i%3), columns) + "\n"
		}
		var train, eval strings.Builder
		for i := range 100 {
			train.WriteString(words(i, "w"))
			eval.WriteString(words(i+7, []string{"w", "new"}[i/99]))
		}
		plan, err := column.Compile([]column.Column{{Label: &column.LabelOptions{Names: []string{"y"}}}, {Key: &column.KeyOptions{Names: []string{"a"}}}, {Categorical: &column.CategoricalOptions{Names: []string{names}, Hash: 64}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		spec := func(name, content string) *convert.Spec {
			return &convert.Spec{Origin: convert.Origin{Format: "csv", Files: []string{write(t, name, content)}}, Columns: plan, LabelRule: input.Labels{Binary: true}}
		}
		r, err := Check(t.Context(), spec("train.csv", train.String()), spec("eval.csv", eval.String()))
		if err != nil {
			t.Fatal(err)
		}
		var whats []string
		for _, f := range r.Findings {
			if strings.Contains(f.What, "only validation") {
				whats = append(whats, f.What)
			}
		}
		if len(whats) != max(1, columns%4) || !slices.Contains(whats, want) {
			t.Errorf("%d columns: %q, want %s", columns, whats, want)
		}
	}
}

// TestCheckClasses verifies that classes are those of the job: a class that training records do not have ends the job,
// and so does a single one; a label that is written in several ways is one class; a regression has none.
func TestCheckClasses(t *testing.T) {
	texts := strings.NewReplacer(",0\n", ",no\n", ",1\n", ",yes\n")
	forms := strings.NewReplacer("1,0\n", "1,0.0\n", "2,0\n", "2,00\n", "1,1\n", "1,1.0\n")
	for name, tt := range map[string]struct {
		labels      input.Labels
		train, eval string
		want        string // "" for none
		ends        bool
	}{
		"classes=learnt, of eval alone": {input.Labels{Names: input.LearnClasses()}, texts.Replace(soundRows(200, 1)), texts.Replace(soundRows(100, 2)) + "1,w1,maybe\n", `input.eval: is "maybe", want one of no, yes`, true},
		"classes=learnt, one":           {input.Labels{Names: input.LearnClasses()}, strings.ReplaceAll(soundRows(200, 1), ",1\n", ",0\n"), soundRows(100, 2), `the label is "0" in each training record, want two classes or more`, true},
		"classes=learnt, in two ways":   {input.Labels{Names: input.LearnClasses()}, forms.Replace(soundRows(200, 1)), soundRows(100, 2), "", false},
		"classes=numbers, in two ways":  {input.Labels{Classes: 2}, forms.Replace(soundRows(200, 1)), soundRows(100, 2), "", false},
		"classes=none":                  {input.Labels{}, soundRows(200, 1), soundRows(9, 2), "", false},
	} {
		train, eval := checkOf(t, "train.csv", tt.train), checkOf(t, "eval.csv", tt.eval)
		train.LabelRule, eval.LabelRule = tt.labels, tt.labels
		r, err := Check(t.Context(), train, eval)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []Finding
		for _, f := range r.Findings {
			if f.Column == "y" {
				got = append(got, f)
			}
		}
		if tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || got[0].What != tt.want || got[0].Ends != tt.ends) {
			t.Errorf("%s: findings are %+v, want %q", name, got, tt.want)
		}
	}
}

// TestCheckClassOfMissing verifies that a label that is a word for missing is found where it is a class, and that the
// line to write leaves its records out.
func TestCheckClassOfMissing(t *testing.T) {
	content := strings.NewReplacer(",0\n", ",No\n", ",1\n", ",Yes\n").Replace(soundRows(200, 1)) + "1,w1,NA\n,w2,NA\n?,w1,No\n"
	for _, more := range []string{"", "1,w1,\n"} { // with a label that is missing, too
		spec := checkOf(t, "train.csv", content+more)
		spec.LabelRule, spec.Tolerate = input.Labels{Names: input.LearnClasses()}, true
		r, err := Check(t.Context(), spec, nil)
		if err != nil || !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.What == "the class NA is a word for missing" }) {
			t.Errorf("findings are %+v, error %v", r.Findings, err)
		}
	}
	spec := checkOf(t, "train.csv", content)
	spec.LabelRule = input.Labels{Names: input.LearnClasses()}
	r, err := Check(t.Context(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Finding{Column: "y", What: "the class NA is a word for missing", Records: 2, Fix: `input.missing: ["NA", "?"], which leaves the records out`}
	if !reflect.DeepEqual(r.Findings, []Finding{want}) {
		t.Fatalf("findings are %+v, want %+v", r.Findings, want)
	}
	spec = checkOf(t, "train.csv", content)
	spec.LabelRule, spec.Tolerate = input.Labels{Names: input.LearnClasses()}, true
	spec.Columns.SetMissing([]string{"NA", "?"})
	if r, err = Check(t.Context(), spec, nil); err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 || r.Findings[0].What != "input.train: is missing, want a label" || r.Findings[0].Records != 2 || r.Records != 201 {
		t.Errorf("with it %d records count, and findings are %+v", r.Records, r.Findings)
	}
}

// TestCheckDates verifies the findings of a column of dates: a day that is none, a second layout, and a word that is no
// date, each alone; a word for missing, and days that are all distinct, are none.
func TestCheckDates(t *testing.T) {
	for name, tt := range map[string]struct{ cell, want string }{
		"cell=date":       {"2026-06-01", ""},
		"cell=missing":    {"NA", ""},
		"cell=no day":     {"2026-02-31", "2026-02-31"},
		"cell=of another": {"31/12/2025", "31/12/2025"},
		"cell=word":       {"soon", "soon"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for i := range 200 {
				fmt.Fprintf(&b, "2026-%02d-%02d,w%d,%d\n", 1+i/28, 1+i%28, i%5, i/3%2)
			}
			spec := checkOf(t, "train.csv", b.String()+tt.cell+",w1,1\n")
			plan, err := column.Compile([]column.Column{
				{Label: &column.LabelOptions{Names: []string{"y"}}}, {Time: &column.TimeOptions{Names: []string{"a"}, Parts: []string{"days"}}},
				{Categorical: &column.CategoricalOptions{Names: []string{"t"}, Hash: 10}},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			plan.SetMissing(nil)
			spec.Columns = plan
			r, err := Check(t.Context(), spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				if len(r.Findings) > 0 {
					t.Errorf("finds %+v", r.Findings)
				}
				return
			}
			if len(r.Findings) != 1 || !r.Findings[0].Ends || r.Findings[0].Column != "a" || r.Findings[0].Examples[0].Text != tt.want || r.Findings[0].Examples[0].Line != 202 {
				t.Errorf("finds %+v, want %s in line 202", r.Findings, tt.want)
			}
		})
	}
}

// TestCheckMissing verifies that words of input.missing are missing in the columns of the table, and nowhere counted as
// values or numbers: those of a list, and those of no list in numbers alone.
func TestCheckMissing(t *testing.T) {
	content := soundRows(200, 1) + "NA,NA,0\n-1,none,1\n"
	for name, tt := range map[string]struct {
		list []string
		want string // of the columns a and t: missing, and values
	}{
		"list=none": {nil, `[{NA 1}] min -1, [] with 7`},
		"list=two":  {[]string{"none", "-1", "NA"}, `[{-1 1} {NA 1}] min 0.1, [{NA 1} {none 1}] with 5`},
	} {
		t.Run(name, func(t *testing.T) {
			spec := checkOf(t, "train.csv", content)
			spec.Columns.SetMissing(tt.list)
			r, err := Check(t.Context(), spec, nil)
			if err != nil || len(r.Findings) > 0 {
				t.Fatalf("findings %+v, error %v", r.Findings, err)
			}
			a, w := r.Columns[0], r.Columns[1]
			if got := fmt.Sprintf("%v min %g, %v with %d", a.Missing, a.Numbers.Min, w.Missing, len(w.Values)); got != tt.want {
				t.Errorf("columns are %s, want %s", got, tt.want)
			}
		})
	}
}

// TestCheckLabels verifies what the check says to write where the labels of the job are texts, none of its classes, or
// learnt.
func TestCheckLabels(t *testing.T) {
	texts := strings.NewReplacer(",0\n", ",no\n", ",1\n", ",yes\n").Replace(soundRows(200, 1))
	for name, tt := range map[string]struct {
		labels    input.Labels
		what, fix string
	}{
		"labels=numbers": {input.Labels{Binary: true}, `is "no", want a number, or model.classes: auto`, "model.classes: auto"},
		"labels=others":  {input.Labels{Names: input.NewClasses([]string{"no", "maybe"})}, `is "yes", want one of no, maybe`, "the class into model.classes, or mend the lines, or input.max_bad_records: N"},
		"labels=learnt":  {input.Labels{Names: input.LearnClasses()}, "", ""},
	} {
		s := checkOf(t, "train.csv", texts)
		s.LabelRule = tt.labels
		r, err := Check(t.Context(), s, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var of []Finding
		for _, f := range r.Findings {
			if f.Column == "y" && f.Ends {
				of = append(of, f)
			}
		}
		switch {
		case tt.what == "" && len(of) > 0:
			t.Errorf("%s: found %+v, want nothing", name, of)
		case tt.what != "" && (len(of) != 1 || !strings.Contains(of[0].What, tt.what) || of[0].Fix != tt.fix):
			t.Errorf("%s: found %+v, want %s, and to write %s", name, of, tt.what, tt.fix)
		}
	}
}

// TestCheckPassesOver verifies that a record with a bad cell, which a job with max_bad_records passes over, is in
// no count, mean or set of values of the table, as in training, and that it is found all the same.
func TestCheckPassesOver(t *testing.T) {
	for content, records := range map[string]int64{soundRows(200, 1) + "1e30,w9,oops\n": 200, "1e30,w9,oops\n": 0} {
		spec := checkOf(t, "train.csv", content)
		spec.Tolerate = true
		r, err := Check(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) != 1 || r.Findings[0].Records != 1 || r.Err() != nil {
			t.Errorf("%d records: findings are %+v, want the bad cell alone", records, r.Findings)
		}
		if a, w := r.Columns[0], r.Columns[1]; r.Records != records || a.Records != records || a.Numbers != nil && a.Numbers.Max > 50 || w.Distinct > 5 {
			t.Errorf("%d records: the table is %+v", records, r.Columns)
		}
	}
}

// TestArea verifies the AUC of points by hand: an order, ties, and its reverse.
func TestArea(t *testing.T) {
	for want, points := range map[float64][]point{
		1:     {{1, false}, {2, false}, {3, true}},
		0:     {{1, true}, {2, false}},
		0.5:   {{1, true}, {1, false}},
		0.875: {{1, false}, {2, false}, {2, true}, {3, true}},
	} {
		if got := area(points); got != want {
			t.Errorf("AUC of %v is %g, want %g", points, got, want)
		}
	}
}
