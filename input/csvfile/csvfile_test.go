package csvfile

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/text"
	"ringtrain/ring/exitcode"
)

// columns are a label, two numbers and two texts.
func columns(t testing.TB) *column.Plan {
	t.Helper()
	p, err := column.Compile([]column.Column{
		{Label: &column.LabelOptions{Names: []string{"y"}}},
		{Numeric: &column.NumericOptions{Names: []string{"I1..I2"}, Standardize: true}},
		{Categorical: &column.CategoricalOptions{Names: []string{"C1"}, Vocabulary: "auto"}},
		{Categorical: &column.CategoricalOptions{Names: []string{"C2"}, Hash: 100}},
		{Ignore: &column.IgnoreOptions{Names: []string{"comment"}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func written(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func config(t testing.TB) Config {
	return Config{Format: "csv", Columns: columns(t), Header: true, Labels: input.Labels{Binary: true}, Learn: true}
}

// TestTrim verifies that blanks around texts, names and quotes do not count with Trim: the records are those of a file
// without the blanks, also where a quoted field has a line end.
func TestTrim(t *testing.T) {
	var read [2]input.Batch
	for i, content := range []string{
		" C1,\tcomment , y, I2,I1 ,C2\n red , \"a, b\n c\" ,1, 2,1 , \" x \"\n \"gr\"\"een\",,0,4\t,3,\" \"\n",
		"C1,comment,y,I2,I1,C2\nred,\"a, b\n c\",1,2,1,x\n\"gr\"\"een\",,0,4,3,\n",
	} {
		from := config(t)
		from.Trim = i == 0
		from.Columns.Trim = from.Trim
		s, err := Open(t.Context(), []string{written(t, "a.csv", content)}, from)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if n := s.Facts().Records; n != 2 {
			t.Fatalf("%d records, want 2", n)
		}
		if err := s.Append(&read[i], 0, 1); err != nil {
			t.Fatal(err)
		}
	}
	a, b := &read[0], &read[1]
	if !slices.Equal(a.Y, b.Y) || !slices.Equal(a.X.Dense.Data, b.X.Dense.Data) || !slices.Equal(a.X.Bags.Slot, b.X.Bags.Slot) {
		t.Errorf("%v %v %v, want %v %v %v", a.Y, a.X.Dense.Data, a.X.Bags.Slot, b.Y, b.X.Dense.Data, b.X.Bags.Slot)
	}
	from := config(t)
	from.Trim = true
	if _, err := Open(t.Context(), []string{written(t, "b.csv", "C1,comment,y,I2,I1,C2\n\"a\" b,,1,2,1,x\n")}, from); err == nil || !strings.Contains(err.Error(), "behind the quote at its end") {
		t.Errorf("error %v of a text behind a quote", err)
	}
}

// TestOpen verifies records of a file with a header in another order, quotes, line ends within
// quotes, \r\n, missing values, a byte order mark and no end of the last line.
func TestOpen(t *testing.T) {
	path := written(t, "a.csv", "\xef\xbb\xbfC1,comment,y,\"I2\",I1,C2,more\r\n"+
		"red,\"a, \"\"b\"\"\r\nc\",1,2,1,x,\r\n"+
		"\r\n"+
		"\"gr\"\"een\",,0,4,3,,7\r\n"+
		"red,,0,6,,x,")
	from := config(t)
	s, err := Open(t.Context(), []string{path}, from)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b input.Batch
	for i := range s.Facts().Records {
		if err := s.Append(&b, i); err != nil {
			t.Fatal(err)
		}
	}
	c := from.Columns.Columns()
	if !slices.Equal(c.Bags[0].Vocabulary, []string{"red", `gr"een`}) || s.Facts().Features != 103 {
		t.Fatalf("%d features, columns %+v", s.Facts().Features, c)
	}
	if !slices.Equal(b.Y, []float32{1, 0, 0}) {
		t.Errorf("labels %v", b.Y)
	}
	if m, d := c.Dense[1].Mean, b.X.Dense.Row(1)[1]; m != 4 || d != 0 {
		t.Errorf("I2 has the mean %g, and 4 is %g, want 4 and 0", m, d)
	}
	if m := c.Dense[0].Mean; m < 1.33 || m > 1.34 {
		t.Errorf("I1 has the mean %g, want that of 1, 3 and 0 for what is missing", m)
	}
	x := 3 + uint32(93) // of the fingerprint of x modulo 100
	if got := b.X.Bags.Slot; len(got) != 5 || got[0] != 0 || got[2] != 1 || got[3] != 0 || got[1] != got[4] {
		t.Errorf("ids %v, want 0, that of x, 1, 0, that of x (such as %d)", got, x)
	}
}

// TestOrder verifies that the items name the columns of a file without a header, with tabs.
func TestOrder(t *testing.T) {
	c := config(t)
	c.Header, c.Separator, c.NoQuotes = false, '\t', true
	s, err := Open(t.Context(), []string{written(t, "a.tsv", "1\t2\t3\t\"red\tx\tcomment\n0\t4\t5\tblue\t\t\n")}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := c.Columns.Columns(); !slices.Equal(got.Bags[0].Vocabulary, []string{`"red`, "blue"}) || got.Dense[1].Mean != 4 {
		t.Errorf("columns %+v", got)
	}
}

// TestBadFiles verifies that a fault of a file is an error that names file and line, with the
// code 65.
func TestBadFiles(t *testing.T) {
	const header = "y,I1,I2,C1,C2,comment\n"
	for _, tt := range []struct{ name, content, want string }{
		{"too many", header + "1,2,3,a,b,c\n1,2,3,a,b,c,d\n", ":3: record 1 at byte 34: has 7 fields, want 6"},
		{"too few", header + "1,2,3\n", ":2: record 0 at byte 22: has 3 fields, want 6"},
		{"wrong type", header + "1,two,3,a,b,c\n", `column I1 is "two", want a number`},
		{"wrong label", header + "3,2,3,a,b,c\n", "column y label is 3"},
		{"no label", header + ",2,3,a,b,c\n", "column y is missing"},
		{"open quote", header + "1,2,3,\"a,b,c\n", "field 4: no quote at its end"},
		{"open quote over lines", header + "1,2,3,\"a,b,c\n1,2,3,a,b,c\n", "bad.csv:2: record 0 at byte 22: field 4: no quote at its end, in 2 lines"},
		{"open quote, and one in a field", header + "1,2,3,\"a,b,c\n1,2,3,5\",b,c\n1,2,\"3,a,b,c\n", "bad.csv:4: record 1 at byte 48: field 3: no quote at its end, in 1 line"},
		{"byte 0", header + "1,2,3,a\x00,b,c\n", "bad.csv:2: record 0 at byte 22: byte 7 of the line is 0, want text"},
		{"quotes around records", header + "1,2,3,\"a,b,c\n1,2,3,x,b,c\n1,2,3,y,b,c\n1,2,3,a\",b,c\n", "has quotes around 2 lines of 6 fields each: a quote may not be closed"},
		{"separator ;", "y;I1;I2;C1;C2;comment\n1;2;3;a;b;c\n", `no column y, which input.columns names; the header has ["y;I1;I2;C1;C2;comment"]; want separator: ";"`},
		{"separator |", "y|I1|I2|C1|C2|comment\n1|2|3|a|b|c\n", `; want separator: "|"`},
		{"separator tab", "y\tI1\tI2\tC1\tC2\tcomment\n1\t2\t3\ta\tb\tc\n", `; want separator: tab`},
		{"quoted names and ;", "\"y\";\"I1\"\n1;2\n", `: a quote may not be closed; want separator: ";"`},
		{"behind a quote", header + "1,2,3,\"a\"b,b,c\n", "field 4: 'b' behind the quote at its end, want the separator ',': a quote may not be closed"},
		{"missing column", "y,I1,C1,C2\n1,2,a,b\n", `bad.csv: no column I2, which input.columns names; the header has ["y" "I1" "C1" "C2"]`},
		{"misspelt column", "y,I1,i2,C1,C2,comment\n1,2,3,a,b,c\n", "bad.csv: no column I2, which input.columns names (did you mean i2?); the header has"},
		{"one field", header + "1\n", "has 1 field, want 6"},
		{"named twice", "y,I1,I1,C1,C2\n1,2,3,a,b\n", ":1: byte 0: the header names I1 twice, and input.columns reads it"},
		{"nothing to learn from", header, "no records"},
		{"empty", "", "bad.csv, want a header and records"},
	} {
		s, err := Open(t.Context(), []string{written(t, "bad.csv", tt.content)}, config(t))
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("case=%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
	c := config(t)
	_, err := Open(t.Context(), []string{written(t, "a.csv", header+"1,2,3,a,b,c\n"), written(t, "b.csv", "y,I2,I1,C1,C2,comment\n")}, c)
	if err == nil || !strings.Contains(err.Error(), "b.csv:1") || !strings.Contains(err.Error(), "as in") || !strings.Contains(err.Error(), "a.csv") {
		t.Errorf("error %v of two headers", err)
	}
	c.Separator = '"'
	if _, err := Open(t.Context(), nil, c); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v of a quote as separator", err)
	}
}

// TestQuotesInside verifies that a quote quotes only where it begins a field, that columns of no name or of
// a name that no item reads may be there twice, and that other good text is read as before.
func TestQuotesInside(t *testing.T) {
	for content, want := range map[string]string{
		"y,I1,I2,C1,C2,comment\n1,2,3,pipe 5\",5\"\",a\"b\n0,1,2,c,d,e\n":                             `c pipe 5"`,
		",y,I1,I2,C1,C2,comment,,note,note\n7,1,2,3,\"a \"\"b\"\"\",b,c,\"\",1,2\n8,0,1,2,c,d,e,,,\n": `a "b" c`,
		"y,I1,I2,C1,C2,comment\r\n1,2,3,\"a\nb,c\r\nd\",b, \"c\"\r\n0,1,2,c,d,e":                      "a\nb,c\r\nd c",
	} {
		c := config(t)
		s, err := Open(t.Context(), []string{written(t, "a.csv", content)}, c)
		if err != nil {
			t.Errorf("%.30q: %v", content, err)
			continue
		}
		if got := strings.Join(c.Columns.Columns().Bags[0].Vocabulary, " "); s.Facts().Records != 2 || got != want {
			t.Errorf("%.30q: %d records, vocabulary %q, want 2, %q", content, s.Facts().Records, got, want)
		}
		s.Close()
	}
}

// TestSwallowed verifies that each line that quotes swallow counts as a bad record, and that the records
// around it are read, also where one of the lines is no text. A record with a field of several lines that is bad for another reason counts once.
func TestSwallowed(t *testing.T) {
	const good = "0,1,2,c,d,e\n"
	c := config(t)
	c.Tolerate = true
	s, err := Open(t.Context(), []string{written(t, "a.csv", "y,I1,I2,C1,C2,comment\n"+good+"1,2,3,\"5 inch,d,e\n"+strings.Repeat(good, 30)+"0,1,2,c,d,\x00\n1,2,3,\"6 inch\",d,e\n"+"x,2,3,c,d,\"two\nlines\"\n"+good)}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	source, err := input.NewSource(t.Context(), s, input.SourceConfig{Batch: s.Facts().Records, Size: 1, MaxBad: 1}, input.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	var b input.Batch
	if err := source.Next(t.Context(), &b); err != nil || s.Facts().Records != 4 || b.Lost != 34 {
		t.Errorf("%d records, %d bad ones, error %v, want 4 and 34", s.Facts().Records, b.Lost, err)
	}
}

// TestAllBad verifies that records which are all bad are told by the first, not by what cannot be learnt
// from none.
func TestAllBad(t *testing.T) {
	c := config(t)
	c.Tolerate, c.Learn = true, true
	_, err := Open(t.Context(), []string{written(t, "a.csv", "y,I1,I2,C1,C2,comment\n"+strings.Repeat("1,x,2,c,d,e\n", 3))}, c)
	if err == nil || !strings.Contains(err.Error(), "the first 3 records are all bad; the first of them: ") || !strings.Contains(err.Error(), "a.csv:2: record 0 ") {
		t.Errorf("error %v, want that of the first of 3", err)
	}
}

// TestHeaderIsNone verifies that an error of a line that names columns says that there is a header,
// whether the records are learnt from or only read.
func TestHeaderIsNone(t *testing.T) {
	for _, learn := range []bool{true, false} {
		c := config(t)
		c.Header, c.Learn = false, learn
		_, err := Open(t.Context(), []string{written(t, "named.csv", "y,I1,I2,C1,C2,comment\n1,2,3,a,b,c\n")}, c)
		if err == nil || !strings.Contains(err.Error(), "named.csv:1: record 0 at byte 0: ") || !strings.HasSuffix(err.Error(), "; the line has names of columns, want header: true") || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("learn=%v: error %v", learn, err)
		}
		_, err = Open(t.Context(), []string{written(t, "wrong.csv", "1,two,3,a,b,c\n")}, c)
		if err == nil || strings.Contains(err.Error(), "header") {
			t.Errorf("learn=%v: error %v of a line without names", learn, err)
		}
	}
}

// TestRecordsToPredict verifies that a header may lack the label where records are predicted, but
// not where the label is also the key, and no column of a feature.
func TestRecordsToPredict(t *testing.T) {
	c := config(t)
	c.Labels.Absent = true
	s, err := Open(t.Context(), []string{written(t, "new.csv", "C2,C1,I2,I1\nx,red,3,2\n")}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b input.Batch
	if err := s.Append(&b, 0); err != nil {
		t.Fatal(err)
	}
	if len(b.Y) != 1 || b.Y[0] != 0 || len(b.X.Bags.Slot) != 2 {
		t.Errorf("labels %v and ids %v, want 0 and two ids", b.Y, b.X.Bags.Slot)
	}
	for name, both := range map[string][]column.Column{
		"I2": nil,
		"y":  {{Label: &column.LabelOptions{Names: []string{"y"}}}, {Key: &column.KeyOptions{Names: []string{"y"}}}, {Numeric: &column.NumericOptions{Names: []string{"I1"}}}},
	} {
		c, header := config(t), "C2,C1,I1\nx,red,2\n"
		c.Labels.Absent = true
		if both != nil {
			if c.Columns, err = column.Compile(both, nil); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Open(t.Context(), []string{written(t, "new.csv", header)}, c); err == nil || !strings.Contains(err.Error(), "no column "+name) {
			t.Errorf("error %v, want that there is no column %s", err, name)
		}
	}
}

// TestLearnAgain verifies that a file of many blocks teaches the same bits each time, and what
// its records say.
func TestLearnAgain(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("y,I1,I2,C1,C2,comment\n")
	sum := 0
	for i := range 20000 {
		sum += i % 977
		fmt.Fprintf(&b, "%d,%d,%g,c%d,x,%s\n", i%2, i%977, 1/float64(i+1), i%7, strings.Repeat("-", i%50))
	}
	path := written(t, "long.csv", b.String())
	var want string
	for range 3 {
		c := config(t)
		s, err := Open(t.Context(), []string{path}, c)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%+v", c.Columns.Columns())
		if mean := c.Columns.Columns().Dense[0].Mean; math.Abs(mean-float64(sum)/20000) > 1e-12*mean {
			t.Errorf("mean %g, want %g", mean, float64(sum)/20000)
		}
		s.Close()
		if want != "" && got != want {
			t.Errorf("learnt %s, and then %s", want, got)
		}
		want = got
	}
}

// FuzzSplit verifies that the fields of a line are those of encoding/csv, and that the lines that are
// refused are refused there, too. With quotes inside fields without quotes they are those of
// encoding/csv's LazyQuotes.
func FuzzSplit(f *testing.F) {
	for _, line := range []string{"a,b", `"a""b",c`, `"a,b"`, `a"b`, `"a"b`, `"`, ",", `"",""`, "\"a\r\nb\",\r\n", `pipe 5",5"",a"b`, ` "a"`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if i := lineEnd(line); i >= 0 && i < len(line)-1 || strings.TrimSpace(line) == "" || strings.Contains(line, "\r") {
			return // several lines, or none; encoding/csv takes some \r away
		}
		s := splitter{Quoting: text.Quoting{Quote: quote, Separator: ','}}
		got, err := s.split(trimEnd([]byte(line)))
		r := csv.NewReader(strings.NewReader(line))
		r.FieldsPerRecord, r.LazyQuotes = -1, err == nil
		want, wantErr := r.Read()
		if err == nil && wantErr != nil || err != nil && wantErr == nil {
			t.Fatalf("%q: error %v, encoding/csv %v", line, err, wantErr)
		}
		if err == nil && !slices.EqualFunc(got, want, func(a []byte, b string) bool { return string(a) == b }) {
			t.Errorf("%q: fields %q, encoding/csv %q", line, got, want)
		}
	})
}

// FuzzRecords verifies that the records of a whole file are those of encoding/csv. What is refused here is
// refused there, and a file with quotes inside fields without quotes has the records of its LazyQuotes.
func FuzzRecords(f *testing.F) {
	for _, content := range []string{
		"a,b\n1,2", "\xef\xbb\xbf\"a\"\"\",b\r\n\r\n\n\"1\r\n2\n\",\" \"\n", "\t\t\n1\t\"\"\t3\n", "a,\"b\nc", "\"a\"b\n\"", " \n\xef\xbb\xbf,\n", "\"\n\n\",\n#\n",
	} {
		f.Add(content, false)
		f.Add(content, true)
	}
	f.Fuzz(func(t *testing.T, content string, tabs bool) {
		separator := byte(',')
		if tabs {
			separator = '\t'
		}
		checkRecords(t, content, separator)
	})
}

// checkRecords compares the records of a file with encoding/csv's, which takes a byte 0 for text.
func checkRecords(t *testing.T, content string, separator byte) (records int) {
	t.Helper()
	got, err := byLines(written(t, "compared", content), separator)
	want, wantErr := byReference(content, separator, err == nil)
	if errors.Is(err, input.ErrFile) || strings.Contains(content, "\x00") { // of another kind, or with a bad record
		return 0
	}
	if err != nil && wantErr == nil || err == nil && wantErr != nil {
		t.Fatalf("%.99q: error %v, and encoding/csv has %v", content, err, wantErr)
	}
	if err == nil && !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%.99q: records %.999q, want %.999q", content, got, want)
	}
	return len(got)
}

// TestLongQuotes verifies a field whose quotes hold two blocks of line ends, a line whose quotes
// begin with a block, and lines of separators, with which a plan has only missing values.
func TestLongQuotes(t *testing.T) {
	for _, tt := range []struct {
		content   string
		separator byte
		records   int
	}{
		{strings.Repeat("x", input.BlockBytes-2) + ",\"\n" + strings.Repeat("y\n", input.BlockBytes) + "\"\n1,2\n", ',', 2},
		{strings.Repeat("1234567,\n", input.BlockBytes/8) + "\"a\n\"\"b\",2", ',', input.BlockBytes/8 + 1},
		{"\t\t\n1\t2\t3\n\t\t", '\t', 3},
		{"\xef\xbb\xbf\t\n\xef\xbb\xbf\t\n", '\t', 2},
	} {
		if n := checkRecords(t, tt.content, tt.separator); n != tt.records {
			t.Errorf("%.40q: %d records, want %d", tt.content, n, tt.records)
		}
	}
}

// byReference returns the records that encoding/csv finds. It leaves out records whose only field
// is blank, quoted or not: without quotes such a line holds no record in this package. It removes
// \r before \n within quotes, too.
func byReference(content string, separator byte, lazy bool) (records [][]string, err error) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(content, "\xef\xbb\xbf")))
	r.FieldsPerRecord, r.Comma, r.LazyQuotes = -1, rune(separator), lazy
	all, err := r.ReadAll()
	for _, fields := range all {
		if len(fields) > 1 || strings.Trim(fields[0], " \t\r\n") != "" {
			records = append(records, fields)
		}
	}
	return records, err
}

// byLines returns the records of a file with the fields that this package finds.
func byLines(path string, separator byte) (records [][]string, err error) {
	c := text.Config{Format: "csv", Quote: quote, Separator: separator, Parse: func(_ *input.Batch, line []byte, _ int) error {
		s := splitter{Quoting: text.Quoting{Quote: quote, Separator: separator}}
		views, err := s.split(trimEnd(line))
		if err != nil {
			return err
		}
		var fields []string
		for _, v := range views {
			fields = append(fields, strings.ReplaceAll(string(v), "\r\n", "\n"))
		}
		if len(fields) > 1 || strings.Trim(fields[0], " \t\r\n") != "" {
			records = append(records, fields)
		}
		return nil
	}}
	s, err := text.Open(context.Background(), []string{path}, c)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var b input.Batch
	for i := range s.Facts().Records {
		if err := s.Append(&b, i); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// lineEnd returns the place of the first line end that is not within quotes, −1 if there is none.
func lineEnd(line string) int {
	quoted, opens := false, true
	for i := range len(line) {
		switch c := line[i]; {
		case c == '"' && (quoted || opens):
			quoted, opens = !quoted, quoted
		case quoted:
		case c == '\n':
			return i
		default:
			opens = c == ','
		}
	}
	return -1
}

func BenchmarkAppend(b *testing.B) {
	line := "1,2.25,-3,red,68fd1e64,nothing\n"
	path := written(b, "a.csv", "y,I1,I2,C1,C2,comment\n"+strings.Repeat(line, 2000))
	s, err := Open(b.Context(), []string{path}, config(b))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var batch input.Batch
	b.SetBytes(int64(2000 * len(line)))
	for b.Loop() {
		batch.Reset()
		for i := range 2000 {
			if err := s.Append(&batch, i); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// TestSplitColumn verifies the errors of a split by a column that is not there, with and without a header.
func TestSplitColumn(t *testing.T) {
	share := 0.5
	for header, want := range map[bool]string{
		true:  `no column C3, which input.split.by names (did you mean C1?); the header has ["y" "I1" "I2" "C1" "C2" "comment"]`,
		false: `input.split.by is C3, want a column that input.columns names (did you mean C1?): the files have no header`,
	} {
		c := config(t)
		c.Header, c.Split = header, input.Split{Share: &share, By: "C3"}
		_, err := Open(t.Context(), []string{written(t, "a.csv", "y,I1,I2,C1,C2,comment\n1,2,3,red,blue,c\n")}, c)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("header=%t: error %v, want %s", header, err, want)
		}
	}
}

// TestSplitCells verifies that blanks and words for missing count in a cell that divides records as they do in a column.
func TestSplitCells(t *testing.T) {
	share := 0.5
	const content = "1,2,3,red,b, k\n1,2,3,red,b,k\n1,2,3,red,b,NA\n1,2,3,red,b,\n1,2,3,red,b,?\n1,2,3,red,b, 7\n"
	for _, tt := range []struct {
		split   input.Split
		trim    bool
		words   []string
		without int64
	}{
		{split: input.Split{Share: &share, By: "comment"}, without: 1},
		{split: input.Split{Share: &share, By: "comment"}, words: []string{"NA", "?"}, without: 3},
		{split: input.Split{From: "1", By: "comment"}, without: 3},
		{split: input.Split{Share: &share, By: "comment"}, trim: true, without: 1},
	} {
		c := config(t)
		c.Header, c.Split, c.Trim = true, tt.split, tt.trim
		c.Columns.Trim = tt.trim
		c.Columns.SetMissing(tt.words)
		s, err := Open(t.Context(), []string{written(t, "a.csv", "y,I1,I2,C1,C2,comment\n"+content)}, c)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		parts := s.Facts().Parts
		if parts.Without() != tt.without {
			t.Errorf("%v, trim=%t, missing=%q: %d records without a cell, want %d", tt.split, tt.trim, tt.words, parts.Without(), tt.without)
		}
		if tt.trim && parts.Trains(0) != parts.Trains(1) {
			t.Errorf("%q and %q are in two parts", " k", "k")
		}
		if tt.split.From != "" && parts.Trains(5) {
			t.Error("the number 7 after a blank does not come behind 1")
		}
	}
}

// TestFieldsWithoutEnd verifies that the last line of a file, which may lack its end, has the fields of any other.
func TestFieldsWithoutEnd(t *testing.T) {
	f := NewFields(',', false, false, 2)
	for _, line := range []string{`"a",b`, "\"a\",b\n", "\"a\",b\r\n"} {
		if fields, err := f.Split([]byte(line)); err != nil || len(fields) != 2 || string(fields[0]) != "a" || string(fields[1]) != "b" {
			t.Errorf("%q has the fields %q, error %v", line, fields, err)
		}
	}
}
