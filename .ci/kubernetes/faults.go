package main

import (
	"fmt"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// restarts are the arguments with which the others keep their state when a rank is lost.
var restarts = []string{"--restarts", "9"}

// allAnew is how the pods end when rank 2 is killed and nothing says --restarts: the others with 138.
const allAnew = "0:138 1:138 2:137 3:138"

// killed kills the process of a rank by signal 9 amid training.
type killed struct {
	rank int
	args []string
	end  string // exit codes by rank, of the pods that are replaced
}

func (k killed) run(t *trial) (r result, err error) {
	r.next, err = t.disturb(k.args, func() error { return t.kill(k.rank) })
	if err != nil {
		return r, err
	}
	return r, t.replaced(&r, k.end)
}

// disturb starts a job without end, does a fault to it, and returns the time to the next step.
func (t *trial) disturb(args []string, fault func() error) (time.Duration, error) {
	if err := t.train(endless(args...)); err != nil {
		return 0, err
	}
	before, err := t.steps(500)
	if err != nil {
		return 0, err
	}
	err = t.await(patience, "word of four running pods", func() bool { // the kubelet tells it some time after they train
		return len(t.pods.all(func(one pod) bool { return one.ran })) == 4
	})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := fault(); err != nil {
		return 0, err
	}
	return t.goesOn(before, began)
}

// replaced verifies that the pods with these exit codes, and no others, have a successor.
func (t *trial) replaced(r *result, end string) error {
	if codes := t.pods.codes(); codes != end {
		return fmt.Errorf("ended with %s, want %s", codes, end)
	}
	anew := len(strings.Fields(end))
	if n := len(t.pods.all(func(pod) bool { return true })); n != 4+anew {
		return fmt.Errorf("%d pods were made, want 4 and %d anew", n, anew)
	}
	r.shows = fmt.Sprintf("Running, %d pods anew (%s)", anew, end)
	return nil
}

// deleted deletes the pod of a rank: it gets TERM, and a signal to one is one to all.
type deleted struct{ rank int }

func (d deleted) run(t *trial) (r result, err error) {
	r.next, err = t.disturb(nil, func() error {
		one, ok := t.pods.living(d.rank)
		if !ok {
			return fmt.Errorf("rank %d does not run", d.rank)
		}
		_, err := t.kubectl(nil, "delete", "pod", one.name, "--wait=false")
		return err
	})
	if err != nil {
		return r, err
	}
	if t.pods.said(-1, "checkpoint /out/ckpt/step").text == "" {
		return r, fmt.Errorf("no rank has saved: %v", t.pods)
	}
	return r, t.replaced(&r, "0:143 1:143 2:143 3:143")
}

// drained drains the node, and gives it back. An evicted pod is no failure of the job.
func drained(t *trial) (r result, err error) {
	r.next, err = t.disturb(nil, func() error {
		if _, err := t.kubectl(nil, "drain", "node", "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=120s"); err != nil {
			return err
		}
		_, err := t.kubectl(nil, "uncordon", "node")
		return err
	})
	if err != nil {
		return r, err
	}
	for _, one := range t.pods.all(func(one pod) bool { return one.failures != "0" }) {
		return r, fmt.Errorf("%s counts %s failures of its index, want 0", one.name, one.failures)
	}
	if err := t.replaced(&r, "0:143 1:143 2:143 3:143"); err != nil {
		return r, err
	}
	r.shows += ", no failure counted"
	return r, nil
}

// stopped deletes the Job: all pods get TERM at once.
func stopped(t *trial) (r result, err error) {
	if err := t.train(endless()); err != nil {
		return r, err
	}
	if _, err := t.steps(500); err != nil {
		return r, err
	}
	if _, err := t.kubectl(nil, "delete", "job", "mnist"); err != nil {
		return r, err
	}
	err = t.await(patience, "end of the pods", func() bool {
		return len(t.pods.all(func(one pod) bool { return one.gone })) == 4
	})
	if err != nil {
		return r, err
	}
	const end = "0:143 1:143 2:143 3:143"
	if codes := t.pods.codes(); codes != end {
		return r, fmt.Errorf("ended with %s, want %s", codes, end)
	}
	return result{shows: "is gone (" + end + "), state saved"}, nil
}

// unscheduled has pods ask for so much that only three of them have room.
func unscheduled(t *trial) (r result, err error) {
	node, err := t.api.CoreV1().Nodes().Get(t.ctx, "node", meta.GetOptions{})
	if err != nil {
		return r, err
	}
	third := resource.NewMilliQuantity(node.Status.Allocatable.Cpu().MilliValue()*3/10, resource.DecimalSI)
	large := func(spec *core.PodSpec) {
		spec.Containers[0].Resources.Requests = core.ResourceList{core.ResourceCPU: *third}
	}
	if err := t.train(large, with("--start-timeout", "20s")); err != nil {
		return r, err
	}
	// The scheduler chooses which pod waits. Where it is rank 0, the others wait for the rendezvous.
	var named line
	err = t.await(patience, "name of the missing rank", func() bool {
		named = t.pods.said(-1, "missing ")
		return named.text != ""
	})
	if err != nil {
		return r, err
	}
	var ended []pod
	err = t.await(patience, "end of three ranks", func() bool {
		ended = t.pods.all(func(one pod) bool { return !one.ended.IsZero() })
		return len(ended) >= 3
	})
	if err != nil {
		return r, err
	}
	for _, one := range ended {
		if one.code != 138 {
			return r, fmt.Errorf("%s ended with %d, want 138", one.name, one.code)
		}
	}
	return result{shows: fmt.Sprintf("Running, 1 pod Pending; the others: %q, then 138", named.text)}, nil
}

// unclaimed names a claim that is made only when the job waits for it.
func unclaimed(t *trial) (r result, err error) {
	err = t.train(func(spec *core.PodSpec) {
		for i := range spec.Volumes {
			if v := &spec.Volumes[i]; v.Name == "out" {
				v.PersistentVolumeClaim.ClaimName = "mnist-other"
			}
		}
	})
	if err != nil {
		return r, err
	}
	var why string
	err = t.await(patience, "event of a missing claim", func() bool {
		events, err := t.api.CoreV1().Events(t.space).List(t.ctx, meta.ListOptions{})
		if err != nil {
			return false
		}
		for _, e := range events.Items {
			if strings.Contains(e.Message, `"mnist-other" not found`) {
				why = e.Message
			}
		}
		return why != ""
	})
	if err != nil {
		return r, err
	}
	if err := t.apply(t.volume("mnist-other", t.out), t.claim("mnist-other")); err != nil {
		return r, err
	}
	began := time.Now()
	if _, err := t.steps(1); err != nil {
		return r, err
	}
	why, _, _ = strings.Cut(why, ".")
	return result{shows: "Running, 4 pods Pending: " + why + "; trains once it is there", next: time.Since(began)}, nil
}
