package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

// update has TestReferenceOptions write the part of docs/reference.md that it makes.
var update = flag.Bool("update", false, "write the options of all commands into docs/reference.md")

const optionsMark = "<!-- made by go test ./cmd/ringtrain -run TestReferenceOptions -update -->\n"

// TestReferenceOptions verifies that docs/reference.md has each option of each command as the
// commands define them. With -update it writes them instead.
func TestReferenceOptions(t *testing.T) {
	const file = "../../docs/reference.md"
	var b strings.Builder
	writeOptions(&b, "ringtrain ", commands())
	have := readFile(t, file)
	before, _, ok := strings.Cut(have, optionsMark)
	if !ok {
		t.Fatalf("%s has no line %q", file, optionsMark)
	}
	want := before + optionsMark + b.String()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if have != want {
		t.Errorf("%s is not current: go test ./cmd/ringtrain -run TestReferenceOptions -update", file)
	}
}

// writeOptions writes a section for each command of list that help lists, and for those below it.
func writeOptions(b *strings.Builder, path string, list []command) {
	cell := strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;")
	for _, c := range list {
		if c.usage == "" {
			continue
		}
		fmt.Fprintf(b, "\n### %s\n\n`%s`: %s\n", path+c.name, strings.TrimSpace(path+c.name+" "+c.args), cell.Replace(c.description()))
		if len(c.flags) > 0 {
			b.WriteString("\n| option | |\n| --- | --- |\n")
		}
		for _, f := range c.flags {
			fmt.Fprintf(b, "| `%s` | %s |\n", strings.ReplaceAll(optionNames(f), "|", "\\|"), cell.Replace(optionUsage(f)))
		}
		writeOptions(b, path+c.name+" ", c.sub)
	}
}
