package main

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"ringtrain/ring/exitcode"

	"github.com/urfave/cli/v2"
)

// TestPrintOptions verifies that the job file of --print-options loads as the same job.
func TestPrintOptions(t *testing.T) {
	for _, job := range []string{"linear", "mnist", "ctr"} {
		t.Run("job="+job, func(t *testing.T) {
			b := newBox(t)
			first := b.must(0, "train", job, "--print-options", "--set", "train.steps=7",
				"--set", "optimizer.name=momentum", "--set", "optimizer.learning_rate=0.01", "--set", "optimizer.momentum=0.5",
				"--set", "checkpoint.every=90s", "--set", "allreduce.bucket=1MiB", "--set", "name=yes: #1").stdout
			b.write("job.yaml", first)
			if second := b.must(0, "train", "--print-options", "job.yaml").stdout; second != first {
				t.Errorf("printed\n%s\nand when that is loaded\n%s", first, second)
			}
			for _, want := range []string{"steps: 7", "momentum: 0.5", "1m30s", "1048576"} {
				if !strings.Contains(first, want) {
					t.Errorf("lacks %q:\n%s", want, first)
				}
			}
			if files := b.files(); len(files) != 1 {
				t.Errorf("--print-options wrote %v", files)
			}
		})
	}
}

// TestOptionSources verifies the precedence: flag, environment, file, default.
func TestOptionSources(t *testing.T) {
	const file = "model: {kind: linear}\ninput: {synthetic: true, batch: 7}\noptimizer: {learning_rate: 0.01}\n"
	tests := []struct {
		name, want string
		env, args  []string
	}{
		{"from=file", "batch: 7", nil, nil},
		{"from=environment", "batch: 8", []string{"RINGTRAIN_INPUT_BATCH=8"}, nil},
		{"from=flag", "batch: 9", []string{"RINGTRAIN_INPUT_BATCH=8"}, []string{"--set", "input.batch=9"}},
		{"from=last flag", "batch: 10", nil, []string{"--set", "input.batch=9", "--set=input.batch=10"}},
		{"from=environment with a dot more", "sgd: 0.25", []string{"RINGTRAIN_OPTIMIZER_LEARNING_RATES_SGD=0.25"}, nil},
		{"from=environment with an underscore", "local_batch: 3", []string{"RINGTRAIN_INPUT_LOCAL_BATCH=3"}, nil},
		{"from=default", "codec: auto", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBox(t).with(tt.env...)
			b.write("job.yaml", file)
			e := b.must(0, append([]string{"train", "job.yaml", "--print-options"}, tt.args...)...)
			if !strings.Contains(e.stdout, tt.want) {
				t.Errorf("lacks %q:\n%s", tt.want, e.stdout)
			}
		})
	}
}

// TestFlagPlaces verifies flags before and after the job, with one dash and with two.
func TestFlagPlaces(t *testing.T) {
	set := "train.steps=3"
	for _, args := range []string{
		"run -np 2 --set " + set + " linear",
		"run -np 2 linear --set " + set,
		"run linear -np 2 -set " + set,
		"run --np=2 linear --set=" + set,
		"run linear -n 2 -set=" + set + " --start-timeout 30s",
		"run --start-timeout=30s linear -n=2 -resume never --set " + set,
		"train linear --world-size 1 -set " + set,
		"train -set " + set + " linear",
	} {
		t.Run(args, func(t *testing.T) {
			e := newBox(t).with("RINGTRAIN_JSON=1", "RINGTRAIN_EXPORT_IF=always").must(0, strings.Fields(args)...)
			want := 2.0
			if strings.HasPrefix(args, "train") {
				want = 1
			}
			if got := e.only(t, "start").num("world_size"); got != want {
				t.Errorf("world size %v, want %v", got, want)
			}
			if got := e.only(t, "done").num("steps"); got != 3 {
				t.Errorf("%v steps, want 3", got)
			}
		})
	}
}

// TestHelp verifies that each line of help but a command fits into helpWidth, that no option has its default
// twice, and that each command has examples with options of its own.
func TestHelp(t *testing.T) {
	var check func(path string, list []command)
	check = func(path string, list []command) {
		for _, c := range list {
			var b bytes.Buffer
			printCommandHelp(&b, path+" "+c.name, c)
			if len(c.sub) > 0 {
				printHelp(&b, path+" "+c.name, c.sub)
			} else if len(c.examples) == 0 && c.usage != "" {
				t.Errorf("%s %s --help has no example", path, c.name)
			}
			for _, example := range c.examples {
				_, line, found := strings.Cut(example, path+" "+c.name)
				line, _, _ = strings.Cut(line, " >")
				line, _, _ = strings.Cut(line, " |")
				if _, err := sortArguments(strings.Fields(line), c.flags, c.stop); err != nil || !found {
					t.Errorf("%s %s --help has the example %q: %v", path, c.name, example, err)
				}
			}
			for line := range strings.Lines(b.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > helpWidth && !strings.HasPrefix(line, "  ringtrain ") {
					t.Errorf("%s %s --help has a line of %d characters, want %d at most: %s", path, c.name, n, helpWidth, line)
				}
			}
			for _, f := range c.flags {
				if usage := optionUsage(f); strings.Count(usage, "default") > 1 || strings.Contains(usage, "`") {
					t.Errorf("%s %s %s: usage is %q", path, c.name, optionNames(f), usage)
				}
			}
			check(path+" "+c.name, c.sub)
		}
	}
	check("ringtrain", commands())
}

