package bundle

import (
	"fmt"
	"path/filepath"
	"strings"
)

// PatternWarning returns a warning about an output folder that a key or an option names, "" for none:
// TensorFlow takes some characters of an absolute path for a pattern of names.
func PatternWarning(key, dir string) string {
	abs, _ := filepath.Abs(dir) // "" without a working directory
	i := strings.IndexAny(abs, `[]*?\`)
	if dir == "" || i < 0 {
		return ""
	}
	return fmt.Sprintf("%s is %s: TensorFlow takes %c for a pattern and cannot load it", key, abs, abs[i])
}
