// House counts what the order of the house is measured by:
//
//	go run ./.ci/house [-root FOLDER] [-page FILE] [-list]
//
// It prints the lines of the product, the product files of each folder, and the functions and
// types of a gradient's way from the training loop to the socket and back. The way is the
// fenced list "way" of the page. House checks the list against the code: each function must
// exist and must be reached from an earlier one, and the list must reach the socket and the sums.
// Each path, and each name such as ring.Group.AllReduce, that the page has in backticks must exist.
//
// A product file is a Go file that is neither a test nor generated. A folder with more than
// 25 product files is flagged unless its package comment says why it has "more than 25 files".
// The lines of folders that the binary is made without are those of the test machinery.
//
// The program fails if a gradient passes through too many functions or types, if a type has too many methods or
// fields, if types of a package reach each other by their fields, if a receiver is not named by its
// type, or if a condition does not test what its statement assigns.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "the module's folder")
	page := flag.String("page", "docs/architecture.md", "the page with the way, relative to the module's folder")
	list := flag.Bool("list", false, "print all folders, and the functions and types of the way")
	flag.Parse()
	if err := run(os.Stdout, *root, *page, *list); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, root, page string, list bool) error {
	folders, err := countFolders(root)
	if err != nil {
		return err
	}
	printFolders(out, folders, list)
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return err
	}
	if err := checkNames(root, string(text)); err != nil {
		return err
	}
	names, err := wayIn(string(text))
	if err != nil {
		return err
	}
	p, err := load(root)
	if err != nil {
		return err
	}
	w, err := p.checkWay(names)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "a gradient's way: %d functions, %d types\n", len(w.functions), len(w.types))
	if list {
		for _, f := range w.functions {
			fmt.Fprintln(out, "  func", f)
		}
		for _, t := range w.types {
			fmt.Fprintln(out, "  type", t)
		}
	}
	return errors.Join(checkShape(p), checkManners(root))
}
