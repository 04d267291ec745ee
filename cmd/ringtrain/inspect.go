package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"ringtrain/model/graph"
	"ringtrain/model/train/report"
	"ringtrain/model/train/trained"
	"ringtrain/ring/exitcode"
)

func inspectCommand() command {
	return command{
		name: "inspect", args: "PATH", usage: "what is in a checkpoint, a bundle or an event file",
		flags: []cli.Flag{topFlag(), jsonFlag()}, run: (*app).inspect,
	}
}

func (a *app) inspect(c *cli.Context) error {
	if err := wantArgs(c, 1, 1, "a path"); err != nil {
		return err
	}
	events, err := inspect(c.Args().First(), c.Int("top"))
	if err != nil {
		return err
	}
	out := a.newReporter(c, 0)
	for _, e := range events {
		if out.json {
			out.writeJSON(e)
			continue
		}
		fmt.Fprintln(a.stdout, inspected(e))
	}
	return nil
}

// inspect returns the content of a path, or the top largest weights if top is above 0.
func inspect(path string, top int) ([]report.Event, error) {
	switch {
	case top < 0:
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--top is %d, want 1 or more", top))
	case top > 0:
		return trained.InspectTop(path, top)
	}
	return trained.Inspect(path)
}

// inspected formats one item of the content.
func inspected(e report.Event) string {
	switch e := e.(type) {
	case trained.SignatureInfo:
		return fmt.Sprintf("signature %s (%s): %s → %s", e.Name, e.Method, endpointsText(e.Inputs), endpointsText(e.Outputs))
	case trained.NodeInfo:
		return nodeText(e)
	case trained.WeightInfo:
		return fmt.Sprintf("%12.6g  %s  %s", e.Value, e.Input, e.Variable)
	case trained.ScalarInfo:
		return fmt.Sprintf("step %d  %s  %.6g", e.Step, e.Tag, e.Value)
	case trained.TensorInfo:
		text := fmt.Sprintf("%s %s%v  %s", e.Name, e.DType, e.Shape, bytesText(e.Bytes))
		if e.Mean != nil {
			text += fmt.Sprintf("  min %g, max %g, mean %g", *e.Min, *e.Max, *e.Mean)
		}
		if len(e.Values) > 0 {
			text += fmt.Sprintf("  %v", e.Values)
		}
		return text
	}
	return e.Kind()
}

// nodeText formats a node of a model's graph.
func nodeText(n trained.NodeInfo) string {
	from := ""
	if len(n.In) > 0 {
		from = " ← " + strings.Join(n.In, ", ")
	}
	return fmt.Sprintf("%-24s %-16s %-12v %10d parameters %12d FLOPs%s", n.Name, n.Op, graph.Shape(n.Shape), n.Parameters, n.FLOPs, from)
}

func endpointsText(list []trained.EndpointInfo) string {
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = fmt.Sprintf("%s %s%v", e.Key, e.DType, e.Shape)
	}
	return strings.Join(texts, ", ")
}
