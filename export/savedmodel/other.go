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

// interfaceOf returns the names of the features of an example, and those inputs of the signatures that
// have a length, in order; and the names of the classes.
func interfaceOf(m *tfpb.MetaGraphDef) (lists [2][]string) {
	texts := map[string][]string{} // of each constant
	var parsed []string
	for _, n := range m.GetGraphDef().GetNode() {
		switch n.GetOp() {
		case "Const":
			for _, t := range n.GetAttr()["value"].GetTensor().GetStringVal() {
				texts[n.GetName()] = append(texts[n.GetName()], string(t))
			}
		case "ParseExample", "ParseExampleV2":
			parsed = n.GetInput()
		}
	}
	inputs := map[string]bool{}
	for _, name := range parsed {
		for _, t := range texts[name] {
			inputs[t] = true
		}
	}
	for _, s := range m.GetSignatureDef() {
		for key, info := range s.GetInputs() {
			if dims := info.GetTensorShape().GetDim(); len(dims) > 1 {
				inputs[fmt.Sprintf("%s[%d]", key, dims[len(dims)-1].GetSize())] = true
			} else if parsed == nil { // no examples
				inputs[key] = true
			}
		}
	}
	delete(inputs, "") // the default of a text
	return [2][]string{slices.Sorted(maps.Keys(inputs)), texts["labels"]}
}

// difference returns the first elements in which two lists differ. ok is false if they are equal.
func difference(a, b []string) (inA, inB string, ok bool) {
	at := func(list []string, i int) string {
		if i < len(list) {
			return list[i]
		}
		return "none"
	}
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return at(a, i), at(b, i), i < max(len(a), len(b))
}
