package vw

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/input/text"
	"ringtrain/ring/exitcode"
)

func save(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "F")
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestIDs verifies labels, weights, ids and values of lines against the output of vw 9.11
// (-b 18 --noconstant --audit).
func TestIDs(t *testing.T) {
	for line, want := range map[string]string{
		"1 |f 123:1 abc":                                 "1×1 34998:1 1403:1",
		"-1 2.0 'tag|f:2 a:0.5 b |g 3 x":                 "-1×2 14355:1 146788:2 189465:1 123625:1",
		"1 | 12 hello 99999999999999999999999 0:0 z:1e3": "1×1 12:1 260679:1 262143:1 170519:1000",
		"1 |3 5 :2 :3":                                   "1×1 8:1 3:2 4:3",
		"1 |a b:c":                                       "1×1 104483:1",
		"1 x|a b":                                        "1×1 144016:1",
		"a\t1 |q r":                                      "1×1 10097:1",
		"1 |f ab|g cd\r":                                 "1×1 105972:1 181846:1",
		"1 |f \x01ab é":                                  "1×1 105972:1 238967:1",
		"1 |a b:+1 c:.5 d:-.5e-2":                        "1×1 144016:1 120964:0.5 2364:-0.005",
		"1 |é b":                                         "1×1 230243:1",
		"1 |a 18446744073709551617 007":                  "1×1 92595:1 92601:1",
		"1 0 |a b":                                       "1×0 144016:1",
		"2 |x 262145":                                    "2×1 170780:1",
		"1 1 0 'x| 1":                                    "1×1 1:1",
		"1 |a":                                           "1×1",
		"1 tag":                                          "1×1",
		"1 | 262145 " + strings.Repeat("7 ", 300) + "|a b": "1×1 1:1" + strings.Repeat(" 7:1", 300) + " 144016:1",
	} {
		for _, end := range []string{"", "\n", "\n1 |x y\n"} {
			s, err := Open(t.Context(), []string{save(t, line+end)}, Config{})
			if err != nil {
				t.Errorf("%q: %v", line, err)
				continue
			}
			var b input.Batch
			if err := s.Append(&b, 0); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			weight := float32(1)
			if len(b.Importance) > 0 {
				weight = b.Importance[0]
			}
			got := fmt.Sprintf("%g×%g", b.Y[0], weight)
			for k, id := range b.X.Bags.Slot {
				got += fmt.Sprintf(" %d:%g", id, b.X.Bags.Weights[k])
			}
			if got != want {
				t.Errorf("%q: %s, want %s", line, got, want)
			}
			s.Close()
		}
	}
}

