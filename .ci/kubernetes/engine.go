package main

import (
	"encoding/json"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// An engine is a kind of job: of Kubernetes itself, or of an operator.
type engine struct {
	path    string // of the API, before the namespace and after it
	kind    string
	done    string // the condition of a job that has ended well
	refused string // the reason of one that has failed and is not tried again
	tells   string // how its end tells an exit code: in the Job's message, or by the pods alone
	apply   func(t *trial, changes ...func(*core.PodSpec)) error
}

var (
	indexed  = engine{"/apis/batch/v1", "jobs", "Complete", "PodFailurePolicy", "exit code %s", applyJob}
	tfJob    = engine{"/apis/kubeflow.org/v1", "tfjobs", "Succeeded", "TFJobFailed", ":%s", applyTFJob}
	trainJob = engine{"/apis/trainer.kubeflow.org/v1alpha1", "trainjobs", "Complete", "FailedJobs", ":%s", applyTrainJob}
)

// on returns a case with another kind of job.
func on(e engine, run func(*trial) (result, error)) func(*trial) (result, error) {
	return func(t *trial) (result, error) {
		t.engine = e
		return run(t)
	}
}

// condition returns the job's condition of a type, if it has that.
func (t *trial) condition(of string) *meta.Condition {
	text, err := t.rest().Get().AbsPath(t.engine.path, "namespaces", t.space, t.engine.kind, "mnist").Do(t.ctx).Raw()
	var job struct {
		Status struct{ Conditions []meta.Condition }
	}
	if err != nil || json.Unmarshal(text, &job) != nil {
		return nil
	}
	for _, c := range job.Status.Conditions {
		if c.Type == of && c.Status == meta.ConditionTrue {
			return &c
		}
	}
	return nil
}

// rest returns the client of the API for kinds that have none of their own.
func (t *trial) rest() rest.Interface { return t.api.Discovery().RESTClient() }
