package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/input/fetch"
	"ringtrain/input/look"
	"ringtrain/input/remote"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/ring/exitcode"
)

func dataCommand() command {
	return command{
		name: "data", args: "make|fetch|convert|cat|check|cache", usage: "draw, download, convert, print, check or parse records",
		sub: []command{
			{
				name: "make", takes: words{1, 1, "one of " + strings.Join(convert.Kinds(), ", ")}, args: "linear|digits|clicks|table --to DIR", run: runDataMake,
				examples: []string{"ringtrain data make digits --to digits", "ringtrain data make clicks --rows 1000000 --to clicks", "ringtrain data make table --to raw"},
				usage:    "write the records that a job with input.synthetic draws from train.seed, a click log of any size, or a raw table", flags: append([]cli.Flag{option("seed"), option("to")}, clickLogFlags()...),
			},
			{
				name: "fetch", takes: words{1, 1, "one of " + strings.Join(fetch.Names(), ", ")}, args: "NAME", run: runDataFetch,
				flags:    []cli.Flag{&cli.StringFlag{Name: "from", Usage: "base `URL`, or a folder, instead of the published places"}, option("to")},
				examples: []string{"ringtrain data fetch mnist"},
				usage:    "download a data set (" + strings.Join(fetch.Names(), ", ") + ") with its checksum checked",
			},
			{
				name: "convert", takes: words{1, -1, "at least one file"}, args: "FILE … --to FILE", run: runDataConvert, flags: convertFlags(),
				usage: "records in another format",
				examples: []string{"ringtrain data convert train.libsvm --to train.tfrecord",
					"ringtrain data convert t-images-idx3-ubyte --labels t-labels-idx1-ubyte --to t --to-format images"},
			},
			{
				name: "cat", takes: words{1, -1, "at least one file"}, args: "FILE …", run: runDataCat, usage: "print records as lines of JSON; of CSV the cells by the names of the columns",
				examples: []string{"ringtrain data cat train.libsvm --count 3", "ringtrain data cat churn.csv --count 3"},
				flags:    catFlags(),
			},
			dataCheckCommand(), dataCacheCommand(),
		},
	}
}

func runDataMake(a *app, c *cli.Context) error {
	if c.String("to") == "" {
		return exitcode.With(exitcode.Usage, errors.New("--to is missing: want a folder"))
	}
	if c.Args().First() == "clicks" && len(clickLogOptions(c)) > 0 {
		return dataMakeClickLog(a, c)
	}
	set, rows := clickLogOptions(c), 0
	if c.Args().First() == "table" {
		set = slices.DeleteFunc(set, func(name string) bool { return name == "rows" })
		if c.IsSet("rows") {
			rows = c.Int("rows")
		}
	}
	if err := refuse(c, "is for a click log", set...); err != nil {
		return err
	}
	files, err := convert.Make(c.Args().First(), c.Uint64("seed"), rows, c.String("to"))
	for _, f := range files {
		fmt.Fprintln(a.dataOut(), f)
	}
	return err
}

func runDataFetch(a *app, c *cli.Context) error {
	to := c.String("to")
	if to == "" {
		cache, err := cacheDir()
		if err != nil {
			return exitcode.With(exitcode.CannotCreate, err)
		}
		to = cache
	}
	said := ""
	err := fetch.Fetch(a.ctx, c.Args().First(), c.String("from"), to, func(file string, _, total int64) {
		if file != said {
			said = file
			fmt.Fprintf(a.stderr, "%s  %s\n", file, show.Bytes(total))
		}
	})
	switch {
	case err == nil:
		fmt.Fprintln(a.dataOut(), filepath.Join(to, c.Args().First()))
	case exitcode.Of(err) == exitcode.IO && c.String("from") == "":
		err = fmt.Errorf("%w\nwithout a network add --set input.synthetic=true to run, eval and predict: ringtrain draws the records", err)
	}
	return err
}