// TestAnySize verifies that ids are hashes modulo a size that is no power of two.
func TestAnySize(t *testing.T) {
	s, err := Open(t.Context(), []string{save(t, "1 | 999 1000 1001\n")}, Config{Features: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b input.Batch
	if err := s.Append(&b, 0); err != nil || fmt.Sprint(b.X.Bags.Slot) != "[999 0 1]" || s.Facts().Features != 1000 {
		t.Errorf("ids %v, error %v", b.X.Bags.Slot, err)
	}
}

// TestImportance verifies that the weight of a line multiplies the weight of its example, and
// that an example without a weight counts 1.
func TestImportance(t *testing.T) {
	s, err := Open(t.Context(), []string{save(t, "1 | 1\n1 3 | 1\n1 0.5 | 1\n1 | 1\n")}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	source, err := input.NewSource(t.Context(), s, input.SourceConfig{Batch: 4, Size: 1}, input.Position{})
	if err != nil {
		t.Fatal(err)
	}
	var b input.Batch
	for range 2 {
		if err := source.Next(t.Context(), &b); err != nil || fmt.Sprint(b.Weight) != "[0.25 0.75 0.125 0.25]" {
			t.Errorf("weights %v, error %v", b.Weight, err)
		}
	}
}

// TestBadLines verifies the message of each fault. None of them is read as something else.
func TestBadLines(t *testing.T) {
	for line, want := range map[string]string{
		"x |a b":           `label is "x", want a number`,
		"|a b":             `"" has no label before the bar`,
		"1":                `"1" has no label before the bar`,
		"nan |a b":         `label is NaN, want 0 or 1 (or -1 for 0)`,
		"2 |a b":           `label is 2, want 0 or 1 (or -1 for 0)`,
		"1 -2 |a b":        `weight is "-2", want a number of 0 or more`,
		"1 inf |a b":       `weight is "inf", want a number of 0 or more`,
		"1 1 0.5 |a b":     `initial prediction is "0.5", want none`,
		"1 2 3 4 |a b":     `"1 2 3 4 " has 4 words before the bar, want label, weight and tag`,
		"1 |a b:":          `value is "", want a finite float32`,
		"1 |a b:1fbe":      `value is "1fbe", want a finite float32`,
		"1 |a b:1_0":       `value is "1_0", want a finite float32`,
		"1_0 |a b":         `label is "1_0", want a number`,
		"1 |a b:1:2":       `value is "1:2", want a finite float32`,
		"1 |a b:-":         `value is "-", want a finite float32`,
		"1 |a b:nan":       `value is "nan", want a finite float32`,
		"1 |a b:1e39":      `value is "1e39", want a finite float32`,
		"1 |a:x b":         `factor of a namespace is "x", want a finite float32`,
		"1 |a:1e30 b:1e30": `value times the factor of its namespace is +Inf, want a finite float32`,
		"1 |:1 b":          `"|:1", want the name of a namespace, or a blank`,
		"1 |a b\rc |d e":   `byte 6 of the line is '\r', want a blank or a bar`,
	} {
		name := save(t, "0 | 1\n\n"+line+"\n")
		_, err := Open(t.Context(), []string{name}, Config{Labels: input.Labels{Binary: true}})
		if want := "vw: " + name + ":3: record 1 at byte 7: " + want; err == nil || err.Error() != want || exitcode.Of(err) != exitcode.BadData {
			t.Errorf("%q: error %v (%d), want %s", line, err, exitcode.Of(err), want)
		}
	}
	if _, err := Open(t.Context(), nil, Config{Features: -1}); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("features=-1: error %v", err)
	}
}

// TestDense verifies that rows are made dense, and that the limits hold.
func TestDense(t *testing.T) {
	name := save(t, "1 | 2:3 0:5 2:1\n")
	s, err := Open(t.Context(), []string{name}, Config{Features: 3, Dense: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b input.Batch
	if err := s.Append(&b, 0); err != nil || fmt.Sprint(b.X.Dense.Data) != "[5 0 4]" {
		t.Errorf("row %v, error %v", b.X.Dense.Data, err)
	}
	if _, err := Open(t.Context(), []string{name}, Config{Features: 1 << 30, Dense: true}); exitcode.Of(err) != exitcode.BadData {
		t.Errorf("a row of 4 GiB: error %v", err)
	}
}

// TestAllocatesNothing verifies that parsing a record allocates nothing.
func TestAllocatesNothing(t *testing.T) {
	s, err := Open(t.Context(), []string{save(t, "1 2 'tag|f abc:0.5 d e:1 |g 17\n")}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b input.Batch
	read := func() {
		b.Reset()
		s.Append(&b, 0)
	}
	read()
	if got := testing.AllocsPerRun(100, read); got != 0 || len(b.X.Bags.Slot) != 4 {
		t.Errorf("%g allocations a record of %d pairs, want 0 for 4", got, len(b.X.Bags.Slot))
	}
}

// FuzzParse verifies that no line makes the parser panic or read past its end, and that a
// record it reads has ids below the size and finite values.
func FuzzParse(f *testing.F) {
	f.Add("1 2.0 'tag|f:2 a:0.5 b |g 3 x", 18)
	f.Add("-1|a b:c d:1fbe |:1|", 5)
	f.Add("a\t1 1 0 |é \x01ab 18446744073709551617:1e-40\r", 1000)
	f.Fuzz(func(t *testing.T, line string, size int) {
		if strings.Contains(line, "\n") || size < 1 || size > input.MaxFeatures {
			return
		}
		p := newParser(Config{Features: size})
		all := append([]byte(line), "\n99999999"...)
		all = all[: len(line)+1 : len(line)+1+text.Pad]
		var b input.Batch
		if p.parse(&b, all, 0) != nil {
			return
		}
		x := &b.X.Bags
		if x.Examples() != 1 || len(b.Y) != 1 || !input.Finite(b.Y[0]) {
			t.Fatalf("%q: %d examples, labels %v", line, x.Examples(), b.Y)
		}
		for k, id := range x.Slot {
			if int(id) >= size || !input.Finite(x.Weights[k]) {
				t.Fatalf("%q: pair %d:%g for size %d", line, id, x.Weights[k], size)
			}
		}
	})
}
