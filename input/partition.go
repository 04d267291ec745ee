package input

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"ringtrain/ring/exitcode"
)

// A Partition is a column that a folder names, as day=2026-01-01 does. All records of the files in the folder have its
// value.
type Partition struct{ Name, Value string } // the empty Value is missing

// noPartition is the value that Hive writes where there is none.
const noPartition = "__HIVE_DEFAULT_PARTITION__"

// Partitions returns the columns that the folders of a path name, in their order.
func Partitions(path string) (all []Partition) {
	folders := strings.Split(path, "/")
	for _, folder := range folders[:len(folders)-1] {
		name, value, found := strings.Cut(folder, "=")
		if !found || name == "" {
			continue
		}
		if value = decoded(value); value == noPartition {
			value = ""
		}
		all = append(all, Partition{decoded(name), value})
	}
	return all
}

// decoded returns s with the bytes that a percent sign and two digits stand for.
func decoded(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b []byte
	for ; s != ""; s = s[1:] {
		if len(s) >= 3 && s[0] == '%' {
			if c, err := hex.DecodeString(s[1:3]); err == nil {
				b, s = append(b, c...), s[2:]
				continue
			}
		}
		b = append(b, s[0])
	}
	return string(b)
}

// Folders are the columns of a set that the folders of its files name, of those that are asked for.
type Folders struct {
	Names []string
	cells [][][]byte // of each name, of each file
}

// cellPad is how much memory is behind a cell, for readers of numbers.
const cellPad = 8

// FolderNames returns the names of all columns that the folders of files name.
func FolderNames(files []string) (names []string) {
	seen := map[string]bool{}
	for _, f := range files {
		for _, p := range Partitions(f) {
			if !seen[p.Name] {
				seen[p.Name] = true
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// FoldersOf returns the columns of some names that the folders of files name. It is exitcode.BadData if that of one
// file does not name the column that the folder of another one does, or names it twice.
func FoldersOf(files, names []string) (Folders, error) {
	var all Folders
	partitions := make([][]Partition, len(files))
	for i, f := range files {
		partitions[i] = Partitions(f)
	}
	for _, name := range names {
		if slices.Contains(all.Names, name) {
			continue
		}
		var cells [][]byte
		with, without := -1, -1
		for i, has := range partitions {
			var cell []byte
			times := 0
			for _, p := range has {
				if p.Name == name {
					times++
					cell = append(make([]byte, 0, len(p.Value)+cellPad), p.Value...)
				}
			}
			cells = append(cells, cell)
			switch {
			case times > 1:
				return all, exitcode.With(exitcode.BadData, fmt.Errorf("input: the folders of %s name the column %s twice", files[i], name))
			case times == 1:
				with = i
			default:
				without = i
			}
		}
		switch {
		case with >= 0 && without >= 0:
			return all, exitcode.With(exitcode.BadData, fmt.Errorf("input: %s is in no folder that names the column %s, as %s is", files[without], name, files[with]))
		case with >= 0:
			all.Names, all.cells = append(all.Names, name), append(all.cells, cells)
		}
	}
	return all, nil
}

// Varying returns the columns that are not the same in all files.
func (f *Folders) Varying() (some Folders) {
	for i, cells := range f.cells {
		if slices.ContainsFunc(cells, func(cell []byte) bool { return !bytes.Equal(cell, cells[0]) }) {
			some.Names, some.cells = append(some.Names, f.Names[i]), append(some.cells, cells)
		}
	}
	return some
}

// Find returns the place of a column, -1 if folders do not name it.
func (f *Folders) Find(name string) int { return slices.Index(f.Names, name) }

// Cell returns the cell that all records of a file have in one of the columns. It is empty where it is missing.
func (f *Folders) Cell(column, file int) []byte { return f.cells[column][file] }

// Twice is the error of a file that has a column which its folders name, too.
func (f *Folders) Twice(column int) error {
	return exitcode.With(exitcode.BadData, fmt.Errorf("column %s is in the file and in the names of its folders, want it in one of them", f.Names[column]))
}
