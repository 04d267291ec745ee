// Command ringtrain trains models on many CPU workers at once, without a parameter
// server. docs/ is its manual.
//
// The package has more than 25 files: one per command, named after the command, and one per part of the
// command line (arguments, options, help, completion, signals). The files translate options
// into the configurations of packages; they contain no other logic. Package
// show writes all that a person sees.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/input/remote"
	"ringtrain/model/train"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/phrase"
)

// version is the tag or commit of the binary. The linker sets it.
var version = "0.1.0"

func main() {
	if process.IsGuard() {
		os.Exit(process.RunGuard())
	}
	by, _ := place.Launched(os.Getenv, os.Environ())
	stdout, stderr, end := show.OnTerminal(os.Stdout, os.Stderr, by == "")
	code := Main(os.Args[1:], stdout, stderr)
	show.Bound(end)
	os.Exit(code)
}

// command is one command of ringtrain. run receives the parsed options.
type command struct {
	name, args string
	usage      string   // line in the list of commands; "" hides the command
	about      string   // text of --help instead of usage
	group      string   // heading of the list of commands
	examples   []string // valid command lines
	flags      []cli.Flag
	takes      words
	sub        []command
	run        func(a *app, c *cli.Context) error

	// fails handles an error that was not reported yet. It is nil for commands whose
	// process is no rank of a job.
	fails func(a *app, said arguments, err error) error

	// stop reports whether the arguments from word on belong to another program.
	stop func(word string) bool
}

// app has the environment of every command.
type app struct {
	ctx            context.Context
	out            *show.Reporter // standard output, also for the bytes of ranks and for data
	stdout, stderr io.Writer      // for lines of text
	rawErr         io.Writer      // the file of stderr, for the bytes of ranks
	launched       bool           // this process launches a job: an error from now on is one of the manual
	withParent     bool           // the launcher ends when its parent has ended
	environ        []string
	getenv         func(string) string
	keys           train.KeyLimits // 0: the usual ones
	watch          *watch          // of the run of this process; nil: none
	history        string          // of that run: a file, behind HOST: on another host; "": none, or unknown
}

// notice tells people a line.
func (a *app) notice(line string) { fmt.Fprintln(a.stderr, line) }

// dataOut returns standard output for what programs read, such as names of files: a terminal gets it
// printable, a file or a pipe as it is.
func (a *app) dataOut() io.Writer {
	if show.IsTerminal(a.out) {
		return show.Verbatim(a.out)
	}
	return a.out
}

func commands() []command {
	var all []command
	for _, group := range []struct {
		heading string
		list    []command
	}{
		{"train", []command{initCommand(), runCommand(), trainCommand(), jobsCommand(), dataCommand()}},
		{"a job that runs", []command{statusCommand(), reportCommand(), doctorCommand(), rendezvousCommand(), tokenCommand()}},
		{"a trained model", []command{evalCommand(), predictCommand(), exportCommand(), inspectCommand(), serveCommand()}},
		{"other", []command{benchCommand(), versionCommand(), completionCommand(), manCommand()}},
		{"", []command{completeCommand(), agentCommand()}},
	} {
		for _, c := range group.list {
			c.group = group.heading
			all = append(all, c)
		}
	}
	return all
}

// Main runs one command line and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	out := show.NewReporter(stdout, stderr)
	a := &app{
		ctx: context.Background(), out: out, stdout: out.Stdout, stderr: out.Stderr,
		rawErr: stderr, environ: os.Environ(), getenv: os.Getenv,
	}
	err := a.dispatch(args)
	if err == nil {
		err = exitcode.With(exitcode.IO, out.Fault())
	}
	if err == nil {
		return exitcode.OK
	}
	if text := remote.Public(err.Error()); text != "" {
		messages := show.Printable(stderr, show.MaxMessage)
		show.Bound(func() {
			if entry := show.Entry(text, exitcode.Of(err)); a.launched && entry != "" {
				fmt.Fprintln(messages, "ringtrain: what to do: ringtrain help "+entry)
			}
			for _, line := range strings.Split(text, "\n") {
				fmt.Fprintln(messages, "ringtrain: "+line)
			}
		})
	}
	return exitcode.Of(err)
}

