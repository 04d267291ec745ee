package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestCandidates verifies the candidates at each position of a command line.
func TestCandidates(t *testing.T) {
	tests := []struct {
		name, words string // words separated by a space; the last one is incomplete
		want        []string
		not         string
	}{
		{name: "commands", words: "", want: []string{"run", "train", "jobs", "version"}, not: "agent"},
		{name: "begun command", words: "re", want: []string{"rendezvous"}, not: "run"},
		{name: "subcommands", words: "bench ", want: []string{"allreduce", "peers"}, not: "run"},
		{name: "jobs", words: "run ", want: []string{"linear", "mnist", "ctr"}, not: "show"},
		{name: "jobs after options", words: "run -np 4 --json m", want: []string{"mnist"}, not: "linear"},
		{name: "options", words: "run --re", want: []string{"--restarts", "--resume"}, not: "--json"},
		{name: "options of a subcommand", words: "bench peers --", want: []string{"--rounds", "--help"}, not: "--np"},
		{name: "values", words: "run --map-by ", want: []string{"slot", "node"}, not: "linear"},
		{name: "keys", words: "run mnist --set optimizer.l", want: []string{"optimizer.learning_rate="}, not: "train.steps="},
		{name: "keys of items", words: "jobs explain input.columns.num", want: []string{"input.columns.numeric.default"}, not: "linear"},
		{name: "keys of items to set", words: "run mnist --set input.c", want: []string{"input.columns="}, not: "input.columns.numeric.default="},
		{name: "value without a list", words: "run --hostfile "},
		{name: "words of a program", words: "run -np 2 ./prog --"},
		{name: "shells", words: "completion ", want: []string{"bash", "zsh", "fish"}},
		{name: "jobs explain", words: "jobs explain input.b", want: []string{"input.batch"}, not: "linear"},
		{name: "jobs show", words: "jobs show c", want: []string{"ctr"}, not: "linear"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range candidatesFor(strings.Split(tt.words, " ")) {
				got = append(got, c.text)
			}
			for _, w := range tt.want {
				if !slices.Contains(got, w) {
					t.Errorf("%q offers %q, want %q among them", tt.words, got, w)
				}
			}
			if tt.want == nil && len(got) > 0 || tt.not != "" && slices.Contains(got, tt.not) {
				t.Errorf("%q offers %q, want none of %q", tt.words, got, tt.not)
			}
		})
	}
}

// TestBashCompletion verifies the script in a real bash.
func TestBashCompletion(t *testing.T) {
	ask := exec.Command("bash", "--norc", "-c", `
source <(ringtrain completion bash)
COMP_WORDS=(ringtrain run --map-by no) COMP_CWORD=3
_ringtrain; echo "${COMPREPLY[@]}"
COMP_WORDS=(ringtrain run -np 2 li) COMP_CWORD=4
_ringtrain; echo "${COMPREPLY[@]}"`)
	ask.Env = newBox(t).inPath().env
	out, err := ask.CombinedOutput()
	if got, want := string(bytes.TrimSpace(out)), "node\nlinear"; got != want || err != nil {
		t.Errorf("bash completes to %q, %v, want %q", got, err, want)
	}
}

// TestManualPage verifies that the page has every visible command and option, and no
// line that troff would take for a request.
func TestManualPage(t *testing.T) {
	page := manualPage()
	requests := []string{".TH ", ".SH ", ".SS ", ".TP", ".B ", ".I "}
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !slices.ContainsFunc(requests, func(r string) bool { return strings.HasPrefix(line, r) }) {
			t.Errorf("line %q begins like a request", line)
		}
	}
	var check func(list []command)
	check = func(list []command) {
		for _, c := range list {
			if c.usage == "" {
				continue
			}
			if !strings.Contains(page, roff(c.description())) {
				t.Errorf("no %s on the page", c.name)
			}
			for _, f := range c.flags {
				if name := optionNames(f); !strings.Contains(page, ".B "+roff(name)+"\n") {
					t.Errorf("no %s of %s on the page", name, c.name)
				}
			}
			check(c.sub)
		}
	}
	check(commands())
}
