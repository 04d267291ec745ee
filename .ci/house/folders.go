package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// mostFiles is how many product files a folder may have without a sentence about it.
const mostFiles = 25

// columns are the folders of the product.
var columns = []string{"cmd", "ring", "model", "input", "export", "bench"}

// A folder is a folder with product files.
type folder struct {
	path      string
	files     int
	lines     int
	explained bool // the package comment says why there are more than mostFiles
	machinery bool // of tests: the product's binary is made without it
}

// countFolders returns the folders of the product, by path.
func countFolders(root string) ([]folder, error) {
	counts := map[string]*folder{}
	for _, column := range columns {
		err := filepath.WalkDir(filepath.Join(root, column), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return filepath.SkipDir
			}
			if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			return countFile(root, path, counts)
		})
		if err != nil {
			return nil, err
		}
	}
	folders := make([]folder, 0, len(counts))
	for _, f := range counts {
		folders = append(folders, *f)
	}
	slices.SortFunc(folders, func(a, b folder) int { return strings.Compare(a.path, b.path) })
	return folders, markMachinery(root, folders)
}

// markMachinery marks the folders of which `go list -deps ./cmd/ringtrain` names no package.
func markMachinery(root string, folders []folder) error {
	list := exec.Command("go", "list", "-deps", "./cmd/ringtrain")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	needed := strings.Fields(string(out))
	for i, f := range folders {
		folders[i].machinery = !slices.Contains(needed, module+"/"+f.path)
	}
	return nil
}

// countFile adds the Go file at path to the counts of its folder.
func countFile(root, path string, counts map[string]*folder) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil || ast.IsGenerated(f) {
		return err
	}
	dir, err := filepath.Rel(root, filepath.Dir(path))
	if err != nil {
		return err
	}
	c := counts[dir]
	if c == nil {
		c = &folder{path: filepath.ToSlash(dir)}
		counts[dir] = c
	}
	c.files++
	c.lines += bytes.Count(text, []byte("\n"))
	words := strings.Join(strings.Fields(f.Doc.Text()), " ")
	c.explained = c.explained || strings.Contains(words, fmt.Sprintf("more than %d files", mostFiles))
	return nil
}

// printFolders prints the sums, and the folders that have many files, or all.
func printFolders(out io.Writer, folders []folder, all bool) {
	var files, lines, product, large, machinery int
	var rows bytes.Buffer
	for _, f := range folders {
		if f.machinery {
			machinery += f.lines
		} else {
			files, lines, product = files+f.files, lines+f.lines, product+1
		}
		note := ""
		if f.files > mostFiles {
			large++
			if note = "  no sentence says why"; f.explained {
				note = "  the package comment says why"
			}
		}
		if all || note != "" {
			fmt.Fprintf(&rows, "  %3d files %6d lines  %s%s\n", f.files, f.lines, f.path, note)
		}
	}
	fmt.Fprintf(out, "product: %d lines in %d files of %d folders, %d of them with more than %d files\n", lines, files, product, large, mostFiles)
	fmt.Fprintf(out, "test machinery: %d lines\n", machinery)
	out.Write(rows.Bytes())
}
