package savedmodel

import (
	"encoding/json"
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
	"ringtrain/model/graph"
)

// columnsPlan has every kind of column, with fixed vocabularies and means.
func columnsPlan(t *testing.T, strict bool) *column.Plan {
	t.Helper()
	missing, unknown := column.Missing{Number: 2.5}, "bucket"
	if strict {
		unknown = "error"
	}
	p, err := column.Compile([]column.Column{
		{Key: &column.KeyOptions{Names: []string{"request", "city"}}},
		{Numeric: &column.NumericOptions{Names: []string{"n1"}, Transform: "log1p", Standardize: true}},
		{Numeric: &column.NumericOptions{Names: []string{"n2"}, Default: &missing}},
		{Numeric: &column.NumericOptions{Names: []string{"n4"}, Transform: "log1p", Standardize: true, Default: &column.Missing{Mean: true}}},
		{Numeric: &column.NumericOptions{Names: []string{"n2"}, Buckets: []float64{-1, 0, 2.5, 10}}},
		{Numeric: &column.NumericOptions{Names: []string{"n3"}, Buckets: []float64{0, 1}, Default: &missing}},
		{Categorical: &column.CategoricalOptions{Names: []string{"c1", "c2"}, Hash: 30}},
		{IDs: &column.IDsOptions{Names: []string{"ids"}, Values: "values", Size: 20}},
		{Categorical: &column.CategoricalOptions{Names: []string{"city"}, Vocabulary: "cities", Unknown: unknown}},
		{IDs: &column.IDsOptions{Names: []string{"tags"}, Size: 10}},
		{Cross: &column.CrossOptions{Of: []string{"c1", "c2", "city"}, Hash: 40}},
		{Categorical: &column.CategoricalOptions{Names: []string{"genres"}, Separator: "|", Hash: 30}},
		{Categorical: &column.CategoricalOptions{Names: []string{"words"}, Separator: "::", Vocabulary: "cities", Unknown: unknown}},
	}, func(string) ([]string, error) { return []string{"Bern", "Genève", "x"}, nil })
	if err != nil {
		t.Fatal(err)
	}
	c := p.Columns()
	c.Dense[0].Mean, c.Dense[0].Scale = 0.75, 1.25
	c.Dense[2].Mean, c.Dense[2].Scale, c.Dense[2].Default = 1.5, 0.5, 3.481689
	if err := p.Adopt(c); err != nil {
		t.Fatal(err)
	}
	return p
}

// rawRecord returns a random record in two forms: as the script reads it, and as cells
// of the plan.
func rawRecord(p *column.Plan, number int, rng *rand.Rand) (map[string]any, []column.Cell) {
	record, cells := map[string]any{}, map[string]column.Cell{}
	for _, name := range []string{"n1", "n2", "n3", "n4"} {
		if v := float32(rng.NormFloat64() * 5); rng.IntN(4) > 0 {
			record[name], cells[name] = v, column.Cell{Values: []float32{v}}
		}
	}
	for _, name := range []string{"c1", "c2", "city", "request"} {
		text := []string{"Bern", "Genève", "x", "never seen", ""}[rng.IntN(5)]
		if name == "request" {
			text = fmt.Sprint("r", number)
		}
		if rng.IntN(4) > 0 || name == "request" {
			record[name], cells[name] = text, column.Cell{Text: []byte(text)}
		}
	}
	ids, values, tags := []int64{}, []float32{}, []int64{}
	for range rng.IntN(4) {
		ids, values, tags = append(ids, rng.Int64N(20)), append(values, rng.Float32()+0.1), append(tags, rng.Int64N(10))
	}
	if len(ids) > 0 {
		record["ids"], record["values"], record["tags"] = ids, values, tags
		cells["ids"], cells["values"], cells["tags"] = column.Cell{IDs: ids}, column.Cell{Values: values}, column.Cell{IDs: tags}
	}
	for _, name := range []string{"genres", "words"} {
		record[name], cells[name] = rawList(rng)
	}
	list := make([]column.Cell, len(p.Inputs))
	for i, name := range p.Inputs {
		list[i] = cells[name]
	}
	return record, list
}

// rawList returns a random list of texts in both forms. Some have separators and blanks.
func rawList(rng *rand.Rand) (all []string, c column.Cell) {
	all = []string{}
	for range rng.IntN(4) {
		all = append(all, []string{"Bern", "Genève| x", " x", "Bern:: x \t::Bern", "", " ", "|x||", "::", "never\n seen\u2003|"}[rng.IntN(9)])
	}
	for _, text := range all {
		c.Texts = append(c.Texts, []byte(text))
	}
	if len(all) == 1 {
		c = column.Cell{Text: c.Texts[0]}
	}
	return all, c
}

// columnsModel returns a model with random values over the inputs of the plan.
func columnsModel(t *testing.T, p *column.Plan, c model.Config, loss string, rng *rand.Rand) *model.Model {
	t.Helper()
	columns := p.Columns()
	in := model.Inputs{IDs: int(columns.Size()), Fields: len(columns.Bags)}
	if len(columns.Dense) > 0 {
		in.Dense = graph.Shape{len(columns.Dense)}
	}
	g, err := c.GraphOf(in, model.LossConfig{Kind: model.Loss(loss)})
	if err != nil {
		t.Fatal(err)
	}
	g.Columns = &columns
	m := model.New(g)
	for _, v := range m.Variables() {
		v.Value = make([]float32, v.Len())
		for i := range v.Value {
			v.Value[i] = float32(rng.NormFloat64()) / 8
		}
	}
	return m
}

