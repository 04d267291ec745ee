package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
	"ringtrain/ring/phrase"
)

// loadJob loads the job called name with the options of the command line.
func loadJob(c *cli.Context, environ []string, name string) (*job.Config, error) {
	sets := c.StringSlice("set")
	var short []string
	for _, option := range []string{"link", "codec", "security"} {
		if c.IsSet(option) {
			sets, short = append(sets, "allreduce."+option+"="+c.String(option)), append(short, option)
		}
	}
	config, err := job.Load(name, environ, sets)
	if near := nearJob(name, true); near != "" && exitcode.Of(err) == exitcode.NoInput && isMissing(name) {
		err = exitcode.With(exitcode.NoInput, fmt.Errorf("%s: no such job file, and no built-in job (did you mean %s?)", name, near))
	}
	return config, asOptions(err, short...)
}

// asOptions returns err with the names of options in place of the keys that they are short for:
// --link for allreduce.link.
func asOptions(err error, options ...string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, option := range options {
		text = strings.ReplaceAll(text, "allreduce."+option+" is ", "--"+option+" is ")
	}
	if text == err.Error() {
		return err
	}
	return exitcode.With(exitcode.Usage, errors.New(text))
}

// checkJob loads the job of ranks that all run on this host, as each of them will. So a fault of the
// job is told once, before any rank starts. It leaves the check to the ranks where they may find
// another file, on other hosts or in --wdir, or where a file can be read only once, such as a pipe.
func checkJob(c *cli.Context, cfg *launch.Config) error {
	name := c.Args().First()
	if !job.IsName(name) || cfg.Remote() || cfg.Dir != "" {
		return nil
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil
	}
	job, err := loadJob(c, slices.Concat(cfg.Env, cfg.Export), name)
	if err != nil {
		return err
	}
	return job.CheckLabel()
}

// nearJob returns the job that a misspelt word was probably meant to be, "" for none: with files a job
// file in the folder of word that has the word's name, else the built-in job or job file whose name is
// similar.
func nearJob(word string, files bool) string {
	dir, base := filepath.Split(word)
	base = jobStem(base)
	var names []string
	if dir == "" {
		names = job.BuiltinNames()
	}
	builtin := len(names)
	var paths []string // of the names behind the built-in jobs
	if files {
		entries, _ := os.ReadDir(filepath.Clean(dir)) // a folder that cannot be read has no names to suggest
		for _, e := range entries {
			stem := jobStem(e.Name())
			if stem == e.Name() || stem == "" || e.IsDir() {
				continue
			}
			if stem == base {
				return dir + e.Name()
			}
			names, paths = append(names, stem), append(paths, dir+e.Name())
		}
	}
	near := slices.Index(names, phrase.Nearest(base, names))
	switch {
	case near < 0:
		return ""
	case near < builtin:
		return names[near]
	}
	return paths[near-builtin]
}

// jobStem returns the name of a job file without its ending, and any other name as it is.
func jobStem(name string) string {
	if stem, ok := strings.CutSuffix(name, ".yaml"); ok {
		return stem
	}
	return strings.TrimSuffix(name, ".yml")
}

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
