package train

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"ringtrain/model"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// SpelledLayers returns the model of a job, or of a kind of model by its name, as
// model.layers, in the form of a job file. A kind is that of ten classes, an mlp with one
// hidden layer of 100, and a model of ids has no dense features beside them.
func SpelledLayers(name string) ([]byte, error) {
	c, loss, err := modelOf(name)
	if err != nil {
		return nil, err
	}
	layers := c.Layers
	if len(layers) == 0 {
		layers, _ = c.PresetLayers(loss)
	}
	var b strings.Builder
	b.WriteString("model:\n  layers:\n")
	for _, l := range layers {
		fmt.Fprintf(&b, "    - %s\n", yamlItem(reflect.ValueOf(l)))
	}
	return []byte(b.String()), nil
}

// modelOf returns the model of a job or a kind.
func modelOf(name string) (model.Config, model.LossConfig, error) {
	if IsJob(name) {
		job, err := LoadJob(name, nil, nil)
		if err != nil {
			return model.Config{}, model.LossConfig{}, err
		}
		return job.Model, job.Loss, nil
	}
	for _, c := range []model.Config{
		{Kind: name}, {Kind: name, Classes: digitClasses}, {Kind: name, Classes: digitClasses, Hidden: []int{100}}, {Kind: name, Hidden: []int{100}},
	} {
		if c.Check(model.LossConfig{}) == nil {
			return c, model.LossConfig{}, nil
		}
	}
	known := append(BuiltinJobs(), kindNames()...)
	slices.Sort(known) // a job and a kind may have one name
	return model.Config{}, model.LossConfig{}, exitcode.With(exitcode.Usage, fmt.Errorf("no built-in job or kind of model %q, want one of %s, or a job file",
		name, strings.Join(slices.Compact(known), ", ")))
}

func kindNames() []string {
	var names []string
	for _, p := range model.Presets() {
		names = append(names, p[0])
	}
	return names
}

// NodeInfo tells what one node of a model's graph is.
type NodeInfo struct {
	Name       string   `json:"node"`
	Op         string   `json:"op"`
	In         []string `json:"in"`
	Shape      []int    `json:"shape"` // of the output, for an example
	Parameters int      `json:"parameters"`
	FLOPs      int      `json:"flops"` // forward, for an example
}

// Kind names the event.
func (NodeInfo) Kind() string { return "node" }

// describeGraph lists the inputs and nodes of g.
func describeGraph(g *graph.Graph) []Event {
	var list []Event
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

// storedGraph returns the graph of the model that a checkpoint was made of, nil where it does
// not say enough.
func storedGraph(jobFile string, shape []int, columns *graph.Columns) *graph.Graph {
	job := DefaultJob()
	l := loader{file: "job file of the checkpoint", where: map[string]string{}, doubtful: map[string]bool{}}
	if !l.fromFile([]byte(jobFile), reflect.ValueOf(&job).Elem()) || len(l.faults) > 0 || len(shape) == 0 {
		return nil
	}
	if columns != nil {
		in, err := job.columnInputs(*columns)
		if err != nil {
			return nil
		}
		return orNil(job.Model.GraphOf(in, job.Loss))
	}
	return orNil(job.Model.Graph(shape, job.Loss))
}

func orNil(g *graph.Graph, err error) *graph.Graph {
	if err != nil {
		return nil
	}
	return g
}
