package interpreter

import (
	"go/build"
	"slices"
	"strings"
	"testing"
)

// TestImports verifies that the interpreter shares nothing with what it proves, beyond the protos, the
// reader of variables and the kernels: it is the independent reader of an export.
func TestImports(t *testing.T) {
	p, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{"ringtrain/export/bundle", "ringtrain/export/tfpb", "ringtrain/model/kernel", "ringtrain/ring/exitcode", "ringtrain/ring/phrase"}
	for _, name := range p.Imports {
		if strings.HasPrefix(name, "ringtrain/") && !slices.Contains(allowed, name) {
			t.Errorf("imports %s, want only %s", name, strings.Join(allowed, ", "))
		}
	}
}