func runDataConvert(a *app, c *cli.Context) error {
	if c.String("to") == "" {
		return exitcode.With(exitcode.Usage, errors.New("--to is missing: want a file"))
	}
	src, err := a.specOf(c, c.Args().Slice(), c.String("format"))
	if err != nil {
		return err
	}
	dst, err := a.specOf(c, []string{c.String("to")}, c.String("to-format"))
	if err != nil {
		return err
	}
	dst.Overwrite, dst.Compression = c.Bool("overwrite"), ""
	return convert.Convert(a.ctx, src, dst)
}

func runDataCat(a *app, c *cli.Context) error {
	s, err := a.specOf(c, c.Args().Slice(), c.String("format"))
	if err != nil {
		return err
	}
	s.Notice = a.notice
	cat := convert.Cat
	if f, _ := convert.FormatOf(s.Format); !f.IsPlain() {
		cat = look.Cat
	}
	return cat(a.ctx, a.dataOut(), s, c.Int("skip"), c.Int("count"))
}

// placesOf returns what copies records that are elsewhere, for commands without a job: the environment has their keys.
func placesOf(a *app) *remote.Store {
	return records.Places(job.FromEnviron(a.environ).Input, a.notice)
}

// formatOf returns the format that the first file of a name says, "" if it says none.
func formatOf(ctx context.Context, places *remote.Store, name string) (convert.FormatName, error) {
	files, err := places.Files(ctx, name)
	if err == nil {
		files, err = input.Expand([]string{"."}, files, nil)
	}
	if err != nil {
		return "", err
	}
	return convert.FormatOfFile(files[0]), nil
}

// specOf describes files by the options. Without an option for the format, the file name
// determines it.
func (a *app) specOf(c *cli.Context, files []string, format string) (convert.Spec, error) {
	s := convert.Spec{Dense: c.Bool("dense"), Resize: c.Int("resize")}
	for _, n := range strings.FieldsFunc(c.String("shape"), func(r rune) bool { return r == ',' }) {
		size, err := strconv.Atoi(n)
		if err != nil || size < 1 {
			return s, exitcode.With(exitcode.Usage, fmt.Errorf("--shape is %s, want whole numbers such as 28,28,1", c.String("shape")))
		}
		s.Shape = append(s.Shape, size)
	}
	inflate, err := byteCount("--max-inflate", c.String("max-inflate"))
	if err != nil {
		return s, err
	}
	s.Limits = input.Limits{MaxInflate: int64(inflate), MaxFeatures: c.Int("max-features")}
	s.Format = convert.FormatName(format)
	isOutput, places := files[0] == c.String("to"), placesOf(a)
	if format == "" {
		s.Format = convert.FormatOfFile(files[0])
	}
	if s.Format == "" && !isOutput { // of a folder, its files may say it
		if s.Format, err = formatOf(a.ctx, places, files[0]); err != nil {
			return s, err
		}
	}
	f, known := convert.FormatOf(s.Format)
	if !known && format == "" {
		want := "--format"
		if isOutput {
			want = "--to-format; images writes a folder for each class"
		}
		return s, exitcode.With(exitcode.Usage, fmt.Errorf("the name %s does not say its format: want %s", files[0], want))
	}
	for _, k := range convert.PlainKeys() {
		if f.Has(k.Name) && c.IsSet(k.Name) {
			s.Set(k.Name, c.String(k.Name))
		}
	}
	s.Dense = s.Dense || f.Dense
	if isOutput {
		s.Files = files
		return s, nil
	}
	if s.Origin, err = s.Give(files); err != nil {
		return s, err
	}
	if f.Has("labels") {
		s.Labels = c.String("labels")
	}
	if s.Origin, err = s.Here(a.ctx, places); err != nil {
		return s, err
	}
	s.Origin, err = s.Find([]string{"."}, a.notice)
	return s, err
}
