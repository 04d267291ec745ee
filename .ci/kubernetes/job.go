package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// patience is the limit for what takes seconds on a machine that does nothing else.
const patience = 4 * time.Minute

// complete waits until the Job is complete, and returns the accuracy that its log tells.
func (t *trial) complete() (accuracy string, err error) {
	err = t.await(patience, "complete Job", func() bool {
		return t.condition(t.engine.done) != nil || t.condition("Failed") != nil
	})
	if err != nil {
		return "", err
	}
	if failed := t.condition("Failed"); failed != nil {
		return "", fmt.Errorf("the Job failed: %s", failed.Message)
	}
	err = t.await(patience, "digest of each rank", func() bool {
		for rank := range 4 {
			if t.pods.said(rank, "digest=").text == "" {
				return false
			}
		}
		return true
	})
	if err != nil {
		return "", err
	}
	for rank := range 4 {
		if one, other := t.pods.said(0, "digest=").text, t.pods.said(rank, "digest=").text; one != other {
			return "", fmt.Errorf("rank 0 ended with %s, rank %d with %s", one, rank, other)
		}
	}
	words := strings.Fields(t.pods.said(0, "accuracy ").text)
	for i, word := range words {
		if word == "accuracy" && i+1 < len(words) {
			return strings.TrimSuffix(words[i+1], ","), nil
		}
	}
	return "", errors.New("rank 0 told no accuracy")
}

// failed waits until the Job has failed, and returns the rule's message. No pod may have been made anew.
func (t *trial) failed() (string, error) {
	err := t.await(patience, "failed Job", func() bool { return t.condition("Failed") != nil })
	if err != nil {
		return "", err
	}
	if n := len(t.pods.all(func(pod) bool { return true })); n != 4 {
		return "", fmt.Errorf("%d pods were made, want 4: %v", n, t.pods)
	}
	c := t.condition("Failed")
	if c.Reason != t.engine.refused {
		return "", fmt.Errorf("the Job failed for %s, want %s: %s", c.Reason, t.engine.refused, c.Message)
	}
	return "Failed: " + c.Message, nil
}

// A point is where the training of a job is: a process of rank 0, its generation, and its steps.
type point struct {
	pod               string
	generation, steps float64
}

// at asks the metrics of rank 0, which the manifest opens.
func (t *trial) at() (p point, ok bool) {
	one, ok := t.pods.living(0)
	if !ok || one.ip == "" {
		return p, false
	}
	client := http.Client{Timeout: time.Second}
	answer, err := client.Get("http://" + one.ip + ":9400/metrics")
	if err != nil {
		return p, false
	}
	defer answer.Body.Close()
	p.pod = one.uid
	for scan := bufio.NewScanner(answer.Body); scan.Scan(); {
		name, value, _ := strings.Cut(scan.Text(), " ")
		switch name {
		case "ringtrain_generation":
			p.generation, _ = strconv.ParseFloat(value, 64)
		case "ringtrain_steps_total":
			p.steps, _ = strconv.ParseFloat(value, 64)
		}
	}
	return p, true
}

// steps waits until the job has done so many steps.
func (t *trial) steps(n float64) (last point, err error) {
	err = t.await(patience, fmt.Sprintf("step %v", n), func() bool {
		p, ok := t.at()
		last = p
		return ok && p.steps >= n
	})
	return last, err
}

// goesOn waits for the first step of another process of rank 0, or of another generation, than the one before, and returns
// the time from the fault to it.
func (t *trial) goesOn(before point, fault time.Time) (time.Duration, error) {
	var first point
	err := t.await(patience, "step after the fault", func() bool {
		p, ok := t.at()
		if !ok || (p.pod == before.pod && p.generation == before.generation) {
			return false
		}
		if first.pod != p.pod || first.generation != p.generation {
			first = p
		}
		return p.steps > first.steps
	})
	return time.Since(fault), err
}

// kill ends the process of a rank by a signal, as the kernel's memory killer does. The processes of pods are seen from the
// node's namespace, and their control groups have the name of the pod.
func (t *trial) kill(rank int) error {
	one, ok := t.pods.living(rank)
	if !ok {
		return fmt.Errorf("rank %d does not run: %v", rank, t.pods)
	}
	names, err := filepath.Glob("/proc/[0-9]*/comm")
	if err != nil {
		return err
	}
	for _, path := range names {
		name, err := os.ReadFile(path)
		if err != nil || string(name) != "ringtrain\n" {
			continue
		}
		group, err := os.ReadFile(filepath.Dir(path) + "/cgroup")
		if err != nil || !strings.Contains(string(group), one.uid) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return err
		}
		return syscall.Kill(pid, syscall.SIGKILL)
	}
	return fmt.Errorf("%s has no process", one.name)
}
