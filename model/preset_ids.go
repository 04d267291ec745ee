package model

import (
	"fmt"
	"reflect"

	"ringtrain/model/graph"
	"ringtrain/model/keys"
)

// sum adds a layer named logits that adds the parts. A single part needs no sum.
func sum(layers []Layer, parts ...string) []Layer {
	if len(parts) == 1 {
		return layers
	}
	return append(layers, Layer{Name: "logits", In: parts, Add: &PlainLayer{}})
}

// wide returns the first-order layers: linear over ids, and linear_dense over columns.
func wide(outputs int, columns bool) (layers []Layer, parts []string) {
	layers, parts = []Layer{{Name: "linear", Sparse: &SparseLayer{Units: outputs}}}, []string{"linear"}
	if columns {
		noBias := false
		layers = append(layers, Layer{Name: "linear_dense", In: []string{inputName}, Dense: &DenseLayer{
			Units: outputs, UseBias: &noBias, Init: "zeros",
		}})
		parts = append(parts, "linear_dense")
	}
	return layers, parts
}

// embed returns the embedding of all ids with times·size numbers per id; size is
// model.embedding.
func (c *Config) embed(times int) Layer {
	size := keys.Fill(*c).Embedding
	return Layer{Name: "embedding", Embedding: &EmbeddingLayer{Size: size * times, Pooling: c.Pooling}}
}

// features returns the name of the hidden layers' input: the embedding, with columns
// appended.
func features(layers []Layer, columns bool) ([]Layer, string) {
	if !columns {
		return layers, "embedding"
	}
	return append(layers, Layer{Name: "features", In: []string{"embedding", inputName}, Concat: &PlainLayer{}}), "features"
}

// deep returns the hidden layers over features, dnn/hidden_1 and so on.
func (c *Config) deep(from string) []Layer {
	layers := c.hiddenLayers("dnn/hidden_")
	layers[0].In = []string{from}
	return layers
}

func linearOfIDs(_ *Config, outputs int, columns bool) []Layer {
	layers, parts := wide(outputs, columns)
	return sum(layers, parts...)
}

// mlpOfIDs returns hidden layers, of which the first one has a row for each id, and a linear one.
func mlpOfIDs(c *Config, outputs int, columns bool) []Layer {
	hidden, noBias := c.hiddenLayers("hidden_"), false
	first := hidden[0].Dense
	layers := []Layer{{Name: "hidden_1", Sparse: &SparseLayer{Units: first.Units, Init: string(graph.Small)}}}
	if columns {
		layers = append(layers,
			Layer{Name: "hidden_1_dense", In: []string{inputName}, Dense: &DenseLayer{Units: first.Units, UseBias: &noBias, Init: first.Init}},
			Layer{Name: "hidden_1_sum", In: []string{"hidden_1", "hidden_1_dense"}, Add: &PlainLayer{}})
	}
	layers = first.Activation.behind(layers, "hidden_1/")
	return append(append(layers, hidden[1:]...), Layer{Name: "logits", Dense: &DenseLayer{Units: outputs}})
}

// behind adds the activation as a layer of its own, named prefix and the activation.
func (a Activation) behind(layers []Layer, prefix string) []Layer {
	if a.op() == "" {
		return layers
	}
	l := Layer{Name: prefix + string(a)}
	f, _ := keys.Find(&l, string(a))
	f.Value.Set(reflect.New(f.Value.Type().Elem()))
	if l.LeakyReLU != nil {
		slope := activationSlope
		l.LeakyReLU.NegativeSlope = &slope
	}
	return append(layers, l)
}

// fmLayers returns y = w₀ + Σ w·x + ½·Σ_j((Σ v_j·x)² − Σ (v_j·x)²) of Rendle,
// "Factorization machines", 2010. Each class has its own factors.
func fmLayers(c *Config, outputs int, columns bool) []Layer {
	layers, parts := wide(outputs, columns)
	layers = append(layers, c.embed(outputs), Layer{Name: "fm", FM: &FMLayer{Units: outputs}})
	return sum(layers, append(parts, "fm")...)
}

// wideDeepLayers returns the model of Cheng et al., "Wide & deep learning for
// recommender systems", 2016.
func wideDeepLayers(c *Config, outputs int, columns bool) []Layer {
	layers, parts := wide(outputs, columns)
	return c.withDeep(append(layers, c.embed(1)), parts, outputs, columns)
}

// deepFMLayers returns the model of Guo et al., "DeepFM", 2017: the hidden layers share
// the table of the fm.
func deepFMLayers(c *Config, outputs int, columns bool) []Layer {
	layers, parts := wide(outputs, columns)
	layers = append(layers, c.embed(outputs), Layer{Name: "fm", FM: &FMLayer{Units: outputs}})
	return c.withDeep(layers, append(parts, "fm"), outputs, columns)
}

// withDeep adds hidden layers over the embedding, and the sum of all parts.
func (c *Config) withDeep(layers []Layer, parts []string, outputs int, columns bool) []Layer {
	layers, from := features(layers, columns)
	layers = append(layers, c.deep(from)...)
	layers = append(layers, Layer{Name: "dnn/logits", Dense: &DenseLayer{Units: outputs}})
	return sum(layers, append(parts, "dnn/logits")...)
}

// dcnLayers returns the model of Wang et al., "DCN V2", 2021, figure 1(b): parallel
// cross layers and hidden layers, with one linear layer over both.
func dcnLayers(c *Config, outputs int, columns bool) []Layer {
	layers, from := features([]Layer{c.embed(1)}, columns)
	last := from
	for i := range keys.Fill(*c).Cross {
		l := Layer{Name: fmt.Sprintf("cross_%d", i+1), In: []string{from, last}, Cross: &CrossLayer{}}
		layers, last = append(layers, l), l.Name
	}
	layers = append(layers, c.deep(from)...)
	both := Layer{Name: "both", In: []string{last, layers[len(layers)-1].Name}, Concat: &PlainLayer{}}
	return append(layers, both, Layer{Name: "logits", Dense: &DenseLayer{Units: outputs}})
}
