package serving

import (
	"errors"
	"fmt"
	"io"
	"os"

	"google.golang.org/protobuf/encoding/prototext"

	"ringtrain/export/serving/servingpb"
	"ringtrain/ring/exitcode"
)

// maxConfig bounds a configuration file.
const maxConfig = 1 << 20

// ConfigFile returns the function that reads the models of a configuration file: the text form of
// TensorFlow Serving's ModelServerConfig.
func ConfigFile(name string) func() ([]Base, error) {
	return func() ([]Base, error) {
		text, err := readConfig(name)
		if err != nil {
			return nil, err
		}
		bases, err := parseConfig(text)
		if err != nil {
			err = exitcode.With(exitcode.Usage, fmt.Errorf("%s: %w", name, err))
		}
		return bases, err
	}
}

func readConfig(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, exitcode.With(exitcode.NoInput, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, exitcode.With(exitcode.NoInput, err)
	}
	if len(text) > maxConfig {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("%s has more than %d bytes", name, maxConfig))
	}
	return text, nil
}

// parseConfig returns the models of a configuration. The error has all faults.
func parseConfig(text []byte) ([]Base, error) {
	var c servingpb.ModelServerConfig
	if err := prototext.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	if c.GetCustomModelConfig() != nil {
		return nil, errors.New("custom_model_config is not known here, want model_config_list")
	}
	var bases []Base
	var errs []error
	names := map[string]bool{}
	for i, m := range c.GetModelConfigList().GetConfig() {
		b, err := baseOf(m)
		if err == nil && names[b.Name] {
			err = fmt.Errorf("name is %q, as that of an earlier model", b.Name)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("model_config_list.config %d: %w", i+1, err))
		}
		names[b.Name] = true
		bases = append(bases, b)
	}
	if len(bases) == 0 {
		errs = append(errs, errors.New("model_config_list has no config, want one for each model"))
	}
	return bases, errors.Join(errs...)
}

func baseOf(m *servingpb.ModelConfig) (Base, error) {
	b := Base{Name: m.GetName(), Path: m.GetBasePath(), Labels: m.GetVersionLabels()}
	var err error
	b.Policy, err = policyOf(m.GetModelVersionPolicy())
	platform := m.GetModelPlatform()
	switch {
	case b.Name == "":
		err = errors.New(`name is "", want that of the model`)
	case b.Path == "":
		err = fmt.Errorf("base_path of %s is \"\", want the folder of its version folders", b.Name)
	case platform != "" && platform != "tensorflow":
		err = fmt.Errorf("model_platform of %s is %q, want tensorflow", b.Name, platform)
	}
	return b, err
}

// policyOf returns a policy: the newest version, unless the file says another.
func policyOf(p *servingpb.FileSystemStoragePathSourceConfig_ServableVersionPolicy) (Policy, error) {
	switch {
	case p.GetAll() != nil:
		return Policy{}, nil
	case p.GetSpecific() != nil:
		if len(p.GetSpecific().GetVersions()) == 0 {
			return Policy{}, errors.New("model_version_policy.specific has no versions, want one or more")
		}
		return Policy{Only: p.GetSpecific().GetVersions()}, nil
	}
	return Policy{Latest: max(1, int(p.GetLatest().GetNumVersions()))}, nil
}
