package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreats verifies that each row of security.md's table of threats names tests that stand in the
// tree, or says that nothing is promised: a claim without a test is none.
func TestThreats(t *testing.T) {
	page, ok := Page("security")
	if !ok {
		t.Fatal("no page security")
	}
	var all strings.Builder
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != "..":
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(path)
		all.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| T\d+ \|.*$`).FindAllString(page, -1)
	if len(rows) != 15 {
		t.Errorf("the table has %d rows, want T1 to T15", len(rows))
	}
	name := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z]+)`")
	for _, row := range rows {
		names := name.FindAllStringSubmatch(row, -1)
		if len(names) == 0 && !strings.Contains(row, "not promised: ") {
			t.Errorf("no test, and not \"not promised\": %s", row)
		}
		for _, n := range names {
			if !strings.Contains(all.String(), "func "+n[1]+"(") {
				t.Errorf("no test %s is in the tree: %s", n[1], row)
			}
		}
	}
}
