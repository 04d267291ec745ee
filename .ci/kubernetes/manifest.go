package main

import (
	"bytes"
	"fmt"
	"os"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// folder has the manifests. The suite runs in .ci/kubernetes.
const folder = "../../deploy/"

// documents returns the documents of a file. One of the given kind is decoded into v.
func documents[T any](path, kind string, v *T) (rest []any, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	found := false
	for _, doc := range bytes.Split(text, []byte("\n---\n")) {
		var of meta.TypeMeta
		if err := yaml.Unmarshal(doc, &of); err != nil {
			return nil, err
		}
		if of.Kind == kind {
			found = true
			if err := yaml.UnmarshalStrict(doc, v); err != nil {
				return nil, err
			}
			continue
		}
		var other map[string]any
		if err := yaml.Unmarshal(doc, &other); err != nil {
			return nil, err
		}
		rest = append(rest, other)
	}
	if !found {
		return nil, fmt.Errorf("%s has no %s", path, kind)
	}
	return rest, nil
}

// small is what a container asks for here: four ranks share a node of two processors.
var small = core.ResourceRequirements{
	Requests: core.ResourceList{core.ResourceCPU: resource.MustParse("100m"), core.ResourceMemory: resource.MustParse("128Mi")},
	Limits:   core.ResourceList{core.ResourceMemory: resource.MustParse("1Gi")},
}

// train applies the manifest of the job. The changes are those of a user, such as options, or the fault of the case.
func (t *trial) train(changes ...func(*core.PodSpec)) error { return t.engine.apply(t, changes...) }

// change gives pods the image and less resources, and then makes the changes of the case.
func (t *trial) change(spec *core.PodSpec, changes ...func(*core.PodSpec)) {
	spec.Containers[0].Image, spec.Containers[0].Resources = t.image, small
	for _, change := range changes {
		change(spec)
	}
}

// applyJob applies deploy/kubernetes/job.yaml.
func applyJob(t *trial, changes ...func(*core.PodSpec)) error {
	var job batch.Job
	rest, err := documents(folder+"kubernetes/job.yaml", "Job", &job)
	if err != nil {
		return err
	}
	t.change(&job.Spec.Template.Spec, changes...)
	return t.apply(append(rest, job)...)
}

// serve applies deploy/kubernetes/serve.yaml, likewise.
func (t *trial) serve() error {
	var server apps.Deployment
	rest, err := documents(folder+"kubernetes/serve.yaml", "Deployment", &server)
	if err != nil {
		return err
	}
	t.change(&server.Spec.Template.Spec)
	return t.apply(append(rest, server)...)
}

// with returns the change that adds arguments to the command.
func with(args ...string) func(*core.PodSpec) {
	return func(spec *core.PodSpec) {
		spec.Containers[0].Args = append(spec.Containers[0].Args, args...)
	}
}

// endless has a job train until it is stopped, and save each second.
func endless(more ...string) func(*core.PodSpec) {
	return with(append([]string{"--set", "train.epochs=1000000", "--set", "checkpoint.every=1s"}, more...)...)
}
