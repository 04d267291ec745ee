package savedmodel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ringtrain/export/savedmodel/interop"
	"ringtrain/export/tfpb"
	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model"
	"ringtrain/ring/exitcode"
)

// twiceItems read columns in each pair of ways that an export allows, and columns that are read in one.
func twiceItems() []column.Column {
	hash := func(names ...string) column.Column {
		return column.Column{Categorical: &column.CategoricalOptions{Names: names, Hash: 40}}
	}
	number := func(o column.NumericOptions, names ...string) column.Column {
		o.Names = names
		return column.Column{Numeric: &o}
	}
	vocabulary := func(names ...string) column.Column {
		return column.Column{Categorical: &column.CategoricalOptions{Names: names, Vocabulary: "texts"}}
	}
	return []column.Column{
		{Key: &column.KeyOptions{Names: []string{"request"}}},
		hash("request"), // key and feature
		number(column.NumericOptions{}, "alone"),
		number(column.NumericOptions{Standardize: true, Transform: "log1p", Default: &column.Missing{Number: 2.5}}, "hour", "time"),
		hash("hour", "time"), // dense and hash
		number(column.NumericOptions{}, "day"),
		vocabulary("day"), // dense and vocabulary
		number(column.NumericOptions{Buckets: []float64{0.1, 3, 8}}, "age"),
		hash("age"), // buckets and hash
		number(column.NumericOptions{Buckets: []float64{0}}, "near"),
		number(column.NumericOptions{Standardize: true}, "both"),
		number(column.NumericOptions{Buckets: []float64{-1, 2}, Default: &column.Missing{Number: 4}}, "both"), // dense and buckets
		number(column.NumericOptions{Standardize: true}, "all"),
		number(column.NumericOptions{Buckets: []float64{0.1, 1700000010}, Default: &column.Missing{Number: 4}}, "all"),
		hash("all"), vocabulary("all"), // all at once
		hash("c"),
		{Cross: &column.CrossOptions{Of: []string{"c", "hour"}, Hash: 30}}, // hash and cross
		{IDs: &column.IDsOptions{Names: []string{"ids"}, Values: "values", Size: 20}},
		{IDs: &column.IDsOptions{Names: []string{"more"}, Values: "values", Size: 20}}, // values of two
	}
}

