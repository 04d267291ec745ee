package look

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringtrain/docs"
	"ringtrain/input/column"
	"ringtrain/input/synth"
	"ringtrain/ring/exitcode"
)

// write writes a file and returns its name.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// lookAt looks at a file of a content.
func lookAt(t *testing.T, content, label string) (*Table, error) {
	t.Helper()
	files := []string{write(t, "f.csv", content)}
	return Look(t.Context(), Options{Names: files, Label: label})
}

// TestRules verifies what becomes of each sort of column, and the reason.
func TestRules(t *testing.T) {
	for name, tt := range map[string]struct {
		cell    func(i int) string
		becomes string
		why     string
	}{
		"column=empty":          {func(int) string { return "" }, "ignore", "empty in each record"},
		"column=constant":       {func(int) string { return "x" }, "ignore", "x in each record"},
		"column=one number":     {func(int) string { return "7" }, "ignore", "7 in each record"},
		"user_id":               {func(i int) string { return fmt.Sprint("u", i) }, "key", "500 values, each once"},
		"PassengerId":           {func(i int) string { return fmt.Sprint(i) }, "key", "500 values, each once"},
		"paid":                  {func(i int) string { return fmt.Sprint("u", i) }, "ignore", "500 texts in 500 cells: hardly one comes twice"},
		"column=iso":            {func(i int) string { return fmt.Sprintf("2026-01-%02d", 1+i%28) }, "time", "dates, layout auto"},
		"column=european":       {func(i int) string { return fmt.Sprintf("%02d/02/2026 10:%02d", 1+i%28, i%60) }, "time", "dates, layout %d/%m/%Y %H:%M"},
		"column=layouts":        {func(i int) string { return []string{"2026-01-05", "05.01.2026"}[i%2] }, "ignore", `dates of several layouts, as in "05.01.2026", "2026-01-05"`},
		"column=list":           {func(i int) string { return []string{"a|b", "b|c|d", "a"}[i%3] }, "categorical", "lists with | in 334 of 500 cells"},
		"column=text":           {func(i int) string { return fmt.Sprintf("the %d of us", i/2) }, "text", "text, 4.0 words a cell"},
		"column=row":            {func(i int) string { return fmt.Sprint(i + 5) }, "ignore", "5 to 504, one more in each record"},
		"column=rare":           {func(i int) string { return fmt.Sprintf("w%dx", i/2*2%400) }, "categorical", "200 texts"},
		"column=yes":            {func(i int) string { return []string{"yes", "no"}[i%2] }, "categorical", "2 texts: no, yes"},
		"column=true":           {func(i int) string { return []string{"true", "false"}[i%2] }, "categorical", "2 texts: false, true"},
		"column=numbers":        {func(i int) string { return fmt.Sprint(i * 7 % 50) }, "numeric", "numbers 0 to 49, mean 24.5"},
		"column=skewed":         {func(i int) string { return fmt.Sprintf("1e%d", i%6) }, "numeric", "numbers 1 to 100000, mean 18444.4"},
		"column=words":          {func(i int) string { return []string{"NA", "1", "2", ""}[i%4] }, "numeric", "numbers 1 to 2, mean 1.5"},
		"column=one odd":        {func(i int) string { return map[bool]string{true: "oops", false: fmt.Sprint(i % 9)}[i == 77] }, "numeric", "numbers 0 to 8, mean 3.97796"},
		"column=money":          {func(i int) string { return fmt.Sprintf("$%d.50", i%5) }, "numeric", "numbers 0.5 to 4.5, mean 2.5"},
		"column=percent":        {func(i int) string { return fmt.Sprintf("%d.5 %%", i%5) }, "numeric", "numbers 0.5 to 4.5, mean 2.5"},
		"column=thousands":      {func(i int) string { return fmt.Sprintf(`"%d,000"`, 1+i%5) }, "numeric", "numbers 1000 to 5000, mean 3000"},
		"column=three decimals": {func(i int) string { return fmt.Sprintf(`"-%d,125"`, i%5) }, "numeric", "numbers -4.125 to -0.125, mean -2.125"},
		"column=decimals":       {func(i int) string { return fmt.Sprintf(`"%d,5"`, i%5) }, "numeric", "numbers 0.5 to 4.5, mean 2.5"},
		"column=both":           {func(i int) string { return fmt.Sprintf(`"%d.000,5"`, i%5) }, "numeric", "numbers 0.5 to 4000.5, mean 2000.5"},
		"column=currency":       {func(i int) string { return fmt.Sprintf(`"CHF %d,%03d.50"`, 1+i%5, i%50) }, "numeric", "numbers 1000.5 to 5049.5, mean 3025"},
		"column=unit":           {func(i int) string { return fmt.Sprintf("%d m²", i*7%50) }, "numeric", "numbers 0 to 49, mean 24.5"},
		"column=unit or none":   {func(i int) string { return []string{fmt.Sprintf("%d €/m²", i*7%50), "n/a", ""}[i/240] }, "numeric", "numbers 0 to 49, mean 24.4167"},
		"column=few units":      {func(i int) string { return fmt.Sprintf("%d kg", i*7%20) }, "categorical", "20 texts: 0 kg, 1 kg, 10 kg, 11 kg, …"},
		"column=rooms":          {func(i int) string { return fmt.Sprintf("Room %d", i*7%50) }, "categorical", "50 texts"},
		"column=codes":          {func(i int) string { return fmt.Sprintf("%dA", i*7%50) }, "categorical", "50 texts"},
		"column=two units":      {func(i int) string { return fmt.Sprintf("%d k%c", i*7%50, "gm"[i/499]) }, "categorical", "51 texts"},
		"column=e of a unit":    {func(i int) string { return fmt.Sprintf("%de%d metres", 1+i%30, i/250) }, "categorical", "60 texts"},
		"column=some units":     {func(i int) string { return fmt.Sprintf("%d%s", i*7%50, []string{" kg", ""}[i/250]) }, "categorical", "100 texts"},
		"column=numbers in one": {func(i int) string { return fmt.Sprintf("%d %d", i%4, i*7%50) }, "categorical", "100 texts"},
		"column=postcode":       {func(i int) string { return []string{"01234", "8001"}[i%2] }, "categorical", "2 texts: 01234, 8001"},
		"column=partly huge":    {func(i int) string { return []string{"1", "1", "1e300", fmt.Sprintf("2.%de300", i)}[i%4] }, "ignore", "numbers such as 1e300, beyond the range of float32"},
		"column=huge":           {func(i int) string { return fmt.Sprintf("1.%de300", i) }, "ignore", "numbers such as 1.0e300, beyond the range of float32"},
		"column=latin1":         {func(i int) string { return []string{"Z\xfcrich", "Bern"}[i%2] }, "categorical", "2 texts, in 250 cells no UTF-8"},
		"column=two letters":    {func(i int) string { return []string{"1", "2", "A", "B"}[i%4] }, "categorical", "4 texts: 1, 2, A, B"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			fmt.Fprintf(&b, "%s,other,y\n", name)
			for i := range 500 {
				fmt.Fprintf(&b, "%s,%d,%d\n", tt.cell(i), i%7, i%2)
			}
			table, err := lookAt(t, b.String(), "")
			if err != nil {
				t.Fatal(err)
			}
			if c := table.Columns[0]; c.Becomes != tt.becomes || c.Why != tt.why && !strings.HasPrefix(c.Why, tt.why+", skewed") {
				t.Errorf("becomes %s: %s, want %s: %s", c.Becomes, c.Why, tt.becomes, tt.why)
			}
		})
	}
}

