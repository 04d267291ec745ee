package job

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ringtrain/docs"
)

// TestInteropSchema verifies, with the real check-jsonschema, that the JSON Schema takes each job file of the docs, the
// examples and the built-in jobs, and refuses each of refusedJobs. Names of files say which it takes.
func TestInteropSchema(t *testing.T) {
	python := os.Getenv("TABLES_PYTHON")
	if python == "" {
		t.Skip("set TABLES_PYTHON to a python with check-jsonschema 0.39.0 to check job files")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	schema, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var right, wrong []string
	for name, text := range jobFiles(t) {
		right = append(right, write(name, text))
	}
	page := regexp.MustCompile("(?ms)^```yaml \\S+\\.yaml\n(.*?)^```")
	for _, name := range docs.Names() {
		text, _ := docs.Page(name)
		for i, block := range page.FindAllStringSubmatch(text, -1) {
			right = append(right, write(fmt.Sprintf("docs-%s-%d.yaml", name, i), block[1]))
		}
	}
	for i, text := range strings.Split(refusedJobs, "\n") {
		wrong = append(wrong, write(fmt.Sprintf("wrong-%d.yaml", i), strings.ReplaceAll(text, `\n`, "\n")))
	}
	if len(right) < 10 || len(wrong) < 30 {
		t.Fatalf("%d job files that are right and %d that are wrong, want more", len(right), len(wrong))
	}
	check := func(files []string) (string, error) {
		args := append([]string{"-m", "check_jsonschema", "--color", "never", "--schemafile", write("schema.json", string(schema))}, files...)
		out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput()
		return string(out), err
	}
	if out, err := check(right); err != nil {
		t.Errorf("refuses job files: %v\n%s", err, out)
	}
	out, err := check(wrong)
	if err == nil {
		t.Error("takes all job files that are wrong")
	}
	for _, name := range wrong {
		if !strings.Contains(out, name+"::") {
			t.Errorf("takes %s, which Load refuses", filepath.Base(name))
		}
	}
}
