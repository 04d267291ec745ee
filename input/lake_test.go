package input_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// TestChoose verifies which of a list of files a pattern chooses, and that tables are refused by name.
func TestChoose(t *testing.T) {
	tests := []struct{ name, pattern, paths, want, err string }{
		{name: "all", paths: "b a/c a.b/c", want: "a.b/c a/c b"},
		{name: "hidden", paths: "a/b a/.b.crc a/_SUCCESS _tmp/0/x .git/y a/x_y", want: "a/b a/x_y"},
		{name: "hidden by a wildcard", pattern: "**", paths: "a _b .c/d", want: "a"},
		{name: "hidden by name", pattern: "_b/*", paths: "a _b/c _b/_d", want: "_b/c"},
		{name: "hidden files asked for", pattern: "**/_*", paths: "a _b c/_d .e/_f", want: "_b c/_d"},
		{name: "one folder", pattern: "day=*/x.csv", paths: "day=1/x.csv day=2/h=3/x.csv day=2/y.csv", want: "day=1/x.csv"},
		{name: "any folders", pattern: "**/*.csv", paths: "x.csv day=2/h=3/x.csv day=2/y.parquet", want: "day=2/h=3/x.csv x.csv"},
		{name: "folders do not match", pattern: "day=*", paths: "day=1/x.csv", want: ""},
		{name: "objects that stand for folders", paths: "a/ a/b", want: "a/b"},
		{name: "Delta", paths: "a.parquet _delta_log/0.json", err: "input PLACE is a table of Delta Lake, whose folder has removed files, too: write its rows into a folder of their own"},
		{name: "Delta within", pattern: "**/*.parquet", paths: "x t/a.parquet t/_delta_log/0.json", err: "input PLACE/t is a table of Delta Lake, whose folder has removed files, too: write its rows into a folder of their own"},
		{name: "Delta beside", pattern: "u/*", paths: "u/a.parquet t/a.parquet t/_delta_log/0.json", want: "u/a.parquet"},
		{name: "Iceberg", pattern: "**/*.parquet", paths: "data/a.parquet metadata/1-ab.metadata.json", err: "input PLACE is a table of Iceberg, whose folder has removed files, too: write its rows into a folder of their own"},
		{name: "other metadata", paths: "data/a metadata/names.json", want: "data/a metadata/names.json"},
		{name: "malformed", pattern: "{a", err: "input pattern {a: syntax error in pattern"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := input.Choose("PLACE", tt.pattern, strings.Fields(tt.paths))
			if err == nil && tt.err != "" || err != nil && err.Error() != tt.err || strings.Join(got, " ") != tt.want {
				t.Errorf("chosen %q, error %v, want %q, %s", got, err, tt.want, tt.err)
			}
			if code := exitcode.Of(err); err != nil && code != exitcode.BadData && tt.name != "malformed" {
				t.Errorf("exit code %d of %v, want 65", code, err)
			}
		})
	}
}

// TestSplitPattern verifies that a pattern is cut before the name that has its first wildcard.
func TestSplitPattern(t *testing.T) {
	for _, tt := range []struct{ pattern, folder, rest string }{
		{"a/b", "a/b", ""}, {"a/b/*.csv", "a/b", "*.csv"}, {"*", "", "*"}, {"./*", ".", "*"}, {"/d/**/x", "/d", "**/x"}, {"/*", "/", "*"}, {`a\*b/?`, "a*b", "?"}, {`a/\*b`, "a", `\*b`},
	} {
		if folder, rest := input.SplitPattern(tt.pattern); folder != tt.folder || rest != tt.rest {
			t.Errorf("%s: %q, %q, want %q, %q", tt.pattern, folder, rest, tt.folder, tt.rest)
		}
	}
}

// TestPartitions verifies the columns that the folders of a path name, decoded; files name none.
func TestPartitions(t *testing.T) {
	for _, tt := range []struct{ path, want string }{
		{"a/b.csv", ""},
		{"/lake/day=2026-01-01/h=07/a.csv", `day="2026-01-01" h="07"`},
		{"day=1", ""},
		{"d=a%2Fb%20%c3%a9+c/x", `d="a/b é+c"`},
		{"100%=1%/x", `100%="1%"`},
		{"a%3Db=c=d/x", `a=b="c=d"`},
		{"d=__HIVE_DEFAULT_PARTITION__/e=/x", `d="" e=""`},
		{"=1/x", ""},
		{"d=\xff/x", `d="\xff"`},
	} {
		var got []string
		for _, p := range input.Partitions(tt.path) {
			got = append(got, fmt.Sprintf("%s=%q", p.Name, p.Value))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %s, want %s", tt.path, got, tt.want)
		}
	}
}