// TestTextItems verifies the options of lists and of texts of several words: a vocabulary of lists that are
// UTF-8, without texts that occur once if the lists are many, else a hash, and for a text a hash in the measure of its words.
func TestTextItems(t *testing.T) {
	list := column.CategoricalOptions{Names: []string{"x"}, Separator: "|", Vocabulary: "auto"}
	longList := column.CategoricalOptions{Names: []string{"x"}, Separator: "|", Vocabulary: "auto", MinCount: 2}
	foreignList := column.CategoricalOptions{Names: []string{"x"}, Separator: "|", Hash: 8}
	for name, tt := range map[string]struct {
		cell func(i int) string
		want column.Column
	}{
		"few lists":     {func(i int) string { return []string{"a|b", "c"}[i%2] }, column.Column{Categorical: &list}},
		"many lists":    {func(i int) string { return fmt.Sprintf("a%d|b", i) }, column.Column{Categorical: &longList}},
		"foreign lists": {func(i int) string { return []string{"Z\xfcrich|b", "c"}[i%2] }, column.Column{Categorical: &foreignList}},
		"text":          {func(i int) string { return fmt.Sprintf("one two three %d", i) }, column.Column{Text: &column.TextOptions{Names: []string{"x"}, Hash: 8192, Lower: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("x,y\n")
			for i := range 2000 {
				fmt.Fprintf(&b, "%s,%d\n", tt.cell(i), i%2)
			}
			table, err := lookAt(t, b.String(), "")
			if err != nil {
				t.Fatal(err)
			}
			if got := table.Columns[0].Item([]string{"x"}); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("becomes %+v %+v, want %+v %+v", got.Categorical, got.Text, tt.want.Categorical, tt.want.Text)
			}
		})
	}
}

