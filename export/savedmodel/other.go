package savedmodel

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
)

// Other tells, with both sides, what the newest version under base has otherwise than the next one of a
// job would: the job's name, the inputs or the classes. It is "" if nothing differs, or if no version can
// be read.
func Other(base string, m *graph.Graph, names Names, job string) string {
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
	if name := meta.GetMetaInfoDef().GetMetaGraphVersion(); name != job && name != "" && job != "" {
		facts = append(facts, fmt.Sprintf("another job's name: %s there, %s here", name, job))
	}
	was, now := interfaceOf(meta), interfaceOf(build(m, names).MetaGraphs[0])
	for i, what := range []string{"inputs", "classes"} {
		if there, here, ok := difference(was[i], now[i]); ok {
			facts = append(facts, fmt.Sprintf("other %s: %s there, %s here", what, there, here))
		}
	}
	if len(facts) == 0 {
		return ""
	}
	return fmt.Sprintf("the newest version, %s, has %s", path, strings.Join(facts, "; "))
}

// interfaceOf returns the names and types of the features of an example, and those inputs of the signatures that
// have a length, in order; and the names of the classes.
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
	inputs := map[string]bool{}
	types := slices.Concat(parser.GetAttr()["sparse_types"].GetList().GetType(), parser.GetAttr()["Tdense"].GetList().GetType())
	for i, key := range parser.GetInput() { // the examples, their names, the keys, the defaults
		if i -= 2; i >= 0 && i < len(types) {
			inputs[strings.Join(texts[key], "")+" "+strings.ToLower(strings.TrimPrefix(types[i].String(), "DT_"))] = true
		}
	}
	for _, s := range m.GetSignatureDef() {
		for key, info := range s.GetInputs() {
			if dims := info.GetTensorShape().GetDim(); len(dims) > 1 {
				inputs[fmt.Sprintf("%s[%d]", key, dims[len(dims)-1].GetSize())] = true
			} else if parser == nil {
				inputs[key] = true
			}
		}
	}
	return [2][]string{slices.Sorted(maps.Keys(inputs)), texts["labels"]}
}

// difference returns the elements from the first on in which two lists differ, in short. ok is false if
// they are equal.
func difference(a, b []string) (inA, inB string, ok bool) {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	short := func(list []string) string {
		const most = 3
		text := strings.Join(list[:min(len(list), most)], ", ")
		if len(list) > most {
			text += ", …"
		}
		return cmp.Or(text, "none")
	}
	return short(a[i:]), short(b[i:]), i < max(len(a), len(b))
}
