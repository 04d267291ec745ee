package speed

import (
	"fmt"
	"os"
	"path/filepath"

	"ringtrain/model"
)

// setting is the usual training configuration of a preset.
type setting struct {
	keys      string // of model, besides kind
	batch     int
	optimizer string
	rate      float64
}

// settingOf returns the setting of a preset. Image models have the settings of the suite
// Images.
func settingOf(preset string) setting {
	const digits = ", classes: 10"
	switch preset {
	case "linear":
		return setting{batch: 100, optimizer: "sgd", rate: 0.01}
	case "softmax":
		return setting{keys: digits, batch: 100, optimizer: "sgd", rate: 0.5}
	case "mlp":
		return setting{keys: digits + ", hidden: [512, 512]", batch: 256, optimizer: "adam", rate: 0.001}
	case "sparse-linear":
		return setting{batch: 512, optimizer: "adagrad", rate: 0.1}
	case "fm":
		return setting{keys: ", embedding: 8", batch: 512, optimizer: "adagrad", rate: 0.1}
	case "wide-deep", "deepfm", "dcn":
		return setting{keys: ", embedding: 8, hidden: [128, 32]", batch: 512, optimizer: "adagrad", rate: 0.1}
	}
	return setting{keys: digits, batch: 128, optimizer: "adam", rate: 0.001}
}

// presetJob returns a job file that trains a preset on drawn records.
func presetJob(preset string) string {
	s := settingOf(preset)
	return fmt.Sprintf("name: bench-%s\nmodel: {kind: %s%s}\ninput: {synthetic: true, batch: %d, shuffle: true}\n"+
		"optimizer: {name: %s, learning_rate: %v}\ntrain: {epochs: %d, seed: 1}\n",
		preset, preset, s.keys, s.batch, s.optimizer, s.rate, endless)
}

// Presets returns the kinds of models that have a job on drawn records.
func Presets() []string {
	var names []string
	for _, p := range model.Presets() {
		names = append(names, p[0])
	}
	return names
}

// WritePreset writes a job that trains a preset on drawn records, and returns its path.
func WritePreset(folder, preset string) (string, error) {
	path := filepath.Join(folder, preset+".yaml")
	return path, os.WriteFile(path, []byte(presetJob(preset)), 0o600)
}
