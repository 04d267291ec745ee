package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/input/convert"
	"ringtrain/model/job"
	"ringtrain/ring/build"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/token"
)

// runConfig returns the configuration by the options of run, except the outputs.
func (a *app) runConfig(c *cli.Context) (launch.Config, error) {
	cfg, fault := launchConfig(a, c)
	cfg.JobID, cfg.Quiet, cfg.Grace, cfg.Timeout, cfg.Restarts = c.String("job-id"), c.Bool("quiet"), c.Duration("grace"), c.Duration("timeout"), c.Int("restarts")
	cfg.Tag, cfg.Stamp, cfg.OutputDir = c.Bool("tag-output"), c.Bool("timestamp-output"), c.String("output-dir")
	err := errors.Join(fault, a.programsOf(c, &cfg), a.hostsOf(c, &cfg), a.ranksOf(c, &cfg), wantInterface(c))
	if err = cmp.Or(err, wantProgram(c.Args().First(), &cfg)); err != nil {
		return cfg, err
	}
	if cfg.NP == 0 && !c.IsSet("np") && len(cfg.More) == 0 {
		cfg.NP = hosts.TotalSlots(cfg.Hosts)
		switch {
		case cfg.NP > 0:
		case cfg.NoInput: // a job
			cfg.NP = 1
			cfg.Notice("one rank on all cores; -np N starts N ranks, -H HOSTS starts them on hosts")
		default:
			return cfg, exitcode.With(exitcode.Usage, errors.New("the number of ranks is missing, want -np N, or hosts with -H"))
		}
	}
	return cfg, nil
}

// launchConfig returns what each launch takes of the options, with a token.
func launchConfig(a *app, c *cli.Context) (launch.Config, error) {
	cfg := launch.Config{
		NP: c.Int("np"), Env: a.rankEnviron(), Version: build.Current(version), StartTimeout: c.Duration("start-timeout"), Push: c.Bool("push"),
		Stderr: a.rawErr, Notice: a.notice,
	}
	return cfg, a.drawToken(&cfg)
}

// runSelf has ranks run this program with arguments.
func runSelf(cfg *launch.Config, arguments ...string) error {
	self, err := process.Self()
	cfg.Program, cfg.Self, cfg.NoInput = append([]string{self}, arguments...), true, true
	return exitcode.With(exitcode.Internal, err)
}

// optionsGiven returns the options among flags that are set, as words of a command line.
func optionsGiven(c *cli.Context, flags []cli.Flag) []string {
	var words []string
	for _, f := range flags {
		name := f.Names()[0]
		values := []string{fmt.Sprint(c.Value(name))}
		if _, list := f.(*cli.StringSliceFlag); list {
			values = c.StringSlice(name)
		}
		for _, value := range values {
			if c.IsSet(name) {
				words = append(words, "--"+name+"="+value)
			}
		}
	}
	return words
}

// without returns flags but some.
func without(flags, some []cli.Flag) []cli.Flag {
	return slices.DeleteFunc(flags, func(f cli.Flag) bool { return findFlag(some, f.Names()[0]) != nil })
}

// drawToken sets the token of a job that this process starts: the one that the environment
// names, else a fresh one, so that each job has its own.
func (a *app) drawToken(cfg *launch.Config) (err error) {
	if cfg.Token, err = token.Given(a.getenv); !cfg.Token.Set() {
		cfg.Token.Token = token.New()
	}
	return err
}

// wantInterface refuses an --interface that this host does not have.
func wantInterface(c *cli.Context) error {
	if c.String("interface") == "" {
		return nil
	}
	_, err := launch.Interfaces(c.String("interface"))
	return err
}

// rankEnviron returns this process's environment without RINGTRAIN_SSH, the launcher's
// own variable, which ranks would take for a misspelt key.
func (a *app) rankEnviron() []string {
	return slices.DeleteFunc(slices.Clone(a.environ), func(kv string) bool { return strings.HasPrefix(kv, "RINGTRAIN_SSH=") })
}

// namesHosts reports whether the options name hosts.
func namesHosts(c *cli.Context) bool { return c.IsSet("host") || c.IsSet("hostfile") }

// hostsOf sets the hosts, from options or the scheduler's allocation, and how to reach
// them.
func (a *app) hostsOf(c *cli.Context, cfg *launch.Config) (err error) {
	list, file := strings.Join(c.StringSlice("host"), ","), c.String("hostfile")
	switch {
	case list != "" && file != "":
		return exitcode.With(exitcode.Usage, errors.New("hosts are given by -H and by --hostfile: give one of them"))
	case list != "":
		if cfg.Hosts, err = hosts.Parse(list); err != nil {
			err = fmt.Errorf("-H: %w", err)
		}
	case file != "":
		cfg.Hosts, err = hosts.ReadFile(file)
	default:
		cfg.Hosts, err = a.allocated(cfg)
	}
	if err != nil {
		return err
	}
	cfg.Fanout = c.Int("fanout")
	if cfg.MapBy, err = hosts.ParseMapping(c.String("map-by")); err != nil {
		return err
	}
	cfg.SSH, err = launch.SplitWords(c.String("ssh"))
	return err
}