// dispatch runs the command that args name.
func (a *app) dispatch(args []string) error {
	list, path := commands(), "ringtrain"
	for {
		if len(args) > 1 && args[0] == "help" {
			if page, ok := strings.CutPrefix(args[1], "docs/"); ok {
				return printPage(a, page)
			}
			args = append(args[1:], "--help")
		}
		if len(args) == 0 || isHelp(args[0]) {
			printHelp(a.stdout, path, list)
			return nil
		}
		if args[0] == "--version" || args[0] == "-v" {
			args[0] = "version"
		}
		cmd, ok := findCommand(list, args[0])
		if !ok {
			gone := strings.TrimPrefix(path+" "+args[0], "ringtrain ")
			if instead := removedCommands[gone]; instead != "" {
				return exitcode.With(exitcode.Usage, fmt.Errorf("%s is gone: %s", gone, instead))
			}
			return exitcode.With(exitcode.Usage, fmt.Errorf("unknown command %q%s; see %s --help", args[0], phrase.DidYouMean(args[0], commandNames(list)), path))
		}
		path, args = path+" "+cmd.name, args[1:]
		if cmd.sub == nil || cmd.run != nil && !startsSub(cmd, args) {
			return a.runCommand(cmd, path, args)
		}
		list = cmd.sub
	}
}

func startsSub(cmd command, args []string) bool {
	if len(args) == 0 {
		return false
	}
	_, ok := findCommand(cmd.sub, args[0])
	return ok
}

func findCommand(list []command, name string) (command, bool) {
	for _, c := range list {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// commandNames returns the names of the commands that help lists.
func commandNames(list []command) []string {
	var names []string
	for _, c := range list {
		if c.usage != "" {
			names = append(names, c.name)
		}
	}
	return names
}

func isHelp(word string) bool {
	return word == "-h" || word == "-help" || word == "--help" || word == "help"
}

// runCommand sorts the arguments, runs cmd and reports its error.
func (a *app) runCommand(cmd command, path string, args []string) error {
	sorted, err := sortArguments(args, cmd.flags, cmd.stop)
	if sorted.help || len(args) > 0 && isHelp(args[0]) {
		printCommandHelp(a.stdout, path, cmd)
		return nil
	}
	if err != nil {
		err = fmt.Errorf("%w; see %s --help", err, path)
	} else {
		err = a.execute(cmd, path, sorted)
	}
	if err != nil && !a.out.Told() && cmd.fails != nil {
		err = cmd.fails(a, sorted, err)
	}
	if err != nil && !a.out.Told() {
		a.reportEnd(cmd, sorted, err)
	}
	return err
}

// execute parses the options with the flag package and runs cmd.
func (a *app) execute(cmd command, path string, sorted arguments) error {
	flagApp := &cli.App{
		Name: path, Flags: cmd.flags, HideHelp: true, HideVersion: true,
		DisableSliceFlagSeparator: true, // --set model.hidden=[64,32] is one value
		Writer:                    io.Discard, ErrWriter: io.Discard,
		Action: func(c *cli.Context) error {
			if err := cmp.Or(checkLeast(c, cmd.flags), cmd.takes.check(c)); err != nil {
				return err
			}
			return cmd.run(a, c)
		},
		OnUsageError: func(_ *cli.Context, err error, _ bool) error {
			return exitcode.With(exitcode.Usage, valueError(cmd.flags, err))
		},
		ExitErrHandler: func(*cli.Context, error) {},
	}
	return flagApp.Run(append([]string{path}, sorted.all()...))
}

// words says how many words a command takes. The zero value is none.
type words struct {
	min, max int    // max -1: any number
	want     string // for messages
}

// anyWords is for a command that checks its words itself.
var anyWords = words{0, -1, ""}

// check checks the number of words of a command.
func (w words) check(c *cli.Context) error {
	n := c.NArg()
	if n >= w.min && (w.max < 0 || n <= w.max) {
		return nil
	}
	given := "nothing is given"
	if n > 0 {
		given = fmt.Sprintf("%q is given", strings.Join(c.Args().Slice(), " "))
	}
	return exitcode.With(exitcode.Usage, fmt.Errorf("%s, want %s; see %s --help", given, cmp.Or(w.want, "none"), c.App.Name))
}
