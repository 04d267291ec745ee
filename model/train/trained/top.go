package trained

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"ringtrain/export/bundle"
	"ringtrain/export/checkpoint"
	"ringtrain/export/savedmodel"
	"ringtrain/model/graph"
	"ringtrain/model/train/report"
	"ringtrain/ring/exitcode"
)

// WeightInfo describes one of the largest weights of a linear part of a model.
type WeightInfo struct {
	Variable string        `json:"variable"`
	Row      int           `json:"row"`
	Input    string        `json:"input"` // meaning of the row, by the names of the records: "city=Bern"
	Value    report.Number `json:"value"`
	Texts    []string      `json:"texts,omitempty"` // of a hashed id: the most frequent ones that make it, if they are known

	rows int // of the variable
}

// InspectTop lists the n weights of largest absolute value in the linear parts of the model in a
// checkpoint or a bundle: the variables with one column and a row for each input of the model. If the
// records have columns, the weights have the names of these.
func InspectTop(ctx context.Context, path string, n int, names Names) ([]report.Event, error) {
	var tensors []bundle.Tensor
	var columns *graph.Columns
	var g *graph.Graph // nil of a bundle
	if err := wantPath(path); err != nil {
		return nil, err
	}
	if IsBundle(path) {
		b, err := savedmodel.Read(path)
		if err != nil {
			return nil, err
		}
		tensors, columns = b.Variables, b.Columns
	} else {
		s, err := checkpoint.Load(path)
		if err != nil {
			return nil, err
		}
		tensors, columns = s.Tensors, s.Run.Columns
		if g, err = storedGraph(path, &s.Run); err != nil {
			return nil, err
		}
	}
	var all []WeightInfo
	for _, t := range linearParts(tensors, g, columns) {
		values, err := t.Float32s()
		if err != nil {
			return nil, exitcode.With(exitcode.BadData, fmt.Errorf("%s: %w", path, err))
		}
		all = appendTop(all, t.Name, values, n)
	}
	if len(all) == 0 {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("%s has no linear part: want a variable of one column that is not all zeros", path))
	}
	all = largest(all, n)
	if names.Job != nil {
		if err := names.name(ctx, path, columns, all); err != nil {
			return nil, err
		}
	}
	events := make([]report.Event, len(all))
	for i, w := range all {
		w.Input = inputOfRow(columns, w)
		events[i] = w
	}
	return events, nil
}

// linearParts returns the variables with one column that multiply an input of the model. Without a
// graph they are those of the layers that the kinds of models have for that. Of other layers they are
// those with as many rows as inputs.
func linearParts(tensors []bundle.Tensor, g *graph.Graph, c *graph.Columns) []bundle.Tensor {
	list := slices.DeleteFunc(slices.Clone(tensors), func(t bundle.Tensor) bool {
		return t.DType != bundle.DTFloat32 || len(t.Shape) != 2 || t.Shape[0] < 2
	})
	var keep func(bundle.Tensor) bool
	switch names := inputVariables(g); {
	case g != nil:
		keep = func(t bundle.Tensor) bool { return slices.Contains(names, t.Name) }
	case slices.ContainsFunc(list, ofLinearLayer):
		keep = ofLinearLayer
	default:
		widths := inputWidths(list, c)
		keep = func(t bundle.Tensor) bool { return slices.Contains(widths, t.Shape[0]) }
	}
	return slices.DeleteFunc(list, func(t bundle.Tensor) bool { return t.Shape[1] != 1 || !keep(t) })
}

// inputVariables returns the names of the variables of linear layers that read an input of the model.
func inputVariables(g *graph.Graph) (names []string) {
	if g == nil {
		return nil
	}
	for _, n := range g.Nodes {
		reads := slices.ContainsFunc(g.Inputs, func(p graph.Port) bool { return slices.Contains(n.In, p.Name) })
		if !reads || n.Op != graph.OpDense && n.Op != graph.OpSparse {
			continue
		}
		for _, v := range n.Vars {
			names = append(names, v.Name)
		}
	}
	return names
}

// ofLinearLayer reports whether t belongs to a linear layer of the kinds of models.
func ofLinearLayer(t bundle.Tensor) bool {
	layer, _, _ := strings.Cut(t.Name, "/")
	return layer == "linear" || layer == "linear_dense"
}

// inputWidths returns how many rows the variables of a model's first layers have: the numbers of its
// columns and of its ids. Without columns that is the largest number of rows of any variable.
func inputWidths(tables []bundle.Tensor, c *graph.Columns) []int64 {
	if c != nil {
		return []int64{int64(len(c.Dense)), int64(c.Size())}
	}
	rows := int64(0)
	for _, t := range tables {
		rows = max(rows, t.Shape[0])
	}
	return []int64{rows}
}

// appendTop adds the n largest values that are not 0. It holds few values of a large table at a time.
func appendTop(dst []WeightInfo, name string, values []float32, n int) []WeightInfo {
	for row, v := range values {
		if v != 0 {
			dst = append(dst, WeightInfo{Variable: name, Row: row, Value: report.Number(v), rows: len(values)})
		}
		if len(dst) > 4*n+1000 {
			dst = largest(dst, n)
		}
	}
	return dst
}

// largest keeps the n largest by absolute value, in descending order. NaN is larger than any number.
func largest(all []WeightInfo, n int) []WeightInfo {
	size := func(w WeightInfo) float64 {
		if w.Value != w.Value {
			return math.Inf(1)
		}
		return math.Abs(float64(w.Value))
	}
	slices.SortStableFunc(all, func(a, b WeightInfo) int { return cmp.Compare(size(b), size(a)) })
	return all[:min(n, len(all))]
}

// inputOfRow returns the meaning of a row: a column of numbers or a field of ids, whichever has as many
// members as the variable has rows; else the number of the row.
func inputOfRow(c *graph.Columns, w WeightInfo) string {
	if c == nil {
		return fmt.Sprint(w.Row)
	}
	if isDense(c, w) {
		return c.Dense[w.Row].Name
	}
	if b := bagOfRow(c, w); b != nil {
		return b.Name + nameOfID(b, w.Row-int(b.First))
	}
	return fmt.Sprint(w.Row)
}

// isDense reports whether the rows of a variable are columns of numbers.
func isDense(c *graph.Columns, w WeightInfo) bool {
	return w.rows == len(c.Dense) && (w.rows != int(c.Size()) || strings.Contains(w.Variable, "dense"))
}

// bagOfRow returns the field of ids that a row belongs to, nil if it belongs to none.
func bagOfRow(c *graph.Columns, w WeightInfo) *graph.BagColumn {
	if isDense(c, w) || w.rows != int(c.Size()) {
		return nil
	}
	at := slices.IndexFunc(c.Bags, func(b graph.BagColumn) bool { return uint32(w.Row)-b.First < b.Size })
	if at < 0 {
		return nil
	}
	return &c.Bags[at]
}

// nameOfID returns the meaning of an id of a field: a text, a range, or else its number.
func nameOfID(b *graph.BagColumn, id int) string {
	switch b.Kind {
	case graph.Vocabulary:
		if id < len(b.Vocabulary) {
			return "=" + b.Vocabulary[id]
		}
		return " unknown"
	case graph.Buckets:
		low, high := "-Inf", "Inf"
		if id > 0 {
			low = fmt.Sprint(b.Boundaries[id-1])
		}
		if id < len(b.Boundaries) {
			high = fmt.Sprint(b.Boundaries[id])
		}
		return fmt.Sprintf(" in [%s, %s)", low, high)
	}
	return fmt.Sprintf("#%d", id)
}