// tree makes files in a new folder, with the folders that they need.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestExpandLake verifies the files of a folder with folders: links are followed, those that lead around and folders
// that are empty or cannot be read are errors, and tables are found from within.
func TestExpandLake(t *testing.T) {
	deep := strings.Repeat("d/", 500) + "x"
	dir := tree(t, "lake/day=2/b", "lake/day=2/_SUCCESS", "lake/day=1/a", "lake/day=1/.a.crc", "lake/z", "lake/d\xff/n\xfe", "hidden/_x",
		"delta/day=1/a", "delta/_delta_log/0.json", "ice/data/day=1/a", "ice/metadata/v1.metadata.json", "around/in/a", deep, "out/c")
	link := func(to, name string) {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("../out", "lake/linked")
	link("..", "around/in/up")
	link("nothing", "out/nothing")
	table := ", whose folder has removed files, too: write its rows into a folder of their own"
	for _, tt := range []struct {
		pattern, want, err string
		code               int
	}{
		{pattern: "lake", want: "lake/day=1/a lake/day=2/b lake/d\xff/n\xfe lake/linked/c lake/linked/nothing lake/z"},
		{pattern: "lake/*", want: "lake/z"},
		{pattern: "lake/**/[ab]", want: "lake/day=1/a lake/day=2/b"},
		{pattern: "lake/day=1/../day=2/*", want: "lake/day=2/b"},
		{pattern: "d", want: deep},
		{pattern: "hidden", err: "input folder DIR/hidden has no files, but for those that a dot or an underscore begins", code: exitcode.NoInput},
		{pattern: "around", err: "input folder DIR/around/in/up is a link to a folder in which it lies", code: exitcode.NoInput},
		{pattern: "delta", err: "input DIR/delta is a table of Delta Lake" + table, code: exitcode.BadData},
		{pattern: "delta/day=*/a", err: "input DIR/delta is a table of Delta Lake" + table, code: exitcode.BadData},
		{pattern: "delta/day=1", err: "input DIR/delta is a table of Delta Lake" + table, code: exitcode.BadData},
		{pattern: "ice/data/day=1/*", err: "input DIR/ice is a table of Iceberg" + table, code: exitcode.BadData},
		{pattern: "ice/*/**", err: "input DIR/ice is a table of Iceberg" + table, code: exitcode.BadData},
	} {
		got, err := input.Expand([]string{dir}, []string{tt.pattern}, nil)
		text := ""
		if err != nil {
			text = strings.ReplaceAll(err.Error(), dir, "DIR")
		}
		if files := strings.ReplaceAll(strings.Join(got, " "), dir+"/", ""); files != tt.want || text != tt.err || exitcode.Of(err) != tt.code {
			t.Errorf("%s: %q, error %s (%d), want %q, %s (%d)", tt.pattern, files, text, exitcode.Of(err), tt.want, tt.err, tt.code)
		}
	}
}

// TestExpandAgrees verifies that the files of a pattern are those that the walk of its whole folder would choose:
// folders that it passes over have none.
func TestExpandAgrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func(of string, n int) (s string) {
		for range 1 + rng.IntN(n) {
			s += string(of[rng.IntN(len(of))])
		}
		return s
	}
	var all []string
	for range 200 {
		all = append(all, word("ab_", 1)+word("ab.", 1)+"/"+word("ab_", 2)+"/"+word("ab._", 2)+".x", word("ab._", 2)+".x")
	}
	dir := tree(t, all...)
	slices.Sort(all)
	all = slices.Compact(all)
	found := 0
	for range 3000 {
		pattern := word("ab*?_.", 3)
		for range rng.IntN(3) {
			pattern += "/" + []string{"**", "*", "{a,b*}", "[^a]*", "{a/b,b/**}", word("ab*?_.", 3)}[rng.IntN(6)]
		}
		if rng.IntN(2) == 0 {
			pattern += ".x"
		}
		if !doublestar.ValidatePattern(pattern) || !strings.ContainsAny(pattern, "*?[{") || strings.Contains(pattern, "..") {
			continue
		}
		folder, rest := input.SplitPattern(path.Clean(pattern))
		var in []string
		for _, p := range all {
			if below, ok := strings.CutPrefix(p, strings.TrimPrefix(folder+"/", "/")); ok {
				in = append(in, below)
			}
		}
		want, err := input.Choose(folder, rest, in)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i] = path.Join(folder, want[i])
		}
		got, err := input.Expand([]string{dir}, []string{pattern}, nil)
		if err != nil && len(want) > 0 || err == nil && strings.Join(got, " ") != dir+"/"+strings.Join(want, " "+dir+"/") {
			t.Fatalf("%s: %q, error %v, want %q", pattern, got, err, want)
		}
		found += len(want)
	}
	if found < 1000 {
		t.Errorf("all patterns match %d files, want patterns that match", found)
	}
}

// TestManifest verifies that the folders that name columns are part of a file's name in manifests, and that the manifest
// of many files stays small, and differs where one of them does.
func TestManifest(t *testing.T) {
	for path, want := range map[string]string{"/a/b.csv": "b.csv", "/a=1/in/day=1/h=2/b.csv": "day=1/h=2/b.csv", "a=1/b": "a=1/b", "=1/b": "b"} {
		if got := input.ManifestName(path); got != want {
			t.Errorf("%s is %s in a manifest, want %s", path, got, want)
		}
	}
	var lines []string
	for i := range 10_000 {
		lines = append(lines, fmt.Sprintf("day=%d/part-0.csv 100 1", i))
	}
	text := input.ManifestText(lines)
	if len(text) > 10_000 || !strings.HasPrefix(text, lines[0]+" "+lines[1]) {
		t.Errorf("%d bytes: %.100s", len(text), text)
	}
	lines[9_000] = "day=0/part-0.csv 100 1"
	if other := input.ManifestText(lines); other == text || input.ManifestText(lines[:2]) != lines[0]+" "+lines[1] {
		t.Errorf("%s, want one that differs", other)
	}
}
