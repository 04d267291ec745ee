package peers

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

//go:embed drivers
var sources embed.FS

// A driver is a program of the folder drivers.
type driver struct {
	source  string   // source file
	compile []string // compiler and options before the files; nil: not compiled
	libs    []string // options after the files
	needs   string   // Debian packages
}

// built returns the path of the driver, which it compiles if necessary. The compiler
// optimizes templates and the driver's own loops for this machine; Debian's libraries
// are for any machine.
func (d driver) built(ctx context.Context) (string, error) {
	text, err := sources.ReadFile("drivers/" + d.source)
	if err != nil {
		return "", err
	}
	path, err := d.path(text)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), "making")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	source := filepath.Join(folder, d.source)
	if err := os.WriteFile(source, text, 0o600); err != nil {
		return "", err
	}
	if len(d.compile) == 0 {
		return path, os.Rename(source, path)
	}
	made := filepath.Join(folder, "program")
	argv := append(append(d.compile[1:len(d.compile):len(d.compile)], source, "-o", made), d.libs...)
	if out, err := exec.CommandContext(ctx, d.compile[0], argv...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot compile its driver (%w%s); want: apt-get install %s", err, firstError(out), d.needs)
	}
	return path, os.Rename(made, path)
}

// path returns the path of a compiled driver for its source text and this machine.
func (d driver) path(text []byte) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	host, _ := os.Hostname() // "" if unknown
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %v %v %s", runtime.GOARCH, host, d.compile, d.libs, text))
	folder := filepath.Join(cache, "ringtrain", "bench")
	return filepath.Join(folder, fmt.Sprintf("%x-%s", sum[:8], d.source)), os.MkdirAll(folder, 0o700)
}

// firstError returns the line of a compiler's output that has the error.
func firstError(out []byte) string {
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "error") || strings.Contains(line, "not find") {
			return ": " + strings.TrimSpace(line)
		}
	}
	return ""
}

// missing returns an error with the packages to install if a program is missing.
func missing(program, needs string) error {
	if _, err := exec.LookPath(program); err != nil {
		return errors.New("no " + program + "; want: apt-get install " + needs)
	}
	return nil
}