// TestHours verifies that dates have an hour only if one of them is not midnight in UTC, however midnight is written:
// pandas writes dates alone as text, and as moments in Parquet.
func TestHours(t *testing.T) {
	for cell, want := range map[string]bool{
		"2026-01-%02d": false, "2026-01-%02d 00:00:00": false, "2026-01-%02dT00:00": false, "%02d/02/2026 00:00": false,
		"2026-01-%02d 00:00:01": true, "2026-01-%02d 00:00+02:00": true, "%02d/02/2026 10:00": true,
	} {
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range 60 {
			fmt.Fprintf(&b, cell+",%d\n", 1+i%28, i%2)
		}
		table, err := lookAt(t, b.String(), "")
		if err != nil {
			t.Fatal(err)
		}
		if item := table.Columns[0].Item([]string{"x"}); item.Time == nil || slices.Contains(item.Time.Parts, "hour") != want {
			t.Errorf("%s becomes %+v, want an hour: %t", cell, item.Time, want)
		}
	}
}

// TestSkewed verifies that numbers are skewed if their logarithms are far less so, and never where there are two.
func TestSkewed(t *testing.T) {
	for cell, want := range map[string]bool{"1e%d": true, "%d": false, "flag": false} {
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range 500 {
			text := fmt.Sprintf(strings.ReplaceAll(cell, "flag", "%d"), i%12)
			if cell == "flag" {
				text = fmt.Sprint(i % 50 / 49)
			}
			fmt.Fprintf(&b, "%s,%d\n", text, i%2)
		}
		table, err := lookAt(t, b.String(), "")
		if err != nil {
			t.Fatal(err)
		}
		if c := table.Columns[0]; c.Numbers.Skewed != want {
			t.Errorf("%s: skewed is %v, want %v", cell, c.Numbers.Skewed, want)
		}
	}
}

// rows returns those of the rules in docs/data.md.
func rows() string {
	var b strings.Builder
	for _, r := range rules() {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.ReplaceAll(r.when, "|", `\|`), r.becomes)
	}
	return b.String()
}

// TestRulesOfDocs verifies that docs/data.md has the rules as they are.
func TestRulesOfDocs(t *testing.T) {
	page, _ := docs.Page("data")
	if !strings.Contains(page, rows()) {
		t.Errorf("docs/data.md lacks the rules:\n%s", rows())
	}
}

