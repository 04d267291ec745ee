package bundle

import (
	"fmt"
	"path/filepath"
	"strings"
)

// PatternWarning returns a warning about an output folder that a key or an option names, "" for none.
// TensorFlow takes some characters of an absolute path for a pattern of names: it then loads nothing,
// or something else.
func PatternWarning(key, dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		abs = dir
	}
	i := strings.IndexAny(abs, `[]*?\`)
	if dir == "" || i < 0 {
		return ""
	}
	return fmt.Sprintf("%s is %s: TensorFlow takes %c for a pattern and cannot load it", key, abs, abs[i])
}
