package bundle

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// KerasFile returns the error of a path that is a model file of Keras, whose graph is made by Python alone: how to make a
// SavedModel of it. It is nil of other paths.
func KerasFile(path string) error {
	end := filepath.Ext(path)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || !slices.Contains([]string{".keras", ".h5", ".hdf5"}, strings.ToLower(end)) {
		return nil
	}
	base := strings.TrimSuffix(path, end)
	return bad("%s is a model file of Keras, want a SavedModel: model.export(%q) in Python makes one, then give %s", path, base+"/1", base)
}