// TestUsage verifies that invalid command lines are refused as wrong usage.
func TestUsage(t *testing.T) {
	tests := []struct {
		args, want string
		code       int
	}{
		{"", "usage: ringtrain COMMAND", 0},
		{"--help", "usage: ringtrain COMMAND", 0},
		{"train --help", "--set", 0},
		{"run -h", "-np N", 0},
		{"bench --help", "allreduce", 0},
		{"bench allreduce --help", "--max", 0},
		{"bench allreduce -np 2 --help", "--max", 0},
		{"run -np 2 -h", "-np N", 0},
		{"run -np 1 -- echo -h", "-h", 0},
		{"trian", `unknown command "trian" (did you mean train?)`, 64},
		{"run --lnik tcp mnist", "unknown option --lnik (did you mean --link?)", 64},
		{"run -np 2 mnsit", "no job or program mnsit (did you mean mnist?)", 127},
		{"train", "want one job", 64},
		{"train a b", "want one job", 64},
		{"run", "nothing to run", 64},
		{"run sh", "the number of ranks is missing, want -np N, or hosts with -H", 64},
		{"train mnsit", "no such job file, and no built-in job (did you mean mnist?)", 66},
		{"run --grace -1s linear", "--grace is -1s, want 0 or more", 64},
		{"run -np 2 --interface q linear", `--interface is "q", want the name of an interface`, 64},
		{"run -np 2 --hostfile nowhere linear", "--hostfile: open nowhere", 66},
		{"run -H b:0 linear", `-H: host b: slots is "0", want a number`, 64},
		{"run -np 2 --map-by q linear", `--map-by is "q", want slot or node`, 64},
		{"run -np 2 --bind-to q linear", `--bind-to is "q", want core or none`, 64},
		{"train linear --link q", `--link is "q", want one of`, 64},
		{"train linear --codec q", `--codec is "q", want one of`, 64},
		{"train linear --streams 2", "--streams is gone: leave it out", 64},
		{"train linear --resume q", `--resume is "q", want auto, never or must`, 64},
		{"bench allreduce --link q", `--link is "q", want one of`, 64},
		{"bench allreduce --levels q", `--levels is "q", want auto or flat`, 64},
		{"bench allreduce --lossless q", `--lossless: compressor "q" is unknown, want one of`, 64},
		{"bench allreduce --tune -np 2", "--tune is gone: leave it out, allreduce.algorithm auto", 64},
		{"bench allreduce --streams=2", "--streams is gone: leave it out", 64},
		{"bench scale --algorithm q", `--algorithm is "q"`, 64},
		{"run -np two linear", `-np is "two", want a whole number`, 64},
		{"run -np 99999999999999999999 linear", `-np is "99999999999999999999", want a smaller number`, 64},
		{"run -np -99999999999999999999 linear", `-np is "-99999999999999999999", want a larger number`, 64},
		{"run -np", "-np needs a value", 64},
		{"run -np 2 linear extra", `"extra"`, 64},
		{"run -np 2 --", "nothing to run after --", 64},
		{"jobs show nothing", "linear", 64},
		{"jobs list", "show NAME", 64},
		{"jobs explain allreduce.streams", "allreduce.streams is gone: leave it out", 64},
		{"jobs explain input.bach", `no key "input.bach" (did you mean "input.batch"?)`, 64},
		{"jobs explain input.batch", "input.batch: whole number, 1 to 1073741824 (default: 100)\n  Examples of a step over all ranks.", 0},
		{"data make cats --to d", "linear, digits, clicks", 64},
		{"data make linear", "--to is missing", 64},
		{"data make clicks --rows 0 --to d", "--rows is 0, want 1 or more", 64},
		{"data make clicks --format parquet --to d", "want one of tfrecord, libsvm, libffm, vw, csv", 64},
		{"data make digits --ids 5 --to d", "--ids is 5, want none: it is for a click log", 64},
		{"data convert x.libsvm", "--to is missing", 64},
		{"data cat records", "no input file records", 66},
		{"data fetch nothing", "mnist", 64},
		{"predict linear", "no checkpoint or bundle at ckpt/linear", 66},
		{"inspect", "want a path", 64},
		{"inspect export/nowhere", "no checkpoint or bundle at export/nowhere", 66},
		{"inspect nowhere --names mnist", "--names is mnist, want none: it is for --top", 64},
		{"inspect nowhere --top 3", "no checkpoint or bundle at nowhere", 66},
		{"report", "want a run or several", 64},
		{"report linear", "ckpt/linear: no history", 66},
		{"report nowhere", "nowhere: no history: want a job", 66},
		{"eval linear", "ckpt/linear", 66},
		{"predict . --from export", "input folder . has no files", 66},
		{"bench allreduce -np 2 --max 1X", "--max is 1X", 64},
		{"bench allreduce -np 2 --codec zip", "zip", 64},
		{"version now", "want none", 64},
		{"serve", "want a folder of models, or --config FILE", 64},
		{"serve export", "want a folder of models: open", 66},
	}
	for _, tt := range tests {
		t.Run("args="+tt.args, func(t *testing.T) {
			b := newBox(t)
			e := b.must(tt.code, strings.Fields(tt.args)...)
			if said := e.stdout + e.stderr; !strings.Contains(said, tt.want) {
				t.Errorf("says %q, want %q in it", said, tt.want)
			}
			if tt.code != 0 && (e.stdout != "" || strings.Count(e.stderr, "\n") != 1) {
				t.Errorf("want one line on standard error: %q %q", e.stdout, e.stderr)
			}
			if files := b.files(); len(files) > 0 {
				t.Errorf("files are left: %v", files)
			}
		})
	}
}

