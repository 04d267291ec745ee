package main

import (
	"errors"
	"slices"

	trainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	kubeflow "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

// applyTFJob applies deploy/kubeflow/tfjob.yaml as applyJob does its manifest, with metrics.
func applyTFJob(t *trial, changes ...func(*core.PodSpec)) error {
	var job kubeflow.TFJob
	rest, err := documents(folder+"kubeflow/tfjob.yaml", "TFJob", &job)
	if err != nil {
		return err
	}
	for _, replicas := range job.Spec.TFReplicaSpecs {
		t.change(&replicas.Template.Spec, append(changes, with("--metrics=:9400"))...)
	}
	return t.apply(append(rest, job)...)
}

// applyTrainJob applies deploy/kubeflow/trainjob.yaml with its runtime, the one of the trainer's module. As the head of the
// manifest says, the runtime gets from the Indexed Job all but rank, rendezvous and token, and the TrainJob the arguments.
func applyTrainJob(t *trial, changes ...func(*core.PodSpec)) error {
	var runtime trainer.ClusterTrainingRuntime
	if _, err := documents(t.operators, "ClusterTrainingRuntime", &runtime); err != nil {
		return err
	}
	var plain batch.Job
	if _, err := documents(folder+"kubernetes/job.yaml", "Job", &plain); err != nil {
		return err
	}
	var job trainer.TrainJob
	rest, err := documents(folder+"kubeflow/trainjob.yaml", "TrainJob", &job)
	if err != nil {
		return err
	}
	spec := &plain.Spec.Template.Spec
	t.change(spec, changes...)
	spec.Subdomain = ""
	node := &spec.Containers[0]
	node.Name = "node"
	node.Env = slices.DeleteFunc(node.Env, func(v core.EnvVar) bool {
		return slices.Contains([]string{"RINGTRAIN_WORLD_SIZE", "RINGTRAIN_RENDEZVOUS", "RINGTRAIN_TOKEN_FILE"}, v.Name)
	})
	for i := range plain.Spec.PodFailurePolicy.Rules {
		if codes := plain.Spec.PodFailurePolicy.Rules[i].OnExitCodes; codes != nil {
			codes.ContainerName = &node.Name
		}
	}
	runtime.Spec.Template.Spec.ReplicatedJobs[0].Template.Spec = plain.Spec
	job.Spec.Trainer.Image, job.Spec.Trainer.Args, job.Spec.Trainer.ResourcesPerNode = &node.Image, node.Args, &node.Resources
	if err := t.apply(runtime); err != nil {
		return err
	}
	var refusal error // the webhook answers from a cache, which may not have the runtime yet
	err = t.await(patience, "runtime of the TrainJob", func() bool {
		refusal = t.apply(append(rest, job)...)
		return refusal == nil
	})
	return errors.Join(err, refusal)
}
