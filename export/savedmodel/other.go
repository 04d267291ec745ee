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
		facts = append(facts, fmt.Sprintf("the job %s, this one is %s", name, job))
	}
	was, now := interfaceOf(meta), interfaceOf(build(m, names).MetaGraphs[0])
	for i, what := range []string{"inputs", "classes"} {
		if !slices.Equal(was[i], now[i]) {
			facts = append(facts, fmt.Sprintf("the %s %s, this job has %s", what, without(was[i], now[i]), without(now[i], was[i])))
		}
	}
	if len(facts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s, the newest version there, has %s", path, strings.Join(facts, "; "))
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

// without describes the first of some names that others lack, or else the first of all.
func without(names, others []string) string {
	const most = 3
	there := map[string]bool{}
	for _, n := range others {
		there[n] = true
	}
	if only := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return there[n] }); len(only) > 0 {
		names = only
	}
	switch text := strings.Join(names[:min(len(names), most)], ", "); {
	case len(names) > most:
		return fmt.Sprintf("%s and %d more", text, len(names)-most)
	case len(names) > 0:
		return text
	}
	return "none"
}
