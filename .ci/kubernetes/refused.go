package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	core "k8s.io/api/core/v1"
)

// refused has a fault that would occur again: the Job fails by the rule of the manifest, and no pod is made anew.
type refused struct {
	code  string
	fault func(*core.PodSpec)
}

func (f refused) run(t *trial) (r result, err error) {
	if err := t.train(f.fault); err != nil {
		return r, err
	}
	message, err := t.failed()
	if err != nil {
		return r, err
	}
	code := fmt.Sprintf(t.engine.tells, f.code)
	err = t.await(patience, code, func() bool { return strings.Contains(message+" "+t.pods.codes(), code) })
	return result{shows: message}, err
}

// otherToken has rank 3 read a token of its own.
func otherToken(spec *core.PodSpec) {
	container := &spec.Containers[0]
	for i := range container.Env {
		if container.Env[i].Name == "RINGTRAIN_TOKEN_FILE" {
			container.Env[i].Value = "/etc/ringtrain/token-$(POD_INDEX)"
		}
	}
	index := &core.EnvVarSource{FieldRef: &core.ObjectFieldSelector{FieldPath: "metadata.labels['" + indexLabel + "']"}}
	// A variable may name only those before it.
	container.Env = append([]core.EnvVar{{Name: "POD_INDEX", ValueFrom: index}}, container.Env...)
}

// misspelt names a program that the image does not have. The node's code for a container that it cannot start is 128, which
// another attempt may mend: the Job makes pods anew.
func misspelt(t *trial) (r result, err error) {
	if err := t.train(func(spec *core.PodSpec) { spec.Containers[0].Command[0] = "ringtrian" }); err != nil {
		return r, err
	}
	err = t.await(patience, "pods that cannot start", func() bool {
		return strings.HasPrefix(t.pods.codes(), "0:128 ") && len(t.pods.all(func(pod) bool { return true })) > 4
	})
	return result{shows: "Running, pods with StartError (128), made anew"}, err
}

// damaged gives the job a file that is no IDX.
func damaged(t *trial) (r result, err error) {
	folder := filepath.Join(t.out, "mnist")
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(t.data, "mnist"))); err != nil {
		return r, err
	}
	if err := os.Remove(filepath.Join(folder, "train-images-idx3-ubyte.gz")); err != nil {
		return r, err
	}
	if err := os.WriteFile(filepath.Join(folder, "train-images-idx3-ubyte.gz"), []byte("no IDX"), 0o644); err != nil {
		return r, err
	}
	return refused{"65", with("--data", "/out")}.run(t)
}