// TestDialect verifies how separator and header are found.
func TestDialect(t *testing.T) {
	for content, want := range map[string]string{
		"a,b\n1,2\n3,4\n":              `, [a b]`,
		"1,2\n3,4\n":                   `, [c1 c2]`,
		"a;b\n1,5;2\n2,5;3\n":          `; [a b]`,
		"1,5;2,5\n2,5;3,5\n":           `; [c1 c2]`,
		"a\tb\nx, y\t2\n":              "\t [a b]",
		"a|b\n1|2\n":                   `| [a b]`,
		"\xef\xbb\xbfa,b\n1,2\n":       `, [a b]`,
		"p,x,s\nx,x,n\np,s,n\np,x,n\n": `, [c1 c2 c3]`,
		"name,city\nAnn,Bern\nBob,Rom": `, [name city]`,
		",age\n0,5\n1,6\n":             `, [ age]`,
		"a,\"b,c\"\n1,\"x\ny\"\n":      `, [a b,c]`,
		"a,b\n2026-01-02,x\n":          `, [a b]`,
		"2026-01-02,x\n2026-01-03,y\n": `, [c1 c2]`,
		"a,b,c\nx,\"1|2\",3\n":         `, [a b c]`,
	} {
		d := sniffDialect([]byte(content), true)
		if got := fmt.Sprintf("%c %v", d.separator, d.names); got != want {
			t.Errorf("%q is %q, want %q", content, got, want)
		}
	}
}

// TestLabel verifies the classes of a label and their order, and what is a number.
func TestLabel(t *testing.T) {
	for name, tt := range map[string]struct {
		cells string
		want  []string
	}{
		"label=two, rarer last":      {"Yes No No", []string{"No", "Yes"}},
		"label=two, rarer first":     {"a b a", []string{"a", "b"}},
		"label=texts":                {"c a b a", []string{"a", "b", "c"}},
		"label=numbers by value":     {"10 9 2 1", []string{"1", "2", "9", "10"}},
		"label=numbers in two ways":  {"1 1.0 0 0", []string{"0", "1"}},
		"label=fractions":            {"1.5 2.5 3.5", nil},
		"label=numbers with a blank": {"1 0 1 NA 1 0 1", []string{"1", "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			content := "x,y\n"
			for i, cell := range strings.Fields(tt.cells) {
				content += fmt.Sprintf("%d,%s\n", i*i, cell)
			}
			table, err := lookAt(t, content, "")
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(table.Label.Classes, tt.want) {
				t.Errorf("classes are %q, want %q", table.Label.Classes, tt.want)
			}
		})
	}
}