// TestInteropColumns verifies that TensorFlow gives the same scores and keys for raw
// records, some with missing or unknown values, as the model here does, for every kind
// of column.
func TestInteropColumns(t *testing.T) {
	tf := interop.Start(t)
	for name, k := range map[string]struct {
		config model.Config
		loss   string
	}{
		"sparse-linear": {model.Config{Kind: "sparse-linear"}, ""},
		"deepfm":        {model.Config{Kind: "deepfm", Hidden: []int{10}}, ""},
		"dcn":           {model.Config{Kind: "dcn", Hidden: []int{10}, Pooling: "mean"}, "squared"},
		"wide-deep":     {model.Config{Kind: "wide-deep", Hidden: []int{10}, Classes: model.Count(3)}, "softmax"},
	} {
		t.Run("kind="+name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 6))
			p := columnsPlan(t, false)
			m := columnsModel(t, p, k.config, k.loss, rng)
			var rows []map[string]any
			var records [][]column.Cell
			for i := range 40 {
				record, cells := rawRecord(p, i, rng)
				rows, records = append(rows, record), append(records, cells)
			}
			answersAlike(t, tf, m, p, rows, records)
		})
	}
}

// answersAlike verifies that TensorFlow gives the scores of m for raw records, in the form of rows for it, and of
// records for the plan. Their key is the feature request.
func answersAlike(t *testing.T, tf *interop.TensorFlow, m *model.Model, p *column.Plan, rows []map[string]any, records [][]column.Cell, more ...string) {
	t.Helper()
	r := column.NewRunner(p, input.Labels{Absent: true})
	var b input.Batch
	for i, cells := range records {
		if err := r.Append(&b, cells); err != nil {
			t.Fatalf("%v: %v", rows[i], err)
		}
	}
	b.X.Bags.Index()
	type prediction struct {
		Record int       `json:"record"`
		Scores []float32 `json:"scores"`
	}
	var want []prediction
	scores := m.Predict(&b.X)
	for i := range rows {
		want = append(want, prediction{i, slices.Clone(scores.Row(i))})
	}
	path, err := Write(testDisk(), t.TempDir(), m.Graph(), Trained{Names: DefaultNames(), Step: 7, Variables: variables(m)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{path, jsonLines(t, "rows", rows), "--predictions", jsonLines(t, "predictions", want)}, more...)
	for _, at := range p.Keys {
		args = append(args, "--key", p.Inputs[at])
	}
	if p.Trim {
		args = append(args, "--trim")
	}
	out := tf.Run(t, ".", "check_columns.py", args...)
	var said struct {
		Max float64 `json:"max_difference"`
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil || said.Max > 1e-6 {
		t.Errorf("TensorFlow differs by %g, want 1e-6 (error %v)", said.Max, err)
	}
	t.Log(out)
}

// TestKeyOutputs verifies the outputs of columns that pass through: key is the one of one column, several have their names,
// and none has the name of another output or input.
func TestKeyOutputs(t *testing.T) {
	for _, tt := range []struct{ columns, want string }{
		{"", ""}, {"shop", "key"}, {"scores", "key"}, {"shop order", "shop order"}, {"key scores x", "key key_scores key_x"}, {"key_y y", "key_y key_key_y"},
	} {
		if got := strings.Join(KeyOutputs(strings.Fields(tt.columns)), " "); got != tt.want {
			t.Errorf("columns %q have the outputs %q, want %q", tt.columns, got, tt.want)
		}
	}
}

// TestColumnsGraph verifies that the operations of columns are declared and fit
// together, and that loading the bundle fills a vocabulary's table.
func TestColumnsGraph(t *testing.T) {
	ops := parseOps(t)
	for _, strict := range []bool{false, true} {
		m := columnsModel(t, columnsPlan(t, strict), model.Config{Kind: "deepfm", Hidden: []int{4}}, "", rand.New(rand.NewPCG(1, 1)))
		meta := build(m.Graph(), DefaultNames()).GetMetaGraphs()[0]
		for _, fault := range lint(meta.GetGraphDef().GetNode(), ops) {
			t.Errorf("strict=%t: %s", strict, fault)
		}
		if main := meta.GetCollectionDef()["saved_model_main_op"].GetNodeList().GetValue(); !slices.Equal(main, []string{"columns/fill_tables"}) {
			t.Errorf("strict=%t: the bundle runs %q when it is loaded", strict, main)
		}
	}
}

// TestNoTexts verifies that the table of a vocabulary without a text has a key, as TensorFlow wants: the empty text, which
// is missing anyway, has the place of an unknown one.
func TestNoTexts(t *testing.T) {
	for _, strict := range []bool{false, true} {
		cn := columnNodes{&builder{taken: map[string]bool{}}}
		cn.lookedUp("c/", &graph.BagColumn{Kind: graph.Vocabulary, Strict: strict}, "text")
		found := make(map[string]*tfpb.TensorProto)
		for _, n := range cn.nodes {
			if value := n.Attr["value"]; value != nil {
				found[n.Name] = value.GetTensor()
			}
		}
		place, unknown := found["c/places"], found["c/unknown"]
		if n := found["c/texts"].GetTensorShape().GetDim(); len(n) != 1 || n[0].Size != 1 || !slices.Equal(place.GetInt64Val(), unknown.GetInt64Val()) || len(place.GetInt64Val()) != 1 {
			t.Errorf("strict=%t: texts of shape %v with places %v, want one of the unknown place %v", strict, n, place, unknown)
		}
	}
}
