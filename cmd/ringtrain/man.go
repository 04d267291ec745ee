package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

func manCommand() command {
	return command{name: "man", usage: "the manual page of ringtrain, for man -l", examples: []string{"ringtrain man | man -l -"}, run: runMan}
}

func runMan(a *app, c *cli.Context) error {
	fmt.Fprint(a.dataOut(), manualPage())
	return nil
}

// manualPage returns all commands with their options as a page of man(7).
func manualPage() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH RINGTRAIN 1 \"\" \"ringtrain %s\" \"User Commands\"\n", roff(version))
	b.WriteString(".SH NAME\nringtrain \\- train models on many CPU workers, without a parameter server\n")
	b.WriteString(".SH SYNOPSIS\n.B ringtrain\n.I COMMAND\n[\\fIOPTION\\fR ...] [\\fIWORD\\fR ...]\n")
	b.WriteString(".SH COMMANDS\n")
	manualOf(&b, "", commands())
	b.WriteString(".SH SEE ALSO\n.B ringtrain \\fICOMMAND\\fB --help\n")
	return b.String()
}

// manualOf appends a section for each command of list and for those below it.
func manualOf(b *strings.Builder, path string, list []command) {
	for _, c := range list {
		if c.usage == "" {
			continue
		}
		fmt.Fprintf(b, ".SS \"%s\"\n%s\n", roff(strings.TrimSpace(path+c.name+" "+c.args)), roff(c.description()))
		for _, f := range c.flags {
			name, about := optionNames(f), optionUsage(f)
			fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(name), roff(about))
		}
		manualOf(b, path+c.name+" ", c.sub)
	}
}

// roff escapes text for troff: backslashes, dashes (so that they can be copied), and a
// control character at the beginning of a line.
func roff(text string) string {
	text = strings.NewReplacer("\\", "\\e", "-", "\\-", "\"", "\\(dq", "\n", " ", "…", "...").Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = "\\&" + text
	}
	return text
}
