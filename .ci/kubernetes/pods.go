package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// indexLabel has the rank of a pod of an Indexed Job.
const indexLabel = "batch.kubernetes.io/job-completion-index"

// failureCount is the annotation with the failures that count against backoffLimitPerIndex.
const failureCount = "batch.kubernetes.io/job-index-failure-count"

// pods is the record of the pods of a namespace: those of now, and those that are gone.
type pods struct {
	mu    sync.Mutex
	list  []*pod // in the order in which they were made
	api   kubernetes.Interface
	space string
	logs  string // folder
}

// A pod is what was seen of a pod.
type pod struct {
	name, uid, index, ip string
	failures             string // of its index before it, as the Job counts them
	ran                  bool   // its container has run
	ended                time.Time
	code                 int // exit code, once it has ended
	gone                 bool
	lines                []line
}

// A line is a line of a log, with the time at which it came.
type line struct {
	at   time.Time
	text string
}

// record watches the pods of a namespace until the context ends, and writes their logs into a folder.
func record(ctx context.Context, api kubernetes.Interface, space, logs string) (*pods, error) {
	if err := os.RemoveAll(logs); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, err
	}
	p := &pods{api: api, space: space, logs: logs}
	watch, err := api.CoreV1().Pods(space).Watch(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	go func() {
		for event := range watch.ResultChan() {
			if seen, ok := event.Object.(*core.Pod); ok {
				p.take(ctx, seen, event.Type == "DELETED")
			}
		}
	}()
	return p, nil
}

// take notes the state of a pod.
func (p *pods) take(ctx context.Context, seen *core.Pod, gone bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.list, func(one *pod) bool { return one.uid == string(seen.UID) })
	if at < 0 {
		at = len(p.list)
		p.list = append(p.list, &pod{name: seen.Name, uid: string(seen.UID), index: rank(seen.Labels), failures: seen.Annotations[failureCount]})
	}
	one := p.list[at]
	one.gone, one.ip = gone, seen.Status.PodIP
	for _, s := range seen.Status.ContainerStatuses {
		if !one.ran && (s.State.Running != nil || s.State.Terminated != nil) {
			one.ran = true
			go p.follow(ctx, one)
		}
		if end := s.State.Terminated; end != nil && one.ended.IsZero() {
			one.ended, one.code = time.Now(), int(end.ExitCode)
		}
	}
}

// rank returns the rank of the pod with these labels: its index, and in a TFJob that among the workers, behind the chief.
func rank(labels map[string]string) string {
	switch index := labels["training.kubeflow.org/replica-index"]; labels["training.kubeflow.org/replica-type"] {
	case "chief":
		return index
	case "worker":
		n, _ := strconv.Atoi(index)
		return strconv.Itoa(n + 1)
	}
	return labels[indexLabel]
}

// follow reads the log of a pod to its end.
func (p *pods) follow(ctx context.Context, one *pod) {
	stream, err := p.api.CoreV1().Pods(p.space).GetLogs(one.name, &core.PodLogOptions{Follow: true}).Stream(ctx)
	if err != nil {
		p.add(one, "no log: "+err.Error())
		return
	}
	defer stream.Close()
	for scan := bufio.NewScanner(stream); scan.Scan(); {
		p.add(one, scan.Text())
	}
}

// add appends a line to the log of a pod, in its file too.
func (p *pods) add(one *pod, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	one.lines = append(one.lines, line{now, text})
	file, err := os.OpenFile(filepath.Join(p.logs, one.name+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return
	}
	defer file.Close()
	fmt.Fprintf(file, "%s %s\n", now.Format("15:04:05.000"), text)
}

// all returns copies of the pods that hold a condition, oldest first.
func (p *pods) all(holds func(pod) bool) (found []pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.list {
		if holds(*one) {
			found = append(found, *one)
		}
	}
	return found
}

// living returns the pod of a rank that runs now.
func (p *pods) living(rank int) (pod, bool) {
	found := p.all(func(one pod) bool {
		return one.index == fmt.Sprint(rank) && one.ran && one.ended.IsZero() && !one.gone
	})
	if len(found) == 0 {
		return pod{}, false
	}
	return found[len(found)-1], true
}

// said returns the first line with a part, of the pods of a rank, newest pod first. A rank of -1 is all.
func (p *pods) said(rank int, part string) line {
	for _, one := range slices.Backward(p.all(func(one pod) bool { return rank < 0 || one.index == fmt.Sprint(rank) })) {
		for _, l := range one.lines {
			if strings.Contains(l.text, part) {
				return l
			}
		}
	}
	return line{}
}

// codes returns the exit codes of all pods that have ended, by rank: "0:138 1:138 2:137".
func (p *pods) codes() string {
	var words []string
	for _, one := range p.all(func(one pod) bool { return !one.ended.IsZero() }) {
		words = append(words, fmt.Sprintf("%s:%d", one.index, one.code))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// String returns the state of each pod, and its last line.
func (p *pods) String() string {
	if p == nil {
		return "no pods"
	}
	var words []string
	for _, one := range p.all(func(pod) bool { return true }) {
		state := "waits"
		switch {
		case !one.ended.IsZero():
			state = fmt.Sprintf("ended with %d", one.code)
		case one.gone:
			state = "is gone"
		case one.ran:
			state = "runs"
		}
		last := ""
		if len(one.lines) > 0 {
			last = ": " + one.lines[len(one.lines)-1].text
		}
		words = append(words, one.name+" "+state+last)
	}
	return strings.Join(words, "; ")
}
