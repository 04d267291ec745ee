package rendezvous

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMonotonicClock verifies that this package and its parts do not measure time by the
// wall clock, which may be set. A worker that was told to end would then wait for ever, or not at
// all. A test cannot set the clock of a machine, so it reads the source.
func TestMonotonicClock(t *testing.T) {
	var files []string
	for _, folder := range []string{".", "state", "internal/wire"} {
		in, err := filepath.Glob(folder + "/*.go")
		if err != nil || len(in) == 0 {
			t.Fatalf("no source in %s: %v", folder, err)
		}
		files = append(files, in...)
	}
	wall := []string{"Unix", "UnixNano", "UnixMicro", "UnixMilli"}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(wall, s.Sel.Name) {
				t.Errorf("%v: %s is the time of day, want time.Since or a time.Time", set.Position(s.Pos()), s.Sel.Name)
			}
			return true
		})
	}
}
