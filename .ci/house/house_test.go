package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// product is the program of the product.
var product = sync.OnceValues(func() (*program, error) { return load(filepath.Join("..", "..")) })

func mustLoad(t *testing.T) *program {
	t.Helper()
	p, err := product()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPage verifies that docs/architecture.md names only what exists and every package of the
// product, that its way of a gradient is that of the code, and that the way stays within its bars.
func TestPage(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	if err := checkNames(root, string(text)); err != nil {
		t.Error(err)
	}
	folders, err := countFolders(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if !strings.Contains(string(text), "`"+f.path+"`") {
			t.Errorf("the page does not name %s", f.path)
		}
	}
	names, err := wayIn(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mustLoad(t).checkWay(names); err != nil {
		t.Error(err)
	}
}

// TestCheckWay verifies that a way is refused that names no function, leaves out a caller, or
// ends before the socket.
func TestCheckWay(t *testing.T) {
	_, err := mustLoad(t).checkWay([]string{
		"ring/bucket.Reducer.Ready", "ring/bucket.Reducer.run", "ring/bucket.Reducer.none", "ring.sumParts",
	})
	for _, want := range []string{
		"ring/bucket.Reducer.none is no function",
		"ring.sumParts is reached from no function before it",
		"no function of the way uses golang.org/x/sys/unix.SYS_WRITEV",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "Reducer.run is reached") {
		t.Errorf("error %v: Reducer.run gets what Reducer.Ready sends", err)
	}
}

// TestCheckNames verifies which words in backticks are taken for paths and names.
func TestCheckNames(t *testing.T) {
	root := filepath.Join("..", "..")
	if err := checkNames(root, "`ring` `ring/doc.go` `ring.Group.AllReduce` `make`"); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{"ring/none.go", "ring.Group.None", "none/at/all", "ring.none"} {
		if err := checkNames(root, "`"+wrong+"`"); err == nil {
			t.Errorf("%s is taken for a name", wrong)
		}
	}
}

// TestFolders verifies that folders are counted and that those with many files are flagged.
func TestFolders(t *testing.T) {
	folders, err := countFolders(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	var files int
	for _, f := range folders {
		files += f.files
	}
	if files < 100 {
		t.Errorf("%d files, want those of the product", files)
	}
	var out strings.Builder
	printFolders(&out, []folder{{"a", 3, 10, false, false}, {"b", 26, 20, false, false}, {"c", 26, 20, true, false}, {"d", 1, 7, false, true}}, false)
	want := "product: 50 lines in 55 files of 3 folders, 2 of them with more than 25 files\n" +
		"test machinery: 7 lines\n" +
		"   26 files     20 lines  b  no sentence says why\n" +
		"   26 files     20 lines  c  the package comment says why\n"
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", &out, want)
	}
}

// TestHouse verifies that no type of the product is too large, that no types reach each other by
// their fields, and that receivers and conditions are as they should be.
func TestHouse(t *testing.T) {
	if err := checkShape(mustLoad(t)); err != nil {
		t.Error(err)
	}
	if err := checkManners(filepath.Join("..", "..")); err != nil {
		t.Error(err)
	}
}
