package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// A cluster is the Kubernetes under test.
type cluster struct {
	api               kubernetes.Interface
	image, data, logs string
	operators         string // file of Kubeflow's definitions
}

// connect takes the cluster that KUBECONFIG names.
func (c *cluster) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 100, 200
	c.api, err = kubernetes.NewForConfig(config)
	return err
}

// try runs a case in a namespace of its own, with the claims and the token that the manifests name.
func (c *cluster) try(ctx context.Context, space string, one scenario) (r result, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 15*time.Minute, fmt.Errorf("%s takes 15 minutes", one.name))
	defer cancel()
	t := &trial{cluster: c, ctx: ctx, engine: indexed, space: space, out: filepath.Join("/run/volumes", space)}
	if err := t.furnish(); err != nil {
		return r, err
	}
	defer func() { // the next case needs the machine
		if end := t.clear(); err == nil {
			err = end
		}
	}()
	t.pods, err = record(ctx, c.api, space, filepath.Join(c.logs, strings.ReplaceAll(one.name, " ", "-")))
	if err != nil {
		return r, err
	}
	return one.run(t)
}

// A trial is a case that runs.
type trial struct {
	*cluster
	ctx    context.Context
	engine engine
	space  string // namespace
	out    string // folder of the claim mnist-out
	pods   *pods
}

// furnish makes the namespace, its volumes, and the token.
func (t *trial) furnish() error {
	if err := os.MkdirAll(t.out, 0o755); err != nil {
		return err
	}
	if err := os.Chown(t.out, 65532, 65532); err != nil { // fsGroup does not reach into a hostPath
		return err
	}
	space := core.Namespace{TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: meta.ObjectMeta{Name: t.space}}
	if err := t.apply(space); err != nil {
		return err
	}
	err := t.apply(
		t.volume("mnist-data", t.data), t.claim("mnist-data"),
		t.volume("mnist-out", t.out), t.claim("mnist-out"),
		t.secret(),
	)
	if err != nil {
		return err
	}
	// A pod is refused until its namespace has this account.
	return t.await(time.Minute, "the service account", func() bool {
		_, err := t.api.CoreV1().ServiceAccounts(t.space).Get(t.ctx, "default", meta.GetOptions{})
		return err == nil
	})
}

// secret returns the Secret of the manifests. The files of otherToken are beside its own.
func (t *trial) secret() core.Secret {
	token, other := strings.Repeat("5eed", 16), strings.Repeat("0dd5", 16)
	return core.Secret{
		TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta.ObjectMeta{Name: "ringtrain-token"},
		StringData: map[string]string{"token": token, "token-0": token, "token-1": token, "token-2": token, "token-3": other},
	}
}

// volume returns a volume that is a folder of the node, for the claim of this name.
func (t *trial) volume(claim, folder string) core.PersistentVolume {
	return core.PersistentVolume{
		TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: meta.ObjectMeta{Name: t.space + "-" + claim},
		Spec: core.PersistentVolumeSpec{
			Capacity: size, AccessModes: shared,
			PersistentVolumeSource: core.PersistentVolumeSource{HostPath: &core.HostPathVolumeSource{Path: folder}},
			ClaimRef:               &core.ObjectReference{Namespace: t.space, Name: claim},
		},
	}
}

// claim returns the claim of a volume.
func (t *trial) claim(name string) core.PersistentVolumeClaim {
	return core.PersistentVolumeClaim{
		TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: meta.ObjectMeta{Name: name},
		Spec: core.PersistentVolumeClaimSpec{
			AccessModes: shared, Resources: core.VolumeResourceRequirements{Requests: size},
			StorageClassName: new(""), VolumeName: t.space + "-" + name,
		},
	}
}

var (
	size   = core.ResourceList{core.ResourceStorage: resource.MustParse("1Gi")}
	shared = []core.PersistentVolumeAccessMode{core.ReadWriteMany}
)

// apply applies objects as a user does, strictly: a field that Kubernetes does not know is an error.
func (t *trial) apply(objects ...any) error {
	var text bytes.Buffer
	for _, o := range objects {
		doc, err := yaml.Marshal(o)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "---\n%s", doc)
	}
	_, err := t.kubectl(&text, "apply", "-f", "-")
	return err
}

// kubectl runs a command of kubectl in the namespace of the case.
func (t *trial) kubectl(in *bytes.Buffer, args ...string) (string, error) {
	command := exec.CommandContext(t.ctx, "kubectl", append([]string{"--namespace", t.space}, args...)...)
	if in != nil {
		command.Stdin = in
	}
	said, err := command.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, said)
	}
	return string(said), nil
}

// clear ends all pods of the case. The Job goes first: of each index the last failed pod stays until it has a successor,
// which a namespace that ends does not take.
func (t *trial) clear() error {
	ctx := context.WithoutCancel(t.ctx)
	err := t.rest().Delete().AbsPath(t.engine.path, "namespaces", t.space, t.engine.kind, "mnist").
		Param("propagationPolicy", "Background").Do(ctx).Error()
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if err := t.api.CoreV1().Namespaces().Delete(ctx, t.space, meta.DeleteOptions{}); err != nil {
		return err
	}
	deadline := time.Now().Add(3 * time.Minute)
	for time.Now().Before(deadline) {
		left, err := t.api.CoreV1().Pods(t.space).List(ctx, meta.ListOptions{})
		if err == nil && len(left.Items) == 0 {
			return nil
		}
		time.Sleep(200 * time.Millisecond)
	}
	return fmt.Errorf("pods of %s do not end", t.space)
}

// await waits until a condition holds.
func (t *trial) await(limit time.Duration, what string, holds func() bool) error {
	deadline := time.Now().Add(limit)
	for !holds() {
		if err := context.Cause(t.ctx); err != nil {
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("no %s within %v; %v", what, limit, t.pods)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}
