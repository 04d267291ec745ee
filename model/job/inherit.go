package job

import (
	"fmt"
	"reflect"

	"ringtrain/input/convert"
	"ringtrain/model/keys"
)

// inherit resolves how the files of each set of records are read: what input.eval and the items of
// input.evals do not say of it is as of input.train, the format first, and the other keys if the format is
// the same. Records to predict are read as those of input.eval, or of input.train without it.
func (l *loader) inherit(in *Input) {
	l.inheritFiles(&in.Eval, "input.eval", &in.Train)
	for i := range in.Evals {
		l.inheritFiles(&in.Evals[i].Files, fmt.Sprintf("input.evals.%d", i), &in.Train)
	}
}

// inheritFiles sets the keys of the group key that no source says to those of train. A fault of such a
// key is one of train.
func (l *loader) inheritFiles(f *Files, key string, train *Files) {
	if f.Format == "" && !l.said[join(key, "format")] && f.NamesRecords() {
		f.Format, l.suspect[join(key, "format")] = train.Format, true
	}
	if f.Format != train.Format {
		return
	}
	from := keys.Of(reflect.ValueOf(train).Elem())
	for i, to := range keys.Of(reflect.ValueOf(f).Elem()) {
		if at := join(key, to.Name); convert.SaysHow(to.Name) && !l.said[at] {
			to.Value.Set(from[i].Value)
			l.suspect[at] = true
		}
	}
}
