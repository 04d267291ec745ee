package main

import (
	"math"
	"os"
	"testing"
	"time"
)

// hours is the time limit of processes on a slow wire, or that run as long as their
// test.
const hours = 2 * time.Hour

// startPatiently is startProgram with that limit.
func startPatiently(b *box, line []string) *testProcess {
	return b.startWithin(hours, line[0], line[1:]...)
}

// TestMLPOverWire trains an MLP 784-1024-256-10 on the real digits over four hosts at
// 100 Mbit/s. It verifies that compression saves time and keeps the accuracy.
func TestMLPOverWire(t *testing.T) {
	if os.Getenv("NETNS_LONG") != "1" {
		t.Skip("set NETNS_LONG=1 to train for ten minutes over network namespaces")
	}
	data := "RINGTRAIN_DATA=" + shared(t)
	hosts := newHosts(t, 4, "100mbit")
	job := []string{
		"train", "mnist", "--json", "--set", "model.kind=mlp", "--set", "model.hidden=[1024,256]", "--set", "input.batch=100",
		"--set", "train.steps=600", "--set", "loss.reduction=mean", "--set", "optimizer.learning_rate=0.1", "--set", "schedule.kind=constant",
		"--set", "checkpoint.dir=", "--set", "export.savedmodel=", "--set", "allreduce.codec=",
	}
	train := func(codec string) (took, accuracy float64) {
		b := newBox(t).with(data)
		argv := append([]string{self(b)}, job...)
		argv[len(argv)-1] += codec
		done := b.startEach(hosts, fourHosts, argv, startPatiently).trained().only(t, "done")
		took, accuracy = done.num("took_s"), done.sub("eval").num("accuracy")
		t.Logf("%s: %.1f s, accuracy %.4f, %.1f %% of the exchange hidden", codec, took, accuracy, 100*done.num("hidden_share"))
		return took, accuracy
	}
	plain, accuracy := train("none")
	for codec, most := range map[string]float64{"int8": 0.4, "bf16": 0.65} {
		took, got := train(codec)
		if ratio := took / plain; ratio > most {
			t.Errorf("%s takes %.2f of the time without codec, want %.2f at most", codec, ratio, most)
		}
		if !(math.Abs(got-accuracy) <= 0.003) {
			t.Errorf("%s: accuracy %.4f, without codec %.4f; want them within 0.003", codec, got, accuracy)
		}
	}
}
