package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringtrain/model/job"
)

// update has the tests of docs/reference.md write the parts that they make.
var update = flag.Bool("update", false, "write the keys of a job and the options of all commands into docs/reference.md")

// wantMade compares a part of docs/reference.md, between two comments, with text. With -update it
// writes text there.
func wantMade(t *testing.T, part, text string) {
	t.Helper()
	const file = "../../docs/reference.md"
	begin := fmt.Sprintf("<!-- %s: made by go test ./cmd/ringtrain -run TestReference -update -->\n", part)
	end := fmt.Sprintf("\n<!-- end of %s -->\n", part)
	have := readFile(t, file)
	before, rest, ok := strings.Cut(have, begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s lacks one of the lines %q and %q", file, begin, end)
	}
	want := before + begin + text + end + after
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if have != want {
		t.Errorf("the %s in %s are not current: go test ./cmd/ringtrain -run TestReference -update", part, file)
	}
}

// inTable escapes the text of a cell in a table of Markdown.
var inTable = strings.NewReplacer("|", "\\|", "\n", " ", "<", "&lt;")

// TestReferenceOptions verifies that docs/reference.md has each option of each command as the
// commands define them. With -update it writes them instead.
func TestReferenceOptions(t *testing.T) {
	var b strings.Builder
	writeOptions(&b, "ringtrain ", commands())
	wantMade(t, "options", b.String())
}

// TestReferenceKeys verifies that docs/reference.md has each key of a job with the values, the default
// and the text that `jobs explain` has. With -update it writes them instead.
func TestReferenceKeys(t *testing.T) {
	texts, err := job.About("")
	if err != nil {
		t.Fatal(err)
	}
	isKey := map[string]bool{"input.train": true, "input.eval": true}
	for _, k := range texts {
		isKey[k.Key] = true
	}
	var b strings.Builder
	table := ""
	for _, k := range byTable(texts) {
		names := "`" + k.Key + "`"
		if rest, ok := strings.CutPrefix(k.Key, "input.train."); ok {
			names += ", `input.eval." + rest + "`"
		} else if strings.HasPrefix(k.Key, "input.eval.") || k.List == "input.evals" && k.Key != "input.evals.name" {
			continue // it stands beside the key of input.train, or is one
		}
		if group := tableOf(k); group != table {
			table = group
			fmt.Fprintf(&b, "\n### %s\n\n| key | takes | default | |\n| --- | --- | --- | --- |\n", group)
		}
		row := fmt.Sprintf("| %s | %s | %s | %s |\n", names, inTable.Replace(k.Takes), k.Default, inTable.Replace(withCode(k.Text, isKey)))
		b.WriteString(strings.ReplaceAll(row, "|  |", "| |"))
	}
	wantMade(t, "keys", b.String())
}

// tableOf returns the heading of the table with a key: its first word, or the list whose items have it.
func tableOf(k job.KeyText) string {
	group, _, _ := strings.Cut(k.Key, ".")
	return cmp.Or(k.List, group)
}

// byTable returns the keys table by table: the tables, and the keys of each, in their order in texts.
func byTable(texts []job.KeyText) []job.KeyText {
	first := map[string]int{}
	for i, k := range texts {
		if _, seen := first[tableOf(k)]; !seen {
			first[tableOf(k)] = i
		}
	}
	return slices.SortedStableFunc(slices.Values(texts), func(a, b job.KeyText) int { return cmp.Compare(first[tableOf(a)], first[tableOf(b)]) })
}

// dotted matches what may be a key.
var dotted = regexp.MustCompile(`[a-z]+(\.[a-z0-9_]+)+`)

// withCode returns text with each key in backticks.
func withCode(text string, isKey map[string]bool) string {
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 { // the others are in backticks already
		parts[i] = dotted.ReplaceAllStringFunc(parts[i], func(name string) string {
			if isKey[name] {
				return "`" + name + "`"
			}
			return name
		})
	}
	return strings.Join(parts, "`")
}

// writeOptions writes a section for each command of list that help lists, and for those below it.
func writeOptions(b *strings.Builder, path string, list []command) {
	for _, c := range list {
		if c.usage == "" {
			continue
		}
		fmt.Fprintf(b, "\n### %s\n\n`%s`: %s\n", path+c.name, strings.TrimSpace(path+c.name+" "+c.args), inTable.Replace(c.description()))
		if len(c.flags) > 0 {
			b.WriteString("\n| option | |\n| --- | --- |\n")
		}
		for _, f := range c.flags {
			fmt.Fprintf(b, "| `%s` | %s |\n", strings.ReplaceAll(optionNames(f), "|", "\\|"), inTable.Replace(optionUsage(f)))
		}
		writeOptions(b, path+c.name+" ", c.sub)
	}
}
