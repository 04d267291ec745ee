package trained

import (
	"strings"
	"testing"

	"ringtrain/export/serving"
	"ringtrain/export/tfpb"
)

// TestServedGraph verifies that a server takes a bundle that was exported, and refuses it after each kind
// of damage to its graph: the answers are not those of the warm-up file.
func TestServedGraph(t *testing.T) {
	each := func(op string, change func(n *tfpb.NodeDef)) func(g *tfpb.MetaGraphDef) {
		return func(g *tfpb.MetaGraphDef) {
			for _, n := range g.GetGraphDef().GetNode() {
				if n.GetOp() == op {
					change(n)
				}
			}
		}
	}
	hashed, known := kindsOfHour[1], "categorical: {names: [hour], vocabulary: auto}"
	swap := func(word string) func(g *tfpb.MetaGraphDef) {
		return each("Const", func(n *tfpb.NodeDef) {
			if v := n.GetAttr()["value"].GetTensor().GetStringVal(); len(v) > 2 && string(v[0]) == word { // the classes are two
				v[len(v)-2], v[len(v)-1] = v[len(v)-1], v[len(v)-2]
			}
		})
	}
	for _, tt := range []struct {
		name   string
		hour   string // how it is read, besides as a number
		damage func(g *tfpb.MetaGraphDef)
	}{
		{"nothing", hashed, nil},
		{"nothing to a vocabulary", known, nil},
		{"a vocabulary of texts is in another order", known, swap("Basel")},
		{"a vocabulary of numbers is in another order", known, swap("0")},
		{"an op is another", hashed, each("Sigmoid", func(n *tfpb.NodeDef) { n.Op = "Tanh" })},
		{"two outputs are swapped", hashed, func(g *tfpb.MetaGraphDef) {
			out := g.GetSignatureDef()["predict"].GetOutputs()
			out["logits"], out["probability"] = out["probability"], out["logits"]
		}},
		{"another number of buckets", hashed, each("StringToHashBucketFast", func(n *tfpb.NodeDef) {
			n.Attr["num_buckets"] = &tfpb.AttrValue{Value: &tfpb.AttrValue_I{I: 49}}
		})},
		{"a feature is misspelt", hashed, each("Const", func(n *tfpb.NodeDef) {
			if v := n.GetAttr()["value"].GetTensor().GetStringVal(); len(v) == 1 && string(v[0]) == "city" {
				v[0] = []byte("town")
			}
		})},
	} {
		t.Run("damage="+tt.name, func(t *testing.T) {
			x := hours(t, kindsOfHour[0], tt.hour)
			e, err := x.Write(t.Context(), 5)
			if err == nil && tt.damage != nil {
				err = rewriteGraph(e.Path, tt.damage)
			}
			if err != nil {
				t.Fatal(err)
			}
			lines := serve(t, x.Job.Export.SavedModel)
			if tt.damage == nil && len(lines) > 0 || tt.damage != nil && (len(lines) != 1 || !strings.Contains(lines[0], "is not served") || !strings.Contains(lines[0], "tf_serving_warmup_requests: request ")) {
				t.Errorf("the server says %q", lines)
			}
		})
	}
}

// serve loads the versions of a base, and returns what a server says of those that it refuses.
func serve(t *testing.T, base string) (lines []string) {
	t.Helper()
	d, err := serving.NewDirectory(base, serving.Base{Policy: serving.Policy{Latest: 1}})
	if err != nil {
		t.Fatal(err)
	}
	cores := serving.NewCores(serving.Limits{Cores: 1, Batch: 8, Queue: 8, Tensor: 1 << 20})
	models := serving.NewModels()
	defer models.Close()
	w := serving.NewWatcher(models, d.Bases, &serving.Loader{Cores: cores, Metrics: serving.NewMetrics(cores)}, serving.Notice{
		Line:   func(text string) { lines = append(lines, text) },
		Loaded: func(*serving.Version, bool) {},
	})
	w.Look(t.Context())
	return lines
}
