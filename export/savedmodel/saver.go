package savedmodel

import (
	"slices"

	"ringtrain/export/tfpb"
)

// saver adds TensorFlow's own Saver, unsharded: the nodes that restore the variables,
// which loaders run, and the nodes that save them, which Python's loaders require.
func (g *builder) saver(variables []string) *tfpb.SaverDef {
	names := slices.Sorted(slices.Values(variables))
	scalar := attrs{"dtype": typeAttr(tfpb.DataType_DT_STRING), "shape": shapeAttr()}
	defaultPrefix := g.texts("save/filename/input", nil, "model")
	filename := g.add("PlaceholderWithDefault", "save/filename", []string{defaultPrefix}, scalar)
	prefix := g.add("PlaceholderWithDefault", "save/Const", []string{filename}, scalar)
	done := g.save(prefix, names)
	restore := g.restore(prefix, names)
	return &tfpb.SaverDef{
		FilenameTensorName:        prefix + ":0",
		SaveTensorName:            done + ":0",
		RestoreOpName:             restore,
		MaxToKeep:                 5,
		KeepCheckpointEveryNHours: 10000,
		Version:                   tfpb.SaverDef_V2,
	}
}

func (g *builder) save(prefix string, names []string) string {
	inputs := append([]string{prefix}, g.nameLists("save/SaveV2", names)...)
	for _, n := range names {
		inputs = append(inputs, snapshot(n))
	}
	save := g.add("SaveV2", "save/SaveV2", inputs, attrs{"dtypes": allFloats(names)})
	return g.add("Identity", "save/control_dependency", []string{prefix, "^" + save},
		attrs{"T": typeAttr(tfpb.DataType_DT_STRING)})
}

func (g *builder) restore(prefix string, names []string) string {
	inputs := append([]string{prefix}, g.nameLists("save/RestoreV2", names)...)
	restored := g.add("RestoreV2", "save/RestoreV2", inputs, attrs{"dtypes": allFloats(names)})
	var all []string
	for i, n := range names {
		value := g.add("Identity", "save/Identity", []string{output(restored, i)}, floats())
		assign := g.add("AssignVariableOp", "save/AssignVariableOp", []string{n, value},
			attrs{"dtype": typeAttr(tfpb.DataType_DT_FLOAT)})
		all = append(all, "^"+assign)
	}
	return g.add("NoOp", "save/restore_all", all, nil)
}

// nameLists adds the inputs tensor_names and shape_and_slices (no slices) of an
// operation.
func (g *builder) nameLists(op string, names []string) []string {
	return []string{
		g.strings(op+"/tensor_names", names...),
		g.strings(op+"/shape_and_slices", make([]string, len(names))...),
	}
}

func allFloats(names []string) *tfpb.AttrValue {
	types := make([]tfpb.DataType, len(names))
	for i := range types {
		types[i] = tfpb.DataType_DT_FLOAT
	}
	return typesAttr(types...)
}