// TestBadFiles verifies the words for files of which no job can be made.
func TestBadFiles(t *testing.T) {
	many := "x,y\n"
	for i := range 10_000 {
		many += fmt.Sprintf("%d,t%d\n", i%7, i)
	}
	for name, tt := range map[string]struct {
		content, label string
		code           int
		want           string
	}{
		"file=empty":             {"", "", exitcode.BadData, "f.csv is empty, want records"},
		"file=header alone":      {"a,y\n", "", exitcode.BadData, "f.csv has a header and no record"},
		"file=one column":        {"y\n1\n0\n", "", exitcode.BadData, "f.csv has one column, want a label and one column more"},
		"label=not named":        {"a,b\n1,2\n2,3\n", "", exitcode.Usage, "which column is to be predicted? want --label COLUMN, one of a, b"},
		"label=without header":   {"1,2\n2,3\n", "", exitcode.Usage, "want --label COLUMN, one of c1, c2; the file has no header, and begins with \"1,2\""},
		"label=misspelt":         {"age,b\n1,2\n2,3\n", "aeg", exitcode.Usage, "--label aeg: no such column (did you mean age?); the columns are age, b"},
		"label=two by name":      {"y,label\n1,2\n2,3\n", "", exitcode.Usage, "y and label may be the label: want --label COLUMN"},
		"label=twice":            {"y,y,a\n1,2,3\n2,3,4\n", "y", exitcode.Usage, "--label y: two columns have this name, want one"},
		"label=one value":        {"a,y\n1,no\n2,no\n", "", exitcode.BadData, "the label y is no in each record, want two classes or more, or numbers"},
		"label=10,000 values":    {many, "", exitcode.BadData, `the label y has 10000 texts, as in "t0", "t1", "t2", want at most 100 classes, or numbers: a job leaves characters out of them by strip`},
		"label=empty":            {"a,y\n1,\n2,\n", "", exitcode.BadData, "the label y is empty in each record"},
		"columns=none of use":    {"id,y\n1,1\n2,0\n3,1\n", "", exitcode.BadData, "no column can tell the label y: id (3 values, each once)"},
		"file=JSON lines":        {"{\"a\": 1, \"y\": 0}\n", "", exitcode.BadData, "f.csv is JSON, want one of idx, images, tfrecord"},
		"file=CR alone":          {"a,y\r1,2\r2,3\r", "", exitcode.BadData, "f.csv ends its lines with CR alone, want LF or CR LF"},
		"file=aligned":           {"a    y\n1    2\n2    3\n", "", exitcode.BadData, "f.csv has several blanks between columns, want one separator"},
		"file=aligned, ragged":   {"  a    y\n100    2\n  2    3\n", "", exitcode.BadData, "f.csv has several blanks between columns, want one separator"},
		"label=Latin-1":          {"a,y\n1,Z\xfcrich\n2,Bern\n", "", exitcode.BadData, "which is no UTF-8: iconv"},
		"label=a range":          {"a,b..c\n1,2\n2,3\n", "b..c", exitcode.BadData, "the label b..c: its name reads as a range of columns"},
		"file=no text":           {"PK\x03\x04zip", "", exitcode.BadData, "f.csv is zip (or .xlsx, .npz): unpack it, or use gzip or zstd"},
		"header=of another file": {"", "", exitcode.BadData, "the header is"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Names: []string{write(t, "f.csv", tt.content)}, Label: tt.label}
			if name == "header=of another file" {
				o.Names = []string{write(t, "f.csv", "a,y\n1,2\n"), write(t, "g.csv", "b,y\n1,2\n")}
			}
			_, err := Look(t.Context(), o)
			if err == nil || exitcode.Of(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v (%d), want %q (%d)", err, exitcode.Of(err), tt.want, tt.code)
			}
		})
	}
}

