package serving

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/prototext"

	"ringtrain/export/bundle"
	"ringtrain/export/serving/servingpb"
	"ringtrain/ring/exitcode"
)

// ConfigFile returns the function that reads the models of a configuration file: the text form of
// TensorFlow Serving's ModelServerConfig.
func ConfigFile(name string) func() ([]Base, error) {
	return func() ([]Base, error) {
		text, err := bundle.ReadFile(name)
		if err != nil {
			return nil, exitcode.With(exitcode.NoInput, err)
		}
		bases, err := parseConfig(text)
		if err != nil {
			err = exitcode.With(exitcode.Usage, fmt.Errorf("%s: %w", name, err))
		}
		return bases, err
	}
}

// parseConfig returns the models of a configuration. The error has all faults.
func parseConfig(text []byte) ([]Base, error) {
	var c servingpb.ModelServerConfig
	if err := prototext.Unmarshal(text, &c); err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\u00a0", " ")) // as each second build of protobuf says it
	}
	models := c.GetModelConfigList().GetConfig()
	if len(models) == 0 {
		return nil, errors.New("model_config_list has no config, want one for each model")
	}
	var bases []Base
	var errs []error
	names := map[string]bool{"": true}
	for i, m := range models {
		fault := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("model_config_list.config %d: "+format, append([]any{i + 1}, args...)...))
		}
		b := Base{Name: m.GetName(), Path: m.GetBasePath(), Labels: m.GetVersionLabels(), Policy: Policy{Latest: 1}}
		switch p := m.GetModelVersionPolicy(); {
		case p.GetAll() != nil:
			b.Policy = Policy{}
		case p.GetLatest().GetNumVersions() > 0:
			b.Policy.Latest = int(p.GetLatest().GetNumVersions())
		case p.GetSpecific() != nil:
			b.Policy = Policy{Only: append([]int64{}, p.GetSpecific().GetVersions()...)}
		}
		if b.Policy.Only != nil && len(b.Policy.Only) == 0 {
			fault("model_version_policy.specific of %s has no versions, want one or more", b.Name)
		}
		if names[b.Name] {
			fault("name is %q, want one that no other model has", b.Name)
		}
		if b.Path == "" {
			fault("base_path of %s is missing, want the folder of its version folders", b.Name)
		}
		if platform := m.GetModelPlatform(); platform != "" && platform != "tensorflow" {
			fault("model_platform of %s is %q, want tensorflow", b.Name, platform)
		}
		names[b.Name] = true
		bases = append(bases, b)
	}
	return bases, errors.Join(errs...)
}
