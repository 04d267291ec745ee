package job

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"ringtrain/model"
	"ringtrain/model/keys"
	"ringtrain/ring/exitcode"
)

// SpellLayers returns the model of a job, or of a kind of model by its name, as model.layers in the form
// of a job file. A kind has ten classes; a model of ids has no dense features.
func SpellLayers(name string) ([]byte, error) {
	c, loss, err := modelOf(name)
	if err != nil {
		return nil, err
	}
	layers := c.Layers
	if len(layers) == 0 {
		layers, _ = c.PresetLayers(loss)
	}
	var b strings.Builder
	b.WriteString("model:\n  layers:\n")
	for _, l := range layers {
		fmt.Fprintf(&b, "    - %s\n", yamlItem(reflect.ValueOf(l)))
	}
	return []byte(b.String()), nil
}

// modelOf returns the model of a job or a kind.
func modelOf(name string) (model.Config, model.LossConfig, error) {
	if IsName(name) {
		job, err := Load(name, nil, nil)
		if err != nil {
			return model.Config{}, model.LossConfig{}, err
		}
		return job.Model, job.Loss, nil
	}
	kind := model.Kind(name)
	for _, c := range []model.Config{{Kind: kind}, {Kind: kind, Classes: model.Count(10)}} {
		if c.Check(model.LossConfig{}) == nil {
			return c, model.LossConfig{}, nil
		}
	}
	known := append(BuiltinNames(), keys.Takes(kind.Takes()).Words()...)
	slices.Sort(known) // a job and a kind may have one name
	return model.Config{}, model.LossConfig{}, exitcode.With(exitcode.Usage, fmt.Errorf("no built-in job or kind of model %q, want one of %s, or a job file",
		name, strings.Join(slices.Compact(known), ", ")))
}