// TestKey verifies which column becomes the key: those that are asked for, else the first by its name.
func TestKey(t *testing.T) {
	content := "id,a,uuid,y\n"
	for i := range 30 {
		content += fmt.Sprintf("k%d,%d,u%d,%d\n", i, i%7, i, i%2)
	}
	for asked, want := range map[string]string{"": "key numeric ignore label", "uuid": "ignore numeric key label", "a": "ignore key ignore label"} {
		o := Options{Names: []string{write(t, "f.csv", content)}}
		if asked != "" {
			o.Keys = []string{asked}
		}
		table, err := Look(t.Context(), o)
		if asked == "a" {
			if err == nil || !strings.Contains(err.Error(), "no column can tell") {
				t.Errorf("without a column that is read: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range table.Columns {
			got = append(got, c.Becomes)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("--key %s: columns become %q, want %s", asked, got, want)
		}
	}
	_, err := Look(t.Context(), Options{Names: []string{write(t, "f.csv", content)}, Keys: []string{"uid"}})
	if exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "--key uid: no such column (did you mean") {
		t.Errorf("a misspelt key is %v", err)
	}
}

// TestAsked verifies that a label of few numbers is one with --regression, that the column of --weight becomes the
// weight, and the words for columns that cannot.
func TestAsked(t *testing.T) {
	content := "stars,w,a,plan\n"
	for i := range 30 {
		content += fmt.Sprintf("%d,%d.5,%d,%s\n", 1+i%5, i%3, i%7, []string{"basic", "pro"}[i%2])
	}
	o := Options{Names: []string{write(t, "f.csv", content)}, Label: "stars", Number: true, Weight: "w"}
	table, err := Look(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if l := table.Label; l.Classes != nil || l.Numbers == nil || table.Columns[1].Becomes != "weight" || table.Columns[2].Becomes != "numeric" {
		t.Errorf("the label is %+v, the columns become %+v, want a number, a weight, and a feature", l, table.Columns)
	}
	svm := write(t, "f.libsvm", "1 1:1\n0 2:1\n1 3:1\n")
	for name, tt := range map[string]struct {
		file, label, weight string
		number              bool
		code                int
		want                string
	}{
		"label=texts":      {o.Names[0], "plan", "", true, exitcode.BadData, `the label plan has 2 texts, as in "basic", "pro", want numbers for --regression`},
		"weight=label":     {o.Names[0], "stars", "stars", false, exitcode.Usage, "--weight stars: the column is the label"},
		"weight=misspelt":  {o.Names[0], "stars", "x", false, exitcode.Usage, "--weight x: no such column"},
		"weight=texts":     {o.Names[0], "stars", "plan", false, exitcode.BadData, "--weight plan: the column has basic, want numbers from 0"},
		"weight=negative":  {write(t, "f.csv", "y,w,a\n1,-1,2\n0,1,3\n1,1,2\n"), "y", "w", false, exitcode.BadData, "--weight w: the column has -1, want numbers from 0"},
		"weight=twice":     {write(t, "f.csv", "y,w,w\n1,1,2\n0,1,3\n"), "y", "w", false, exitcode.Usage, "--weight w: 2 columns have this name"},
		"weight=of LibSVM": {svm, "", "w", false, exitcode.Usage, "is of the format libsvm, whose records have no columns"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Look(t.Context(), Options{Names: []string{tt.file}, Label: tt.label, Weight: tt.weight, Number: tt.number})
			if exitcode.Of(err) != tt.code || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("%v (%d), want %q (%d)", err, exitcode.Of(err), tt.want, tt.code)
			}
		})
	}
}

// TestOddInput verifies what becomes of names that cannot be used, lines that are no record, cells that do not
// fit, 31 February, and labels that are missing: each is told with its place, and counted.
func TestOddInput(t *testing.T) {
	content := "x,x,,a..b,n,day,y\n"
	for i := range 400 {
		content += fmt.Sprintf("1,%d,%d,%d,%d,2026-03-%02d,%d\n", i%3, i%3, i%3, i%9, 1+i%28, i%2)
	}
	content += "1,2,3\n1,1,1,1,many,2026-02-31,1\n1,1,1,1,5,2026-03-01,\n"
	table, err := lookAt(t, content, "")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"2 columns have this name", "2 columns have this name", "has no name in the header", "its name reads as a range of columns"} {
		if c := table.Columns[i]; c.Becomes != "ignore" || c.Why != want {
			t.Errorf("column %d becomes %s: %s, want ignore: %s", i, c.Becomes, c.Why, want)
		}
	}
	notices := strings.Join(table.Notices(), "\n")
	for _, want := range []string{
		":402: has 3 fields, want 7: no record", "1 records have no label y", `:403: n is "many", 1 times: want a number`, `:403: day is "2026-02-31", 1 times: want a date`,
	} {
		if !strings.Contains(notices, want) {
			t.Errorf("notices are\n%s\nwant %s", notices, want)
		}
	}
	if n := table.BadRecords(); n != 4 { // a line, a number, a date, a label
		t.Errorf("%d bad records, want 4", n)
	}
}