// twiceModel returns a plan of items, with statistics, and a model of its inputs.
func twiceModel(t *testing.T, items []column.Column, rng *rand.Rand) (*column.Plan, *model.Model) {
	t.Helper()
	p, err := column.Compile(items, func(string) ([]string, error) { return []string{"1", "2.5", "1700000007"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	c := p.Columns()
	for i := range c.Dense {
		if d := &c.Dense[i]; d.Name != "alone" && d.Name != "day" {
			d.Mean, d.Scale = 1.5, 0.25
		}
		if c.Dense[i].Name == "all" {
			c.Dense[i].Mean, c.Dense[i].Scale = 1700000003.5, 0.1
		}
	}
	if err := p.Adopt(c); err != nil {
		t.Fatal(err)
	}
	return p, columnsModel(t, p, model.Config{Kind: "wide-deep", Hidden: []int{6}, Embedding: 3}, "", rng)
}

// twiceRecord returns a record as a request of the export has it, and as the cells of CSV.
func twiceRecord(p *column.Plan, number int, rng *rand.Rand) (map[string]any, []column.Cell) {
	record, texts := map[string]any{}, map[string]string{}
	for name, of := range map[string][]string{
		"hour": {"1", "2.5", "", "-3e2", "0.1"}, "time": {"", "17", "0", "8.000"}, "day": {"1", "2.5", "7", ""}, "age": {"0.1", "0.099999999", "3", "9", ""},
		"near": {"-1e-40", "1e-40", "-1", ""}, "all": {"1700000007", "1700000010", "1700000009", "0.1", ""}, "c": {"x", "y", ""}, "alone": {"1", "2.5", ""}, "both": {"-1", "-1.5", "2", "7", ""},
	} {
		if texts[name] = of[rng.IntN(len(of))]; texts[name] == "" {
			continue
		}
		record[name] = texts[name]
		if name == "alone" || name == "both" || name == "near" { // are read as numbers alone
			var x float32
			fmt.Sscan(texts[name], &x)
			record[name] = x
		}
	}
	texts["request"] = fmt.Sprint("r", number%7)
	record["request"] = texts["request"]
	var ids, more []int64
	var values []float32
	for range rng.IntN(4) {
		v := float32(rng.IntN(50))/8 + 0.1
		ids, more, values = append(ids, rng.Int64N(20)), append(more, rng.Int64N(20)), append(values, v)
		texts["values"] += fmt.Sprint(v, " ")
	}
	texts["ids"], texts["more"] = strings.Trim(fmt.Sprint(ids), "[]"), strings.Trim(fmt.Sprint(more), "[]")
	if len(ids) > 0 {
		record["ids"], record["more"], record["values"] = ids, more, values
	}
	cells := make([]column.Cell, len(p.Inputs))
	for i, name := range p.Inputs {
		cells[i] = column.Cell{Text: []byte(texts[name])}
	}
	return record, cells
}

// TestInteropTwice verifies that TensorFlow gives the scores of the model for records whose columns are
// read in each pair of ways that an export allows.
func TestInteropTwice(t *testing.T) {
	tf := interop.Start(t)
	rng := rand.New(rand.NewPCG(15, 16))
	p, m := twiceModel(t, twiceItems(), rng)
	r := column.NewRunner(p, input.Labels{Absent: true})
	type prediction struct {
		Record int       `json:"record"`
		Scores []float32 `json:"scores"`
	}
	var rows []map[string]any
	var want []prediction
	var b input.Batch
	for i := range 200 {
		record, cells := twiceRecord(p, i, rng)
		rows = append(rows, record)
		if err := r.Append(&b, cells); err != nil {
			t.Fatal(err)
		}
	}
	b.X.Bags.Index()
	scores := m.Predict(&b.X)
	for i := range rows {
		want = append(want, prediction{i, slices.Clone(scores.Row(i))})
	}
	path, err := Write(testDisk(), t.TempDir(), m.Graph(), Trained{Names: DefaultNames(), Step: 7, Variables: variables(m)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(tf.Run(t, ".", "check_columns.py", path, jsonLines(t, "rows", rows), "--predictions", jsonLines(t, "predictions", want), "--key", "request"))
}

// keysOf returns the names that the graph's ParseExample asks for.
func keysOf(t *testing.T, nodes []*tfpb.NodeDef) (keys []string) {
	t.Helper()
	for _, n := range nodes {
		if strings.HasPrefix(n.GetName(), parse+"/sparse_keys_") || strings.HasPrefix(n.GetName(), parse+"/dense_keys_") {
			keys = append(keys, string(n.GetAttr()["value"].GetTensor().GetStringVal()[0]))
		}
	}
	return keys
}

// TestTwice verifies that a graph of columns that are read twice is well-formed and asks ParseExample for
// each column once.
func TestTwice(t *testing.T) {
	p, m := twiceModel(t, twiceItems(), rand.New(rand.NewPCG(1, 1)))
	nodes := build(m.Graph(), DefaultNames()).GetMetaGraphs()[0].GetGraphDef().GetNode()
	for _, fault := range lint(nodes, parseOps(t)) {
		t.Error(fault)
	}
	keys, want := keysOf(t, nodes), slices.Sorted(slices.Values(p.Inputs))
	slices.Sort(keys)
	if !slices.Equal(keys, want) {
		t.Errorf("ParseExample asks for %q, want each of %q once", keys, want)
	}
}

// TestTwiceRefused verifies that columns that an export cannot read in two ways are usage errors with
// their names, all at once.
func TestTwiceRefused(t *testing.T) {
	ids := column.Column{IDs: &column.IDsOptions{Names: []string{"i"}, Values: "v", Size: 20}}
	for _, tt := range []struct {
		also column.Column
		want string
	}{
		{column.Column{Numeric: &column.NumericOptions{Names: []string{"i"}}}, "input.columns reads i as number and ids"},
		{column.Column{Numeric: &column.NumericOptions{Names: []string{"v"}, Buckets: []float64{1}}}, "input.columns reads v as number and values of ids"},
		{column.Column{Categorical: &column.CategoricalOptions{Names: []string{"i"}, Hash: 5}}, "input.columns reads i as text and ids"},
		{column.Column{Key: &column.KeyOptions{Names: []string{"v"}}}, "input.columns reads v as text and values of ids"},
		{column.Column{IDs: &column.IDsOptions{Names: []string{"v"}, Size: 5}}, "input.columns reads v as ids and values of ids"},
		{column.Column{IDs: &column.IDsOptions{Names: []string{"j"}, Values: "j", Size: 5}}, "input.columns reads j as ids and values of ids"},
	} {
		p, err := column.Compile([]column.Column{ids, tt.also}, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := p.Columns()
		if err := CheckColumns(&c); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %q", err, tt.want)
		}
	}
	p, err := column.Compile([]column.Column{ids, {Numeric: &column.NumericOptions{Names: []string{"i", "v"}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := p.Columns()
	if err := CheckColumns(&c); err == nil || strings.Count(err.Error(), "want one of them") != 2 {
		t.Errorf("error %v, want the faults of two columns", err)
	}
	if err := CheckColumns(nil); err != nil {
		t.Errorf("error %v of a model without columns", err)
	}
}

// TestKeyTwicePanics verifies that no graph is built whose ParseExample has a key twice.
func TestKeyTwicePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a graph was built, want a panic")
		}
	}()
	var g builder
	g.idsInput(Names{IDs: "a", Values: "a"}, 1, 0)
}

// TestInteropDisagree verifies that TensorFlow refuses a request in which an example has another number
// of values, or of fields, than of ids, also if their sums over the request are equal.
func TestInteropDisagree(t *testing.T) {
	tf := interop.Start(t)
	rng := rand.New(rand.NewPCG(25, 26))
	_, listed := twiceModel(t, []column.Column{{Numeric: &column.NumericOptions{Names: []string{"alone"}}}, {IDs: &column.IDsOptions{Names: []string{"ids"}, Values: "values", Size: 20}}}, rng)
	g, err := model.Config{Kind: "sparse-linear"}.GraphOf(model.Inputs{IDs: 20}, model.LossConfig{})
	if err != nil {
		t.Fatal(err)
	}
	plain := model.New(g)
	for _, v := range plain.Variables() {
		v.Value = make([]float32, v.Len())
		v.Value[0] = 0.5
	}
	row := func(ids []int64, values ...float32) map[string]any {
		return map[string]any{"ids": ids, "values": values}
	}
	refused := []map[string]any{
		row([]int64{1, 2}, 0.5), row([]int64{3}, 0.5, 0.7), // equal in sum
		row([]int64{1, 2}, 0.5), row([]int64{3}, 0.5),
		row([]int64{1}, 0.5, 0.7), row([]int64{3}, 0.5),
		{"ids": []int64{1}}, row([]int64{3}, 0.5),
		{"values": []float32{0.5}}, {"ids": []int64{3}},
	}
	for name, m := range map[string]*model.Model{"column": listed, "record": plain} {
		var b input.Batch
		x := b.Bags(1)
		x.Add(1, 0.5)
		x.Add(2, 0.7)
		x.End()
		b.X.Bags.Index()
		if m == listed {
			clear(b.DenseRow(1))
		}
		path, err := Write(testDisk(), t.TempDir(), m.Graph(), Trained{Names: DefaultNames(), Step: 7, Variables: variables(m)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []map[string]any{{"record": 0, "scores": slices.Clone(m.Predict(&b.X).Row(0))}}
		t.Log(name, tf.Run(t, ".", "check_columns.py", path, jsonLines(t, "rows", []map[string]any{row([]int64{1, 2}, 0.5, 0.7)}),
			"--predictions", jsonLines(t, "predictions", want), "--refused", jsonLines(t, "refused", refused)))
	}
}
