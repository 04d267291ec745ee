package trained

import (
	"fmt"

	"ringtrain/export/checkpoint"
	"ringtrain/model/graph"
	"ringtrain/model/job"
	"ringtrain/model/train/records"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// NodeInfo describes one node of a model's graph.
type NodeInfo struct {
	Name       string   `json:"node"`
	Op         string   `json:"op"`
	In         []string `json:"in"`
	Shape      []int    `json:"shape"` // of the output, for an example
	Parameters int      `json:"parameters"`
	FLOPs      int      `json:"flops"` // forward, for an example
}

// describeGraph lists the inputs and nodes of g.
func describeGraph(g *graph.Graph) []report.Event {
	var list []report.Event
	for _, p := range g.Inputs {
		op := "dense input"
		if p.Kind == graph.Sparse {
			op = "ids with values"
			if p.Fields > 1 {
				op = fmt.Sprintf("ids with values, %d fields", p.Fields)
			}
		}
		list = append(list, NodeInfo{Name: p.Name, Op: op, In: []string{}, Shape: p.Shape})
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		parameters := 0
		for _, v := range n.Vars {
			parameters += v.Len()
		}
		var shapes []graph.Shape
		for _, name := range n.In {
			s, _ := g.Shape(name)
			shapes = append(shapes, s)
		}
		list = append(list, NodeInfo{n.Name, string(n.Op), n.In, n.Out, parameters, n.FLOPs(shapes)})
	}
	return list
}

// storedGraph returns the graph of the model in the checkpoint at path, nil if the checkpoint does not
// determine it. A job file that cannot be parsed is an error.
func storedGraph(path string, run *checkpoint.Run) (*graph.Graph, error) {
	cfg, err := job.Parse(path+": job file", []byte(run.JobFile))
	switch {
	case cfg == nil:
		return nil, exitcode.With(exitcode.BadData, err)
	case cfg.Model.Unnamed():
		cfg.Model.SetNames(run.Classes)
	}
	switch {
	case err != nil || len(run.Shape) == 0:
		return nil, nil
	case run.Columns == nil:
		return orNil(cfg.Model.GraphOf(cfg.Inputs(run.Shape), cfg.Loss)), nil
	}
	in, err := records.ColumnInputs(cfg, *run.Columns)
	if err != nil {
		return nil, nil
	}
	return orNil(cfg.Model.GraphOf(in, cfg.Loss)), nil
}

func orNil(g *graph.Graph, err error) *graph.Graph {
	if err != nil {
		return nil
	}
	return g
}
