package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unicode"

	"ringtrain/ring/exitcode"
)

// TestForeignNames verifies that neither people nor programs get a character that is not printable from the
// names of files and columns and from words in records, whichever command tells them.
func TestForeignNames(t *testing.T) {
	t.Chdir(t.TempDir())
	const hostile = "\u009b31m\u202e\u2028\u2066\x1b[2J"
	data, job := hostile+".csv", hostile+".yaml"
	table, draw := "label,n"+hostile+",c"+hostile+"\n", rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		table += fmt.Sprintf("%d,%v,%d%s\n", i%2, draw.Float64(), i%3, hostile)
	}
	if err := os.WriteFile(data, []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	ckpt, export := "ckpt/"+hostile, "export/"+hostile
	for i, list := range [][][]string{
		{{"init", data, "--label", "label", "--to", job}, {"train", job, "--set", "train.epochs=1"}, {"eval", job}, {"data", "check", job},
			{"inspect", ckpt}, {"inspect", ckpt, "--top", "3"}, {"inspect", export}, {"export", job, "--to", "to" + hostile}},
		{{"train", hostile}, {"train", job, "--set", hostile + "=1"}, {"train", job, "--set", "optimizer.name=" + hostile}, {"inspect", hostile},
			{"data", "cat", hostile}, {hostile}},
	} {
		for _, words := range list {
			for _, more := range []string{"", "--json"} {
				var out, errs bytes.Buffer
				code := Main(append(words, strings.Fields(more)...), &out, &errs)
				said := out.String() + errs.String()
				if strings.ContainsFunc(said, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' }) || said == "" {
					t.Errorf("%q %s prints %q", words, more, said)
				}
				if more == "" && (code == exitcode.OK) != (i == 0) {
					t.Errorf("%q ends with %d: %s", words, code, said)
				}
			}
		}
	}
}
