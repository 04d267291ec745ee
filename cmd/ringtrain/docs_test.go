package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/docs"
	"ringtrain/ring/launch"
)

// A docBlock is a block of a page: its first line behind the fence, and its text.
type docBlock struct {
	info, text string
	line       int
}

// docBlocks returns the fenced blocks of a page.
func docBlocks(t *testing.T, page, text string) []docBlock {
	t.Helper()
	var blocks []docBlock
	var open *docBlock
	for i, line := range strings.Split(text, "\n") {
		switch info, fence := strings.CutPrefix(line, "```"); {
		case fence && open == nil:
			open = &docBlock{info: info, line: i + 1}
		case fence:
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	if open != nil {
		t.Errorf("%s:%d: the block does not end", page, open.line)
	}
	return blocks
}

// TestDocs runs the commands of each page of the manual that say so, in the order of the
// page and in a folder of its own, and reads those that another machine must run, and those of
// README.md. The last line counts them.
func TestDocs(t *testing.T) {
	ran, read := 0, 0
	for _, page := range docs.Names() {
		text, _ := docs.Page(page)
		t.Run("page="+page, func(t *testing.T) {
			b := newBox(t).inPath()
			for _, block := range docBlocks(t, page, text) {
				words := strings.Fields(block.info)
				switch {
				case block.info == "sh run":
					ran += commandsIn(block.text)
					runBlock(t, b, page, block)
				case block.info == "sh parse":
					read += commandsIn(block.text)
					parseBlock(t, page, block)
				case block.info == "sh show", block.info == "text", block.info == "go", block.info == "yaml", block.info == "", block.info == "way", block.info == "python run":
				case len(words) == 2 && words[0] == "yaml":
					b.write(words[1], block.text)
				default:
					t.Errorf("%s:%d: block %q, want sh run, sh parse, sh show, python run, text, go or yaml FILE", page, block.line, block.info)
				}
			}
		})
	}
	t.Run("page=README", func(t *testing.T) {
		for i, line := range strings.Split(readFile(t, "../../README.md"), "\n") {
			if line, indented := strings.CutPrefix(line, "    "); indented && strings.Contains(line, "ringtrain ") && !strings.HasPrefix(line, "[") {
				read++
				parseBlock(t, "README", docBlock{text: line, line: i + 1})
			}
		}
	})
	t.Logf("%d commands of the manual run, %d read", ran, read)
	if ran == 0 || read == 0 {
		t.Errorf("%d commands run and %d read, want some of each", ran, read)
	}
}

// commandsIn counts the lines of a block that are no comments.
func commandsIn(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			n++
		}
	}
	return n
}

// runBlock runs a block by the shell. Each of its commands must end with 0.
func runBlock(t *testing.T, b *box, page string, block docBlock) {
	ctx, cancel := context.WithTimeout(t.Context(), b.limit)
	defer cancel()
	sh := exec.CommandContext(ctx, "sh", "-eu", "-c", block.text)
	sh.Dir, sh.Env = b.dir, b.env
	if out, err := sh.CombinedOutput(); err != nil {
		t.Fatalf("%s:%d: %v:\n%s\nof\n%s", page, block.line, err, out, block.text)
	}
}

// parseBlock has the shell read a block, and ringtrain the options of its own commands.
func parseBlock(t *testing.T, page string, block docBlock) {
	sh := exec.Command("sh", "-n")
	sh.Stdin = strings.NewReader(block.text)
	if out, err := sh.CombinedOutput(); err != nil {
		t.Errorf("%s:%d: %v: %s", page, block.line, err, out)
	}
	for line := range strings.Lines(block.text) {
		line, _, _ = strings.Cut(line, " #")
		if !strings.Contains(line, "ringtrain") {
			continue
		}
		words, err := launch.SplitWords(line)
		if err != nil {
			t.Errorf("%s:%d: %v", page, block.line, err)
		}
		at := slices.Index(words, "ringtrain")
		if at < 0 {
			continue
		}
		if err := parseWords(words[at+1:]); err != nil {
			t.Errorf("%s:%d: %s: %v", page, block.line, strings.TrimSpace(line), err)
		}
	}
}

// parseWords returns an error unless the words behind ringtrain name a command, and options
// that it has.
func parseWords(words []string) error {
	list := commands()
	var cmd command
	for len(words) > 0 {
		found, ok := findCommand(list, words[0])
		if !ok {
			break
		}
		cmd, list, words = found, found.sub, words[1:]
	}
	var discard bytes.Buffer
	if cmd.name == "" {
		return (&app{stdout: &discard, out: show.NewReporter(&discard, &discard)}).dispatch(words)
	}
	_, err := sortArguments(words, cmd.flags, cmd.stop)
	return err
}

// docLink matches a link of Markdown and its target.
var docLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// docFence matches a block, which has no links.
var docFence = regexp.MustCompile("(?ms)^```.*?^```$")

// TestDocLinks verifies that each link of the manual, README.md and bench leads to a file of the
// repository, and to a heading of that file where the link names one.
func TestDocLinks(t *testing.T) {
	links := 0
	for _, page := range append(docs.Names(), "../README", "../bench/README", "../bench/RESULTS") {
		text := readFile(t, "../../docs/"+page+".md")
		for _, m := range docLink.FindAllStringSubmatch(docFence.ReplaceAllString(text, ""), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			file := filepath.Join("../../docs", filepath.Dir(page), path)
			if path == "" {
				file = "../../docs/" + page + ".md"
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s.md: link to %s: %v", page, m[1], err)
				continue
			}
			links++
			if anchor != "" && !slices.Contains(anchors(readFile(t, file)), anchor) {
				t.Errorf("%s.md: link to %s: no such heading", page, m[1])
			}
		}
	}
	t.Logf("%d links", links)
	if links == 0 {
		t.Error("no link was found")
	}
}

// anchors returns the names of the headings of a page, as links spell them, and of the page's own
// anchors.
func anchors(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if id, ok := strings.CutPrefix(line, "<a id=\""); ok {
			id, _, _ = strings.Cut(id, "\"")
			names = append(names, id)
		}
		title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		kept := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(title))
		names = append(names, kept)
	}
	return names
}

// TestHelpPages verifies that help prints a page of the manual, the help of a command, and
// the nearest name of a page that is not there.
func TestHelpPages(t *testing.T) {
	b := newBox(t)
	want, _ := docs.Page("tutorial")
	for _, name := range []string{"docs/tutorial", "docs/tutorial.md"} {
		if got := b.must(0, "help", name).stdout; got != want {
			t.Errorf("help %s prints %d bytes, want the page, %d bytes", name, len(got), len(want))
		}
	}
	if got, want := b.must(0, "help", "bench", "allreduce").stdout, b.must(0, "bench", "allreduce", "--help").stdout; got != want || want == "" {
		t.Errorf("help bench allreduce prints %q, want %q", got, want)
	}
	part := b.must(0, "help", "docs/when-it-breaks#silent").stdout
	if !strings.HasPrefix(part, "#### `lost rank 2 ") || !strings.Contains(part, "--lease 30s") || strings.Contains(part, "<a id=") {
		t.Errorf("help of an entry prints %q, want the entry alone", part)
	}
	if got := b.must(64, "help", "docs/when-it-breaks#nothing").stderr; !strings.Contains(got, "has no part nothing") {
		t.Errorf("help of no entry says %q", got)
	}
	if got := b.must(64, "help", "docs/tutorail").stderr; !strings.Contains(got, "did you mean tutorial?") {
		t.Errorf("help docs/tutorail says %q, want a suggestion", got)
	}
}
