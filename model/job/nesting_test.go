package job

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// deep returns texts that nest n levels deep, by the ways in which they do.
func deep(n int) map[string]string {
	lines := ""
	for i := range n {
		lines += strings.Repeat(" ", i) + "a:\n"
	}
	return map[string]string{
		"brackets": strings.Repeat("[", n) + strings.Repeat("]", n), "braces": strings.Repeat("{a: ", n) + strings.Repeat("}", n),
		"dashes": strings.Repeat("- ", n) + "1", "lines": lines, "tags": strings.Repeat("!a ", n) + "1", "tags on lines": strings.Repeat("!a\n", n) + "1",
		"keys": strings.Repeat("? ", n) + "1", "open brackets": strings.Repeat("[", n), "open braces": strings.Repeat("{", n),
		"list of a key": "a:\n" + strings.Repeat("- ", n-1) + "1", "keys in brackets": "{" + strings.Repeat("? ", n-1) + "1}",
	}
}

// TestNesting verifies the number of levels that a text may have, by each way of nesting, and that
// mappings and lists beside each other are no levels.
func TestNesting(t *testing.T) {
	for name, text := range deep(maxDepth) {
		if _, err := parseYAML([]byte(text)); isBeyond(err) {
			t.Errorf("%s, %d levels: %v", name, maxDepth, err)
		}
	}
	for name, text := range deep(maxDepth + 1) {
		if _, err := parseYAML([]byte(text)); !isBeyond(err) {
			t.Errorf("%s, %d levels: %v, want nested too deep", name, maxDepth+1, err)
		}
	}
	beside := strings.Repeat("- {a: [1, 2], b: {c: []}}\n- - 1\n  - 2\n- x: !!int 1\n  y: &y 2\n", 200)
	if _, err := parseYAML([]byte(beside)); err != nil {
		t.Errorf("lists beside each other: %v", err)
	}
}

// TestBeyond verifies how a text that the parser does not get is told, of a file, of --set and of a
// checkpoint.
func TestBeyond(t *testing.T) {
	nested := strings.Repeat("[", 200_000)
	keys := ""
	for i := range maxKeys + 1 {
		keys += fmt.Sprintf("k%d:\n", i)
	}
	for text, want := range map[string]string{
		"model: " + nested[:20_000]:             "job.yaml:1:71: nested deeper than 64",
		"model: " + nested:                      "job.yaml:1:71: nested deeper than 64",
		strings.Repeat("#\n", maxSigns/2) + "#": "job.yaml: more than 262144 bytes, or 40960 signs such as brackets and commas, which is no job file",
		keys:                                    "job.yaml:257:5: more than 256 keys in one mapping",
	} {
		if _, err := load(t, text, nil, nil); exitcode.Of(err) != exitcode.Usage || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%.20s…: error %.200v, want %s", text, err, want)
		}
	}
	_, err := load(t, small, nil, []string{"model.hidden=" + nested[:1000]})
	if want := "--set model.hidden: model.hidden is \"" + nested[:57] + "…\", nested deeper than 64"; err == nil || err.Error() != want {
		t.Errorf("--set: error %v, want %s", err, want)
	}
	if cfg, err := Parse("job file", []byte(nested[:1000])); cfg != nil || err == nil {
		t.Errorf("a checkpoint's job file: %v, want an error and no job", err)
	}
}

// TestHostileMemory verifies that the text which costs its parser the most memory within the bounds takes
// less than 64 MiB.
func TestHostileMemory(t *testing.T) {
	mapping := "-\n"
	for i := range maxKeys {
		mapping += fmt.Sprintf(" k%d:\n", i)
	}
	for name, text := range map[string]string{
		"brackets": strings.Repeat("[", maxSigns), "numbers": "[" + strings.Repeat("1,", maxSigns-2) + "1]", "keys": "{" + strings.Repeat("a:,", maxSigns/2-1),
		"dashes": strings.Repeat("-\n", maxSigns/2), "mappings": strings.Repeat(mapping, maxSigns/2/maxKeys-1), "levels": strings.Repeat("- "+strings.Repeat("[", 60)+"\n", maxSigns/62),
	} {
		t.Run(name, func(t *testing.T) { wantMemory(t, 64<<20, func() { parseYAML([]byte(text)) }) })
	}
}

// wantMemory verifies that f allocates at most limit bytes, all that it frees again counted.
func wantMemory(t *testing.T, limit uint64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > limit {
		t.Errorf("allocated %d bytes, want at most %d", took, limit)
	}
}

func isBeyond(err error) bool {
	_, ok := errors.AsType[*beyond](err)
	return ok
}
