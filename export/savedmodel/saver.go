package savedmodel

import (
	"slices"

	"ringtrain/export/tfpb"
)

// saver adds TensorFlow's own Saver, unsharded: the nodes that restore the variables,
// which loaders run, and the nodes that save them, which Python's loaders require.
func (bu *builder) saver(variables []string) *tfpb.SaverDef {
	names := slices.Sorted(slices.Values(variables))
	scalar := attrs{"dtype": typeAttr(tfpb.DataType_DT_STRING), "shape": shapeAttr()}
	defaultPrefix := bu.texts("save/filename/input", nil, "model")
	filename := bu.add("PlaceholderWithDefault", "save/filename", []string{defaultPrefix}, scalar)
	prefix := bu.add("PlaceholderWithDefault", "save/Const", []string{filename}, scalar)
	done := bu.save(prefix, names)
	restore := bu.restore(prefix, names)
	return &tfpb.SaverDef{
		FilenameTensorName:        prefix + ":0",
		SaveTensorName:            done + ":0",
		RestoreOpName:             restore,
		MaxToKeep:                 5,
		KeepCheckpointEveryNHours: 10000,
		Version:                   tfpb.SaverDef_V2,
	}
}

func (bu *builder) save(prefix string, names []string) string {
	inputs := append([]string{prefix}, bu.nameLists("save/SaveV2", names)...)
	for _, n := range names {
		inputs = append(inputs, snapshot(n))
	}
	save := bu.add("SaveV2", "save/SaveV2", inputs, attrs{"dtypes": allFloats(names)})
	return bu.add("Identity", "save/control_dependency", []string{prefix, "^" + save},
		attrs{"T": typeAttr(tfpb.DataType_DT_STRING)})
}

func (bu *builder) restore(prefix string, names []string) string {
	inputs := append([]string{prefix}, bu.nameLists("save/RestoreV2", names)...)
	restored := bu.add("RestoreV2", "save/RestoreV2", inputs, attrs{"dtypes": allFloats(names)})
	var all []string
	for i, n := range names {
		value := bu.add("Identity", "save/Identity", []string{output(restored, i)}, floats())
		assign := bu.add("AssignVariableOp", "save/AssignVariableOp", []string{n, value},
			attrs{"dtype": typeAttr(tfpb.DataType_DT_FLOAT)})
		all = append(all, "^"+assign)
	}
	return bu.add("NoOp", "save/restore_all", all, nil)
}

// nameLists adds the inputs tensor_names and shape_and_slices (no slices) of an
// operation.
func (bu *builder) nameLists(op string, names []string) []string {
	return []string{
		bu.strings(op+"/tensor_names", names...),
		bu.strings(op+"/shape_and_slices", make([]string, len(names))...),
	}
}

func allFloats(names []string) *tfpb.AttrValue {
	types := make([]tfpb.DataType, len(names))
	for i := range types {
		types[i] = tfpb.DataType_DT_FLOAT
	}
	return typesAttr(types...)
}
