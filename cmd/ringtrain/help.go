package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

func printHelp(w io.Writer, path string, list []command) {
	fmt.Fprintf(w, "%s trains models on many CPU workers at once, without a parameter server.\n\nusage: %s COMMAND …\n\n", "ringtrain", path)
	for _, c := range list {
		if c.usage == "" {
			continue
		}
		fmt.Fprintf(w, "  %-28s %s\n", strings.TrimSpace(c.name+" "+c.args), c.usage)
	}
	fmt.Fprintf(w, "\n%s COMMAND --help tells a command's options. Options may stand before or after the words.\n", path)
}

func printCommandHelp(w io.Writer, path string, c command) {
	fmt.Fprintf(w, "%s %s\n\n%s\n", path, c.args, c.usage)
	if len(c.sub) > 0 {
		fmt.Fprintln(w)
		for _, s := range c.sub {
			fmt.Fprintf(w, "  %-28s %s\n", strings.TrimSpace(s.name+" "+s.args), s.usage)
		}
	}
	if len(c.flags) == 0 {
		return
	}
	fmt.Fprint(w, "\noptions:\n")
	for _, f := range c.flags {
		fmt.Fprintln(w, "  "+strings.ReplaceAll(cli.FlagStringer(f), "\t", "  "))
	}
}
