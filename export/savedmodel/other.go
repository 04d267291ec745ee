package savedmodel

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// Other tells, with both sides, what the newest version under base has otherwise than the next one, t of
// m, would: the job's name, the inputs or the classes. It is "" if nothing differs, or if no version can
// be read.
func Other(base string, m *graph.Graph, t Trained) string {
	_, version, err := highest(base)
	if err != nil || version == "" {
		return ""
	}
	path := filepath.Join(base, version)
	meta, err := readMeta(filepath.Join(path, modelFile))
	if err != nil {
		return ""
	}
	var facts []string
	if name := meta.GetMetaInfoDef().GetMetaGraphVersion(); name != t.Job && name != "" && t.Job != "" {
		facts = append(facts, fmt.Sprintf("another job's name: %s there, %s here", name, t.Job))
	}
	was, now := interfaceOf(meta), interfaceOf(build(m, t.Names).MetaGraphs[0])
	for i, what := range []string{"inputs", "classes"} {
		if text := difference(was[i], now[i]); text != "" {
			facts = append(facts, "other "+what+": "+text)
		}
	}
	if len(facts) == 0 {
		return ""
	}
	return fmt.Sprintf("the newest version, %s, has %s", path, strings.Join(facts, "; "))
}

// interfaceOf returns the names, types and lengths of the features of an example, in order, or the names of
// the inputs of a model that reads no examples; and the names of the classes.
func interfaceOf(m *tfpb.MetaGraphDef) (lists [2][]string) {
	texts := map[string][]string{} // of each constant
	var parser *tfpb.NodeDef       // of examples
	for _, n := range m.GetGraphDef().GetNode() {
		switch n.GetOp() {
		case "Const":
			for _, t := range n.GetAttr()["value"].GetTensor().GetStringVal() {
				texts[n.GetName()] = append(texts[n.GetName()], string(t))
			}
		case "ParseExample":
			parser = n
		}
	}
	var inputs []string
	list := func(attr string) *tfpb.AttrValue_ListValue { return parser.GetAttr()[attr].GetList() }
	dense := list("dense_shapes").GetShape()
	types := slices.Concat(list("sparse_types").GetType(), list("Tdense").GetType())
	for i, key := range parser.GetInput() { // the examples, their names, the keys, the defaults
		if i -= 2; i < 0 || i >= len(types) {
			continue
		}
		input := strings.Join(texts[key], "") + " " + strings.ToLower(strings.TrimPrefix(types[i].String(), "DT_"))
		if i -= len(types) - len(dense); i >= 0 && len(dense[i].GetDim()) > 0 {
			input += fmt.Sprintf("[%d]", dense[i].GetDim()[0].GetSize())
		}
		inputs = append(inputs, input)
	}
	if parser == nil {
		for _, s := range m.GetSignatureDef() {
			inputs = slices.AppendSeq(inputs, maps.Keys(s.GetInputs()))
		}
	}
	slices.Sort(inputs)
	return [2][]string{slices.Compact(inputs), texts["labels"]}
}

// difference tells what is in one of two lists alone, in short; all of lists that differ in their order. It
// is "" if they are equal.
func difference(there, here []string) string {
	if slices.Equal(there, here) {
		return ""
	}
	without := func(a, b []string) []string {
		return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
	}
	if a, b := without(there, here), without(here, there); len(a)+len(b) > 0 {
		there, here = a, b
	}
	short := func(list []string, where string) string {
		const most = 3
		switch {
		case len(list) == 0:
			return "not " + where
		case len(list) > most:
			list = append(list[:most:most], "…")
		}
		return strings.Join(list, ", ") + " " + where
	}
	return short(there, "there") + ", " + short(here, "here")
}
