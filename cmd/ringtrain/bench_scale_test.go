package main

import (
	"strings"
	"testing"
)

// TestBenchScale verifies that every cell has a time.
func TestBenchScale(t *testing.T) {
	b := newBox(t)
	args := []string{"bench", "scale", "-np", "2,1000", "--bandwidth", "1gbit,25gbit", "--codec", "none,int8", "--sizes", "8MiB"}
	e := b.must(0, append(args, "--latency", "50us", "--json")...)
	cells := e.ofKind(t, "scale")
	if len(cells) != 8 || cells[7].text("wire") != "25gbit" || cells[7].num("ranks") != 1000 || cells[7].text("codec") != "int8" {
		t.Fatalf("cells are %v, want 8, the last of 25gbit, int8 and 1000 ranks", cells)
	}
	for _, v := range cells {
		if !(v.num("predicted_s") > 0) || v.text("algorithm") != "ring" {
			t.Errorf("cell %v, want a time by ring", v)
		}
	}
	if rows := rowsOf(b.must(0, args...).stdout); len(rows) != 4 { // also measures a hop
		t.Errorf("the table has %d lines, want 4:\n%s", len(rows), strings.Join(rows, "\n"))
	}
}

// TestBenchScaleUsage verifies that invalid command lines are refused.
func TestBenchScaleUsage(t *testing.T) {
	for args, want := range map[string]string{
		"-np 2,x":                  `-np has "x"`,
		"-np 1":                    "-np has 1, want 2",
		"--bandwidth fast":         `--bandwidth: rate is "fast"`,
		"--codec zip":              "zip",
		"--sizes 3":                "--sizes has 3 bytes",
		"--latency -1s":            "--latency is -1s",
		"--algorithm fast":         `--algorithm is "fast", want one of`,
		"--hosts 3 -np 4":          "want a multiple of the 3 hosts",
		"extra":                    "want none",
		"--bandwidth 1gbit,1furlg": `--bandwidth: rate is "1furlg"`,
	} {
		t.Run("args="+args, func(t *testing.T) {
			e := newBox(t).must(64, append([]string{"bench", "scale"}, strings.Fields(args)...)...)
			if !strings.Contains(e.stderr, want) {
				t.Errorf("says %q, want %q in it", e.stderr, want)
			}
		})
	}
}
