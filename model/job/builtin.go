package job

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed jobs/*.yaml
var builtin embed.FS

// BuiltinNames returns the names of the built-in jobs.
func BuiltinNames() []string {
	entries, err := fs.ReadDir(builtin, "jobs")
	if err != nil {
		panic("job: built-in jobs are missing")
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	return names
}

// Builtin returns the file of a built-in job.
func Builtin(name string) ([]byte, bool) {
	b, err := builtin.ReadFile(path.Join("jobs", name+".yaml"))
	return b, err == nil
}

// BuiltinUsage returns the description of a built-in job: the first line of its file.
func BuiltinUsage(name string) string {
	text, _ := Builtin(name)
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSuffix(strings.TrimPrefix(line, "# "), ".")
}

// IsName reports whether word names a job: a built-in job, or a .yaml or .yml file.
func IsName(word string) bool {
	_, ok := Builtin(word)
	return ok || strings.HasSuffix(word, ".yaml") || strings.HasSuffix(word, ".yml")
}
