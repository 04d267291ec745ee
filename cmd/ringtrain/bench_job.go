package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/bench/speed"
	"ringtrain/cmd/ringtrain/show"
	"ringtrain/model/job"
	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/cores"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/phrase"
)

// jobRounds is the number of turns of each setting.
const jobRounds = 3

// runBenchJob times jobs in several settings and advises one. The jobs' folders stay as they are.
func runBenchJob(a *app, c *cli.Context) error {
	self, err := process.Self()
	if err != nil {
		return exitcode.With(exitcode.Internal, err)
	}
	a.ctx, _ = catchSignals(a.ctx, a.stderr)
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	t := speed.Trial{
		Program: self, Sets: c.StringSlice("set"), Rounds: jobRounds, Warm: min(trainWarm, c.Duration("duration")), Measure: c.Duration("duration"),
		Log: a.notice,
	}
	if err := trialSettings(a, c, &t); err != nil {
		return err
	}
	var trials []speed.Trial
	for _, word := range c.Args().Slice() {
		if err := placeJob(&t, folder, word); err != nil {
			return err
		}
		if _, err := job.Load(t.Job, a.environ, t.Sets); err != nil {
			return err
		}
		trials = append(trials, t)
	}
	out := a.newReporter(c, 0)
	for _, t := range trials {
		rows, err := t.Run(a.ctx)
		if err != nil {
			return err
		}
		advice := speed.Advise(rows)
		if out.JSON {
			for _, r := range rows {
				out.Emit(r)
			}
			out.Emit(advice)
			continue
		}
		show.SettingsTable(a.stdout, rows)
		fmt.Fprintf(a.stdout, "take %s: %s.\n", advice.Choice, advice.Why)
	}
	return nil
}

// placeJob has t run the job that a word names: a job, else a kind of model on drawn records.
func placeJob(t *speed.Trial, folder, word string) (err error) {
	t.Name, t.Job = word, word
	switch kinds := speed.Presets(); {
	case job.IsName(word):
		t.Name = strings.TrimSuffix(filepath.Base(word), filepath.Ext(word))
	case slices.Contains(kinds, word):
		t.Job, err = speed.WritePreset(folder, word)
	default:
		err = exitcode.With(exitcode.Usage, fmt.Errorf("no job %s%s: want a job file, a built-in job, or a kind of model: %s",
			phrase.Name(word), phrase.DidYouMean(word, kinds), strings.Join(kinds, ", ")))
	}
	return err
}

// trialSettings sets the settings that the options ask for, and how to launch them.
func trialSettings(a *app, c *cli.Context, t *speed.Trial) error {
	slots, first := cores.Own(), 0
	t.Cores = slots
	if namesHosts(c) {
		var cfg launch.Config
		if err := a.hostsOf(c, &cfg); err != nil {
			return err
		}
		slots, first, t.Cores = hosts.TotalSlots(cfg.Hosts), cfg.Hosts[0].Slots, 0
		if len(cfg.Hosts) == 1 {
			first = slots
		}
	}
	t.Launch = optionsGiven(c, append(hostFlags(), option("data"), option("start-timeout")))
	numbers, err := numbersOfRanks(c.String("np"), slots, namesHosts(c))
	if err != nil {
		return err
	}
	codecs, err := trialCodecs(c.String("codec"))
	if err != nil {
		return err
	}
	oneHost := first == 0 || first == slots
	if len(codecs) > 0 && oneHost {
		t.Log("--codec is for the wire between hosts: nothing is encoded on one host")
	}
	for _, n := range numbers {
		if oneHost || n <= first && c.String("map-by") == "slot" || len(codecs) == 0 {
			t.Settings = append(t.Settings, speed.Setting{Ranks: n})
			continue
		}
		for _, name := range codecs {
			t.Settings = append(t.Settings, speed.Setting{Ranks: n, Codec: name})
		}
	}
	return nil
}

// numbersOfRanks parses -np. By default the numbers are 1, 2, 4 … up to the slots, and all slots.
func numbersOfRanks(list string, slots int, most bool) ([]int, error) {
	var numbers []int
	if list == "" {
		for n := 1; n < slots; n *= 2 {
			numbers = append(numbers, n)
		}
		return append(numbers, slots), nil
	}
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > ring.MaxWorldSize {
			return nil, exitcode.With(exitcode.Usage, fmt.Errorf("-np has %q, want numbers of ranks up to %d, as in 1,2,4", word, ring.MaxWorldSize))
		}
		if most && n > slots {
			return nil, exitcode.With(exitcode.Usage, fmt.Errorf("-np has %d, want at most the %d slots of the hosts", n, slots))
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}

// trialCodecs parses --codec.
func trialCodecs(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	names := strings.Split(list, ",")
	var errs []error
	for _, name := range names {
		if _, err := codec.Parse(name); err != nil {
			errs = append(errs, fmt.Errorf("--codec: %w", err))
		}
	}
	return names, exitcode.With(exitcode.Usage, errors.Join(errs...))
}