// TestNotices verifies what a person is told beside the columns, each of a file that has it alone.
func TestNotices(t *testing.T) {
	rows := func(format string, cells ...string) string {
		text := "x,d,y\n"
		for i := range 60 {
			text += fmt.Sprintf(format, i*i%50, cells[i%len(cells)]) + "\n"
		}
		return text
	}
	for name, tt := range map[string]struct{ content, want string }{
		"notice=none":              {rows("%d,%s,1.5", "a", "b"), ""},
		"notice=class of missing":  {rows("%d,w,%s", "a", "b", "NA"), `20 records have the label NA, which is a class of its own: input.missing: ["NA"] leaves them out`},
		"notice=layouts":           {rows("%d,%s,1.5", "02/03/2026", "11/12/2025"), "d: the dates fit the layouts %d/%m/%Y and %m/%d/%Y: the first is taken"},
		"notice=commas":            {rows(`%d,"%s",1.5`, "1,234", "2,345"), "d: commas are taken for those between thousands, and no number tells"},
		"notice=none of a million": {rows(`%d,"%s",1.5`, "1,234", "2,345,678"), ""},
		"notice=none of a cent":    {rows(`%d,"%s",1.5`, "1,234", "0,345"), ""},
		"notice=no UTF-8":          {rows("%d,%s,1.5", "Bern", "Z\xfcrich"), `f.csv:3: d is "Z\xfcrich", and 30 cells of the column are no UTF-8: iconv`},
	} {
		t.Run(name, func(t *testing.T) {
			content := strings.Replace(tt.content, ",1.5\n", ",2.5\n", 1)
			table, err := lookAt(t, content, "")
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(table.Notices(), "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("notices are %q, want %q", got, tt.want)
			}
		})
	}
}

// TestLargeInput verifies 20,000 columns, a cell of 5 MB, and more values than are told apart: their number
// is an estimate, and the same again.
func TestLargeInput(t *testing.T) {
	var wide strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&wide, "x%d,", i)
	}
	wide.WriteString("y\n")
	for r := range 4 {
		wide.WriteString(strings.Repeat(fmt.Sprint(r*r, ","), 20_000) + fmt.Sprint(r%2, "\n"))
	}
	table, err := lookAt(t, wide.String(), "")
	if err != nil || len(table.Columns) != 20_001 || table.Columns[19_999].Becomes != "numeric" {
		t.Fatalf("20,000 columns: %v", err)
	}
	table, err = lookAt(t, "a,t,y\n1,"+strings.Repeat("word ", 1_000_000)+",1\n2,b,0\n", "")
	if err != nil || table.Records != 2 {
		t.Fatalf("a cell of 5 MB: %v", err)
	}
	var b strings.Builder
	b.WriteString("a,t,y\n")
	for i := range 300_000 {
		fmt.Fprintf(&b, "%d,t%d,%d\n", i%3, i/2, i%2)
	}
	first, err := lookAt(t, b.String(), "")
	if err != nil {
		t.Fatal(err)
	}
	c := first.Columns[1]
	if !c.Estimate || c.Distinct < 145_000 || c.Distinct > 155_000 || c.unique {
		t.Errorf("%d distinct (estimate: %v, unique: %v), want about 150,000", c.Distinct, c.Estimate, c.unique)
	}
	again, err := lookAt(t, b.String(), "")
	if err != nil {
		t.Fatal(err)
	}
	if again.Columns[1].Distinct != c.Distinct || again.Columns[0].Numbers.Mean != first.Columns[0].Numbers.Mean {
		t.Error("another look finds other numbers")
	}
}

// TestDrawnTable verifies what becomes of each column of a drawn raw table, and that it has words for missing,
// empty cells, booleans, dates and lists.
func TestDrawnTable(t *testing.T) {
	text := []byte(synth.TableHeader)
	for i := range 5000 {
		text = synth.Table{Seed: 3}.AppendRow(text, i)
	}
	table, err := lookAt(t, string(text), "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range table.Columns {
		missing := ""
		for _, m := range c.Missing {
			missing += fmt.Sprintf(" %q", m.Text)
		}
		got = append(got, c.Name+": "+c.Becomes+missing)
	}
	want := []string{
		"customer_id: key", "signup: time", `age: numeric "NA"`, `income: numeric "?"`, "plan: categorical", `city: categorical ""`, "active: categorical",
		`genres: categorical ""`, "visits: numeric", "churn: label",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("columns are\n%q\nwant\n%q", got, want)
	}
	if classes := table.Label.Classes; !reflect.DeepEqual(classes, []string{"No", "Yes"}) {
		t.Errorf("classes are %q", classes)
	}
}