// TestBadValues verifies for each option of each command whose value is parsed that another text is
// an error that names the option as it is typed, the text and what is wanted.
func TestBadValues(t *testing.T) {
	tried := 0
	var try func(path []string, list []command)
	try = func(path []string, list []command) {
		for _, c := range list {
			words := append(slices.Clone(path), c.name)
			for _, f := range c.flags {
				name := dashed(f.Names()[0])
				for value, shown := range badValues(t, f) {
					var stderr strings.Builder
					code := Main(append(slices.Clone(words), name+"="+value), io.Discard, &stderr)
					if got, want := stderr.String(), "ringtrain: "+name+" is "+shown+", want "; code != exitcode.Usage || !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 1 {
						t.Errorf("%v %s=%s: code %d and %q, want %q", words, name, value, code, got, want)
					}
					tried++
				}
			}
			try(words, c.sub)
		}
	}
	try(nil, commands())
	t.Logf("%d values", tried)
	if tried == 0 {
		t.Error("no value was tried")
	}
}

// badValues returns values that an option refuses, and how the error shows them. Any text may be a
// value of an option with text; TestUsage has those that have few values.
func badValues(t *testing.T, f cli.Flag) map[string]string {
	name := f.Names()[0]
	switch f := f.(type) {
	case *cli.StringFlag, *cli.StringSliceFlag:
		return nil
	case *cli.IntFlag:
		least, ok := leastNumbers[name]
		if !ok {
			t.Errorf("leastNumbers lacks %s", name)
		}
		below := strconv.Itoa(least - 1)
		if f.Value == least-1 { // a default may be given
			below = strconv.Itoa(least - 2)
		}
		return map[string]string{"no-such": `"no-such"`, below: below}
	case *cli.DurationFlag:
		least, ok := leastTimes[name]
		if !ok {
			t.Errorf("leastTimes lacks %s", name)
		}
		below := (least - time.Second).String()
		return map[string]string{"no-such": `"no-such"`, below: below}
	}
	return map[string]string{"no-such": `"no-such"`}
}

// TestGivenDefaults verifies that each option with a number or a time takes its own default.
func TestGivenDefaults(t *testing.T) {
	var try func(path string, list []command)
	try = func(path string, list []command) {
		for _, c := range list {
			c.run, c.takes = func(*app, *cli.Context) error { return nil }, anyWords
			for _, f := range c.flags {
				name, value := f.Names()[0], ""
				switch f := f.(type) {
				case *cli.IntFlag:
					value = strconv.Itoa(f.Value)
				case *cli.DurationFlag:
					value = f.Value.String()
				}
				if value == "" || value == "0" || value == "0s" { // 0 stands for no default
					continue
				}
				if err := new(app).execute(c, path+c.name, arguments{options: []string{"--" + name + "=" + value}}); err != nil {
					t.Errorf("%s%s --%s=%s: %v", path, c.name, name, value, err)
				}
			}
			try(path+c.name+" ", c.sub)
		}
	}
	try("ringtrain ", commands())
}

// TestClaimedDefaults verifies that --start-timeout and --lease have the defaults of the
// manual.
func TestClaimedDefaults(t *testing.T) {
	found := 0
	for _, c := range commands() {
		if !slices.Contains([]string{"run", "train", "rendezvous"}, c.name) {
			continue
		}
		for _, f := range c.flags {
			d, ok := f.(*cli.DurationFlag)
			switch {
			case ok && d.Name == "start-timeout":
				found++
				if d.Value != 300*time.Second {
					t.Errorf("%s --start-timeout is %v by default, want 300 s", c.name, d.Value)
				}
			case ok && d.Name == "lease":
				found++
				if d.Value != 5*time.Second {
					t.Errorf("%s --lease is %v by default, want 5 s", c.name, d.Value)
				}
			}
		}
	}
	if found != 6 {
		t.Errorf("%d flags found, want 6", found)
	}
}
