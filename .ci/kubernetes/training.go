package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// asItIs trains the manifest's job. The time is that from kubectl apply to the first step.
func asItIs(t *trial) (r result, err error) {
	began := time.Now()
	if err := t.train(); err != nil {
		return r, err
	}
	if _, err := t.steps(1); err != nil {
		return r, err
	}
	r.next = time.Since(began)
	r.shows, err = t.trained()
	return r, err
}

// trained waits for the end of a job, and verifies the ends of its pods.
func (t *trial) trained() (shows string, err error) {
	accuracy, err := t.complete()
	if err != nil {
		return "", err
	}
	if codes := t.pods.codes(); codes != "0:0 1:0 2:0 3:0" {
		return "", fmt.Errorf("the pods ended with %s", codes)
	}
	return t.engine.done + ", 4 of 4 pods, accuracy " + accuracy, nil
}

// configured trains a job file of one's own, as deploy/README.md says.
func configured(t *trial) (r result, err error) {
	const job = `name: mine
model: {kind: mlp, classes: 10, hidden: [32]}
input:
  train: {format: idx, images: mnist/train-images-idx3-ubyte.gz, labels: mnist/train-labels-idx1-ubyte.gz}
  eval: {format: idx, images: mnist/t10k-images-idx3-ubyte.gz, labels: mnist/t10k-labels-idx1-ubyte.gz}
  batch: 100
optimizer: {name: adam, learning_rate: 0.001}
train: {epochs: 2}
`
	if err := t.apply(core.ConfigMap{
		TypeMeta: meta.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: meta.ObjectMeta{Name: "job"},
		Data: map[string]string{"job.yaml": job},
	}); err != nil {
		return r, err
	}
	err = t.train(func(spec *core.PodSpec) {
		container := &spec.Containers[0]
		container.Command[2] = "/job/job.yaml"
		container.VolumeMounts = append(container.VolumeMounts, core.VolumeMount{Name: "job", MountPath: "/job", ReadOnly: true})
		source := &core.ConfigMapVolumeSource{LocalObjectReference: core.LocalObjectReference{Name: "job"}}
		spec.Volumes = append(spec.Volumes, core.Volume{Name: "job", VolumeSource: core.VolumeSource{ConfigMap: source}})
	})
	if err != nil {
		return r, err
	}
	r.shows, err = t.trained()
	return r, err
}

// served trains, and asks each pod of the Deployment for the first digit of the records to evaluate, a seven.
func served(t *trial) (r result, err error) {
	if err := t.train(); err != nil {
		return r, err
	}
	if _, err := t.complete(); err != nil {
		return r, err
	}
	if err := t.serve(); err != nil {
		return r, err
	}
	err = t.await(patience, "two servers", func() bool {
		d, err := t.api.AppsV1().Deployments(t.space).Get(t.ctx, "mnist-serve", meta.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 2
	})
	if err != nil {
		return r, err
	}
	seven, err := firstDigit(filepath.Join(t.data, "mnist/t10k-images-idx3-ubyte.gz"))
	if err != nil {
		return r, err
	}
	servers := t.pods.all(func(one pod) bool { return strings.HasPrefix(one.name, "mnist-serve-") && one.ran })
	for _, one := range servers {
		digit, err := ask("http://"+one.ip+":8501/v1/models/mnist:predict", seven)
		if err != nil || digit != 7 {
			return r, fmt.Errorf("%s answers %d, %w", one.name, digit, err)
		}
	}
	return result{shows: fmt.Sprintf("Complete; %d of 2 servers answer", len(servers))}, nil
}

// firstDigit returns the pixels of the first image of a file.
func firstDigit(path string) (pixels []float64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	text := make([]byte, 16+784)
	if _, err := io.ReadFull(plain, text); err != nil {
		return nil, err
	}
	for _, b := range text[16:] {
		pixels = append(pixels, float64(b)/255)
	}
	return pixels, nil
}

// ask returns the class with the largest score.
func ask(address string, pixels []float64) (class int, err error) {
	request, err := json.Marshal(map[string]any{"signature_name": "predict_images", "instances": [][]float64{pixels}})
	if err != nil {
		return 0, err
	}
	answer, err := http.Post(address, "application/json", bytes.NewReader(request))
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	var scores struct {
		Predictions [][]float64
		Error       string
	}
	if err := json.NewDecoder(answer.Body).Decode(&scores); err != nil {
		return 0, err
	}
	if len(scores.Predictions) != 1 {
		return 0, errors.New(scores.Error)
	}
	for i, s := range scores.Predictions[0] {
		if s > scores.Predictions[0][class] {
			class = i
		}
	}
	return class, nil
}
