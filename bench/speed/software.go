package speed

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"ringtrain/bench/child"
)

//go:embed drivers/*.py
var drivers embed.FS

// writeDrivers writes the drivers into folder.
func writeDrivers(folder string) error {
	return fs.WalkDir(drivers, "drivers", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := drivers.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, filepath.Base(path)), text, 0o600)
	})
}

// software is a library and its driver.
type software struct {
	driver   string
	modules  string // required Python modules
	launcher string // program that starts the ranks; "": each is started
	cluster  bool   // the ranks have a TF_CONFIG
}

// wants is the remedy for missing software.
const wants = "want: make bench-peers"

// python returns the first Python that has the modules.
func (s software) python(ctx context.Context) (string, error) {
	if s.launcher != "" {
		if _, err := exec.LookPath(s.launcher); err != nil {
			return "", errors.New("no " + s.launcher + "; " + wants)
		}
	}
	find := "import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in sys.argv[1].split(', ')))"
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(ctx, python, "-c", find, s.modules).Run() == nil {
			return python, nil
		}
	}
	return "", errors.New("no Python with " + s.modules + "; " + wants)
}

// processes returns a process per rank, or the launcher that starts them.
func (s software) processes(python, folder, spec string, ranks int) ([]child.Process, error) {
	driver := []string{python, filepath.Join(folder, s.driver), spec}
	if s.launcher != "" {
		launcher := []string{s.launcher, "--allow-run-as-root", "--oversubscribe", "-np", strconv.Itoa(ranks)}
		return []child.Process{{Argv: append(append(launcher, driver...), "0", strconv.Itoa(ranks))}}, nil
	}
	env := slices.Repeat([][]string{{"GLOO_SOCKET_IFNAME=lo"}}, ranks) // gloo stays on this host
	if s.cluster && ranks > 1 {
		var err error
		if env, err = clusterEnv(ranks); err != nil {
			return nil, err
		}
	}
	var processes []child.Process
	for rank := range ranks {
		argv := append(driver[:len(driver):len(driver)], strconv.Itoa(rank), strconv.Itoa(ranks))
		processes = append(processes, child.Process{Argv: argv, Env: env[rank]})
	}
	return processes, nil
}

// clusterEnv returns TF_CONFIG of each worker.
func clusterEnv(ranks int) ([][]string, error) {
	env := make([][]string, ranks)
	var workers []string
	for range ranks {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // once all ports are known
		workers = append(workers, l.Addr().String())
	}
	for i := range env {
		text, err := json.Marshal(map[string]any{
			"cluster": map[string]any{"worker": workers}, "task": map[string]any{"type": "worker", "index": i},
		})
		if err != nil {
			return nil, err
		}
		env[i] = []string{"TF_CONFIG=" + string(text)}
	}
	return env, nil
}

// threadsEnv returns the environment that bounds the threads of all numeric libraries.
func threadsEnv(threads int) []string {
	env := []string{"PYTHONDONTWRITEBYTECODE=1"}
	for _, name := range []string{"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"} {
		env = append(env, fmt.Sprintf("%s=%d", name, threads))
	}
	return env
}

// kernelsAVX2 is the kernel set that all contenders can be restricted to.
const kernelsAVX2 = "avx2"

// kernelsEnv returns the environment that restricts the libraries to a kernel set: ATen,
// MKL, oneDNN (also of TensorFlow), OpenBLAS and numpy.
func kernelsEnv(set string) []string {
	if !strings.EqualFold(set, kernelsAVX2) {
		return nil
	}
	return []string{
		"ATEN_CPU_CAPABILITY=avx2", "MKL_ENABLE_INSTRUCTIONS=AVX2", "ONEDNN_MAX_CPU_ISA=AVX2",
		"OPENBLAS_CORETYPE=Haswell", "NPY_DISABLE_CPU_FEATURES=AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR",
	}
}
