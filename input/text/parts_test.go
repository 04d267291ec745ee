package text

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// partLines returns file:number:line of each record that EachPart finds.
func partLines(t *testing.T, c Config, files ...string) (all []string, err error) {
	t.Helper()
	perSlot := make([][]string, Slots())
	err = EachPart(t.Context(), files, c, func(p *Part) error {
		perSlot[p.Slot] = nil
		for k := range p.Len() {
			line, err := p.Line(k)
			if err != nil {
				return p.Fault("csv", k, err)
			}
			file, number := p.Place(k)
			perSlot[p.Slot] = append(perSlot[p.Slot], fmt.Sprintf("%s:%d:%s", filepath.Base(file), number, line))
		}
		return nil
	}, func(p *Part) error {
		all = append(all, perSlot[p.Slot]...)
		return nil
	})
	return all, err
}

// TestEachPart verifies that the lines of files come whole, once and in order, with their numbers: plain and
// compressed, with quotes around line ends and parts, a byte order mark, empty lines, long lines and no end.
func TestEachPart(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	long := strings.Repeat("x", 3*partBytes)
	var many strings.Builder
	var want []string
	for i := range 30_000 {
		fmt.Fprintf(&many, "%d,\"a\nb\"\n", i)
		want = append(want, fmt.Sprintf("many:%d:%d,\"a\nb\"\n", 2*i+1, i))
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(many.String()))
	z.Close()
	c := Config{Format: "csv", Quote: '"', Separator: ','}
	for name, tt := range map[string]struct {
		content string
		want    []string
	}{
		"content=plain":  {"a,b\n1,2\n", []string{"f:1:a,b\n", "f:2:1,2\n"}},
		"content=mark":   {"\xef\xbb\xbfa\n\n  \nb", []string{"f:1:a\n", "f:4:b\n"}},
		"content=long":   {"a\n" + long + "\nb\n", []string{"f:1:a\n", "f:2:" + long + "\n", "f:3:b\n"}},
		"content=quotes": {"\"" + long + "\n\",1\nb\n", []string{"f:1:\"" + long + "\n\",1\n", "f:3:b\n"}},
		"content=open":   {"a\n\"b\nc\n", []string{"f:1:a\n", "f:2:\"b\nc\n"}},
		"content=none":   {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := partLines(t, c, write("f", tt.content))
			if err != nil || strings.Join(got, "") != strings.Join(tt.want, "") {
				t.Errorf("%.200q, %v, want %.200q", got, err, tt.want)
			}
		})
	}
	for name, content := range map[string]string{"many": many.String(), "many.gz": packed.String()} {
		got, err := partLines(t, c, write(name, content))
		if text := strings.ReplaceAll(strings.Join(got, ""), "many.gz:", "many:"); err != nil || text != strings.Join(want, "") {
			t.Errorf("%s: %d lines, %v, want %d", name, len(got), err, len(want))
		}
	}
	if got, err := partLines(t, c, write("f", "a\nb\x00\n"), write("g", "c\n")); err == nil || !strings.Contains(err.Error(), "f:2: byte 1 of the line is 0") || len(got) > 0 {
		t.Errorf("a byte 0 is %v after %q", err, got)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	err := EachPart(ctx, []string{write("many", many.String())}, c, func(*Part) error { return nil }, func(*Part) error { stop(cause); return nil })
	if !errors.Is(err, cause) {
		t.Errorf("a context that ends is %v", err)
	}
}
