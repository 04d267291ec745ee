package look

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/input/convert"
	"ringtrain/ring/exitcode"
)

// TestCat verifies the lines of JSON of separated text: quotes, blanks, columns without a name, files without a header,
// other separators, compressed files, click logs, and a part of the records.
func TestCat(t *testing.T) {
	for _, tt := range []struct {
		name, content, want string
		from, n             int
	}{
		{"a.csv", "age,city,\n39,\"Bern, \"\"BE\"\"\",<b>\n 40 ,\"a\nb\",ü\n", `{"record":0,"cells":{"age":"39","city":"Bern, \"BE\"","c3":"<b>"}}` + "\n" + `{"record":1,"cells":{"age":"40","city":"a\nb","c3":"ü"}}` + "\n", 0, -1},
		{"b.csv.gz", "1;2\n3;4\n5;6\n", `{"record":1,"cells":{"c1":"3","c2":"4"}}` + "\n", 1, 1},
		{"c.tsv", "a\ta\n1\t2\n", `{"record":0,"cells":{"a":"1","c2":"2"}}` + "\n", 0, 9},
		{"d.csv", "", "", 0, -1},
		{"e.csv", "a,b\n1, \"x, y\"\n2, \"z\"\n", `{"record":0,"cells":{"a":"1","b":"x, y"}}` + "\n" + `{"record":1,"cells":{"a":"2","b":"z"}}` + "\n", 0, -1},
		{"criteo.txt", "1" + strings.Repeat("\t", 39) + "\n", `{"record":0,"cells":{"label":"1","I1":""`, 0, -1},
	} {
		name := filepath.Join(t.TempDir(), tt.name)
		var b strings.Builder
		b.WriteString(tt.content)
		if strings.HasSuffix(tt.name, ".gz") {
			b.Reset()
			z := gzip.NewWriter(&b)
			z.Write([]byte(tt.content))
			z.Close()
		}
		if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		format := convert.FormatName("csv")
		if tt.name == "criteo.txt" {
			format = "criteo"
		}
		s := convert.Spec{Origin: convert.Origin{Format: format, Files: []string{name}}}
		var out strings.Builder
		err := Cat(t.Context(), &out, s, tt.from, tt.n)
		if err != nil || !strings.HasPrefix(out.String(), tt.want) || tt.want == "" && out.Len() > 0 {
			t.Errorf("%s: %s, error %v, want %s", tt.name, out.String(), err, tt.want)
		}
	}
}

// TestCatRefuses verifies that a line of another width ends Cat behind the records before it, and names the line, and
// that no record is behind the last.
func TestCatRefuses(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(name, []byte("a,b\n1,2\n3\n4,5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := convert.Spec{Origin: convert.Origin{Format: "csv", Files: []string{name}}}
	var out strings.Builder
	err := Cat(t.Context(), &out, s, 0, -1)
	if exitcode.Of(err) != exitcode.BadData || !strings.Contains(err.Error(), "a.csv:3") || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%q, error %v (%d), want the first record and line 3", out.String(), err, exitcode.Of(err))
	}
	if err := Cat(t.Context(), &out, s, 4, -1); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v, want %d", err, exitcode.Usage)
	}
}
