package main

import (
	"github.com/urfave/cli/v2"

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/export/ask"
	"ringtrain/input"
	"ringtrain/model/job"
	"ringtrain/model/train/bundled"
	"ringtrain/model/train/trained"
)

// bundleFlags has the options of a bundle that answers without a job.
func bundleFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "signature", Usage: "without a job: the `NAME` of the signature of --from that answers (default: the usual one)"},
		&cli.StringFlag{Name: "output", Usage: "without a job: the `KEY` of the output that counts, of several (default: all)"},
	}
}

// hasJob reports whether the first word of predict or eval names a job: built in, a job file, or a
// checkpoint or bundle that keeps one. It is a file of records if --from names what answers.
func hasJob(c *cli.Context) bool {
	word := c.Args().First()
	return !c.IsSet("from") || job.IsName(word) || trained.HasModel(word)
}

// openBundle opens the bundle of --from, which answers without a job.
func openBundle(a *app, c *cli.Context, files *bundled.Files) (*bundled.Bundle, error) {
	if err := refuse(c, "is for a job, and "+c.Args().First()+" is none", "set", "split", "importance", "sample"); err != nil {
		return nil, err
	}
	var err error
	if files.Names, err = placesOf(a).Files(a.ctx, c.Args().Slice()...); err != nil {
		return nil, err
	}
	files.Pipe, err = pipeOf(files.Names)
	if err == nil && files.Pipe == nil {
		files.Names, err = input.Expand(nil, files.Names, nil)
	}
	if err != nil {
		return nil, err
	}
	return bundled.Open(bundled.Options{Bundle: c.String("from"), Signature: c.String("signature"), Output: c.String("output"), Label: c.String("label")})
}

// predictByBundle writes what a bundle says of the records of files.
func predictByBundle(a *app, c *cli.Context, to *input.Output) error {
	var files bundled.Files
	b, err := openBundle(a, c, &files)
	if err != nil {
		return err
	}
	defer b.Close()
	var p *show.Predictions
	err = b.Predict(a.ctx, files, func(some *ask.Answers) error {
		if p == nil {
			before := max(some.Keys, 1)
			p, err = predictionsOf(a, c, show.Fields{Keys: some.Names[:some.Keys], Answer: some.Names[before:], Texts: some.Texts[before:]}, to)
			if err != nil {
				return err
			}
		}
		return p.Rows(some.Rows, some.Row)
	})
	if err == nil {
		err = p.Close()
	}
	if err == nil && to != nil {
		err = to.Commit()
	}
	warnings(a, b.Warnings, a.newReporter(c, 0))
	return err
}

// evalByBundle writes the metrics of what a bundle says of the records of files.
func evalByBundle(a *app, c *cli.Context) error {
	var files bundled.Files
	b, err := openBundle(a, c, &files)
	if err != nil {
		return err
	}
	defer b.Close()
	m, err := b.Evaluate(a.ctx, files)
	if err != nil {
		return err
	}
	out := a.newReporter(c, 0)
	out.Event(m)
	show.MetricsTable(out.People, m)
	warnings(a, b.Warnings, out)
	return nil
}

// refuseWithoutBundle refuses the options of a bundle that answers without a job.
func refuseWithoutBundle(c *cli.Context) error {
	return refuse(c, "is for --from BUNDLE FILE, without a job", "signature", "output", "label")
}
