// Package docs holds the manual: one page in Markdown for each subject. The binary has the
// same pages, so that `ringtrain help docs/tutorial` prints what this folder has.
//
// A block of commands says in its first line what CI does with it:
//
//	sh run     runs the commands, one block after the other in one folder a page
//	sh parse   reads the commands as the shell does, and the options of each ringtrain command
//	sh show    nothing: the commands need what CI has not
//	python run has a Python with the wheel run the blocks, in make interop
//
// A block whose first line names a file, as in "yaml clicks.yaml", is that file: blocks
// behind it find it in their folder.
package docs

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.md
var pages embed.FS

// Names returns the names of all pages, in the order of their letters, without ".md".
func Names() []string {
	files, err := fs.Glob(pages, "*.md")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(f, ".md")
	}
	return files
}

// Page returns the text of the page with this name.
func Page(name string) (text string, ok bool) {
	data, err := pages.ReadFile(name + ".md")
	return string(data), err == nil
}