// allocated returns the hosts of the scheduler's allocation and tells them.
// It returns nil without an allocation.
func (a *app) allocated(cfg *launch.Config) ([]hosts.Host, error) {
	given, err := hosts.FindAllocation(a.getenv, a.environ)
	if given == nil {
		if line := hosts.UnreadAllocation(a.getenv); line != "" {
			cfg.Notice(line)
		}
		return nil, err
	}
	if !cfg.Quiet {
		cfg.Notice(given.String())
	}
	return given.Hosts, nil
}

// ranksOf sets the environment, directory and binding of the ranks.
func (a *app) ranksOf(c *cli.Context, cfg *launch.Config) (err error) {
	for _, word := range c.StringSlice("x") {
		found, err := launch.ParseExport(word, a.environ)
		if err != nil {
			return err
		}
		cfg.Export = append(cfg.Export, found...)
	}
	if dir := c.String("wdir"); dir != "" {
		if cfg.Dir, err = filepath.Abs(dir); err != nil {
			return err
		}
	}
	cfg.Bind, err = process.ParseBinding(c.String("bind-to"))
	return err
}

// programsOf sets the programs of the ranks: those that the words name, or train of this
// binary for a job. The word ringtrain names this binary, on other hosts the pushed one;
// after "--" it is the one in PATH.
func (a *app) programsOf(c *cli.Context, cfg *launch.Config) error {
	words := c.Args().Slice()
	isJob := job.IsName(words[0])
	if words[0] == "--" {
		words = words[1:]
	}
	if isJob {
		if len(words) > 1 {
			return exitcode.With(exitcode.Usage, fmt.Errorf("unexpected word %q after job %s", words[1], words[0]))
		}
		options := optionsGiven(c, without(jobFlags(), []cli.Flag{option("json"), option("progress")}))
		return runSelf(cfg, append([]string{"train", words[0], "--start-timeout=" + c.Duration("start-timeout").String()}, options...)...)
	}
	parts := splitPrograms(words)
	if len(parts[0]) == 0 {
		return exitcode.With(exitcode.Usage, errors.New("nothing to run after --"))
	}
	cfg.Program, cfg.Self = parts[0], isSelf(parts[0][0]) || parts[0][0] == "ringtrain" && c.Args().First() != "--"
	for _, part := range parts[1:] {
		app, err := parseApp(part)
		if err != nil {
			return err
		}
		cfg.More = append(cfg.More, app)
	}
	return nil
}

// wantProgram returns an error if the first word of a command line is no job and no program on this
// host, but similar to a job. If all ranks run here the job may be a file in the folder of the word. On
// other hosts any word that is not similar to a built-in job may be a program.
func wantProgram(word string, cfg *launch.Config) error {
	if cfg.Self || word == "--" {
		return nil
	}
	if _, err := process.LookUp(word, cfg.Dir); exitcode.Of(err) != exitcode.NotFound {
		return nil
	}
	info, err := os.Stat(word)
	isFile := err == nil && !info.IsDir() // a program that is not in PATH
	if near := job.Near(word, !cfg.Remote() && !isFile); near != "" {
		return exitcode.With(exitcode.NotFound, fmt.Errorf("no job or program %s (did you mean %s?)", word, near))
	}
	if isFile && info.Mode()&0o111 == 0 && convert.FormatOfFile(word) != "" {
		return exitcode.With(exitcode.NotFound, fmt.Errorf("%s is no job and no program; ringtrain init %s makes a job file of records", word, word))
	}
	return nil
}

// splitPrograms splits words at each ":" before -np or -n. Any other ":" is an argument
// of a program.
func splitPrograms(words []string) [][]string {
	parts, from := [][]string{}, 0
	for i, w := range words {
		if w == ":" && i+1 < len(words) && countFlag(words[i+1]) {
			parts, from = append(parts, words[from:i]), i+1
		}
	}
	return append(parts, words[from:])
}

func countFlag(word string) bool {
	return slices.Contains([]string{"-np", "--np", "-n", "--n"}, word)
}

// parseApp parses -np N PROGRAM ….
func parseApp(words []string) (launch.App, error) {
	var app launch.App
	if len(words) > 1 {
		n, err := strconv.Atoi(words[1])
		if err != nil {
			return app, exitcode.With(exitcode.Usage, fmt.Errorf("%s is %q, want a number", words[0], words[1]))
		}
		app.NP, app.Program = n, words[2:]
	}
	if len(app.Program) > 0 && app.Program[0] == "--" {
		app.Program = app.Program[1:]
	}
	if len(app.Program) == 0 {
		return app, exitcode.With(exitcode.Usage, fmt.Errorf("nothing to run after : %s", words[0]))
	}
	return app, nil
}

// isSelf reports whether a program is this binary, which may have another path on other
// hosts.
func isSelf(program string) bool {
	self, err1 := os.Executable()
	path, err2 := exec.LookPath(program)
	if err1 != nil || err2 != nil {
		return false
	}
	a, err1 := os.Stat(self)
	b, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}
