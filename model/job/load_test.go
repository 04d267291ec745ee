package job

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/input/convert"
	"ringtrain/model"
	"ringtrain/model/optimizer"
	"ringtrain/ring/exitcode"
)

// small is a valid job file on few lines.
const small = "model: {kind: linear}\ninput: {synthetic: true}\noptimizer: {learning_rate: 0.1}\n"

// load loads text as the file job.yaml and returns errors without its folder.
func load(t testing.TB, text string, environ, sets []string) (*Config, error) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "job.yaml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	job, err := Load(file, environ, sets)
	if err != nil {
		err = exitcode.With(exitcode.Of(err), fmt.Errorf("%s", strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")))
	}
	return job, err
}

// TestByteOrderMark verifies that a byte order mark before a job file is passed over.
func TestByteOrderMark(t *testing.T) {
	file := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(file, []byte("\ufeff"+small), 0o600); err != nil {
		t.Fatal(err)
	}
	if j, err := Load(file, nil, nil); err != nil || j.Model.Kind != "linear" {
		t.Errorf("error %v, job %+v", err, j)
	}
}

// TestSources verifies that each source sets its option, that a later source overrides an earlier
// one, and that each source reads a value in the same way.
func TestSources(t *testing.T) {
	rate := func(f float64) *float64 { return &f }
	tests := []struct {
		name    string
		file    string // after small, which has the groups model, input and optimizer
		environ []string
		sets    []string
		want    func(j *Config) // changes the job of small into the expected job
	}{
		{name: "default", want: func(j *Config) {}},
		{name: "file over default", file: "train: {seed: 7}", want: func(j *Config) { j.Train.Seed = 7 }},
		{name: "environment over file", file: "train: {seed: 7}", environ: []string{"RINGTRAIN_TRAIN_SEED=8"}, want: func(j *Config) { j.Train.Seed = 8 }},
		{name: "set over environment", environ: []string{"RINGTRAIN_INPUT_BATCH=8"}, sets: []string{"input.batch=9"}, want: func(j *Config) { j.Input.Batch = 9 }},
		{name: "set over file", sets: []string{"model.kind=softmax", "model.classes=10"}, want: func(j *Config) { j.Model.Kind, j.Model.Classes = "softmax", model.Count(10) }},
		{name: "last set", sets: []string{"input.batch=9", "input.batch=11"}, want: func(j *Config) { j.Input.Batch = 11 }},
		{name: "environment over default", environ: []string{"HOME=/", "RINGTRAIN_INPUT_SHUFFLE=false"}, want: func(j *Config) { j.Input.Shuffle = false }},
		{name: "reserved variables", environ: []string{"RINGTRAIN_RANK=3", "RINGTRAIN_WORLD_SIZE=x", "RINGTRAIN_DATA=/d", "RINGTRAIN_TOKEN_FILE=f", "RINGTRAIN_JSON=1"},
			want: func(j *Config) {}},
		{name: "key without value", file: "train:\n  seed:\nlog:\n", want: func(j *Config) {}},
		{name: "empty environment value", file: "name: x", environ: []string{"RINGTRAIN_NAME="}, want: func(j *Config) {}},
		{name: "text", file: "name: 1.10", want: func(j *Config) { j.Name = "1.10" }},
		{name: "text in quotes", file: `name: "a: b # c"`, want: func(j *Config) { j.Name = "a: b # c" }},
		{name: "text on lines", file: "name: |\n  a\n  b\n", want: func(j *Config) { j.Name = "a\nb\n" }},
		{name: "text by set", sets: []string{"name=[a: {b"}, want: func(j *Config) { j.Name = "[a: {b" }},
		{name: "whole number for a fraction", sets: []string{"optimizer.learning_rate=1"}, want: func(j *Config) { j.Optimizer.LearningRate = rate(1) }},
		{name: "exponent", sets: []string{"optimizer.learning_rate=1e-3"}, want: func(j *Config) { j.Optimizer.LearningRate = rate(1e-3) }},
		{name: "list", sets: mlp("[64, 32]"), want: wantMLP(64, 32)},
		{name: "list with commas", sets: mlp("64,32"), want: wantMLP(64, 32)},
		{name: "list of one", sets: mlp("64"), want: wantMLP(64)},
		{name: "list by environment", environ: []string{"RINGTRAIN_MODEL_HIDDEN=64, 32"}, sets: mlp("")[:2], want: wantMLP(64, 32)},
		{name: "list in the file", file: "---\n", sets: mlp("[]")[:0], want: func(j *Config) {}},
		{name: "patterns", sets: files("*.rec,b?.rec"), want: wantFiles("*.rec", "b?.rec")},
		{name: "patterns in brackets", sets: files(`["*.rec", b]`), want: wantFiles("*.rec", "b")},
		{name: "map", sets: []string{"optimizer.learning_rates.adam=0.5", "optimizer.learning_rates.sgd=2"},
			want: func(j *Config) { j.Optimizer.LearningRates = map[string]float64{"adam": 0.5, "sgd": 2} }},
		{name: "map by environment", environ: []string{"RINGTRAIN_OPTIMIZER_LEARNING_RATES_ADAM=0.5"},
			want: func(j *Config) { j.Optimizer.LearningRates = map[string]float64{"adam": 0.5} }},
		{name: "every, steps", file: "checkpoint: {every: 500}", want: func(j *Config) { j.Checkpoint.Every = Every{Steps: 500} }},
		{name: "every, duration", file: "checkpoint: {every: 1m30s}", want: func(j *Config) { j.Checkpoint.Every.Duration = 90 * time.Second }},
		{name: "every, duration by set", sets: []string{"log.every=500ms"}, want: func(j *Config) { j.Log.Every = Every{Duration: time.Second / 2} }},
		{name: "every, never", sets: []string{"log.every=0"}, want: func(j *Config) { j.Log.Every = Every{} }},
		{name: "size", file: "allreduce: {bucket: 65536}", want: func(j *Config) { j.AllReduce.Bucket = 65536 }},
		{name: "size with unit", sets: []string{"allreduce.bucket=8MiB"}, want: func(j *Config) { j.AllReduce.Bucket = 8 << 20 }},
		{name: "steps instead of epochs", sets: []string{"train.steps=5", "train.epochs=0"}, want: func(j *Config) { j.Train.Steps, j.Train.Epochs = 5, 0 }},
		{name: "local batch instead of batch", sets: []string{"input.batch=0", "input.local_batch=4"},
			want: func(j *Config) { j.Input.Batch, j.Input.LocalBatch = 0, 4 }},
	}
	for _, tt := range tests {
		t.Run("source="+tt.name, func(t *testing.T) {
			got, err := load(t, small+tt.file, tt.environ, tt.sets)
			if err != nil {
				t.Fatal(err)
			}
			want := Default()
			want.Model.Kind, want.Input.Synthetic, want.Optimizer.LearningRate = "linear", true, rate(0.1)
			tt.want(&want)
			if !reflect.DeepEqual(got, &want) {
				t.Errorf("job is\n%+v\nwant\n%+v", got, want)
			}
		})
	}
}

func mlp(hidden string) []string {
	return []string{"model.kind=mlp", "model.classes=10", "model.hidden=" + hidden}
}

func wantMLP(hidden ...int) func(j *Config) {
	return func(j *Config) { j.Model.Kind, j.Model.Classes, j.Model.Hidden = "mlp", model.Count(10), hidden }
}

func files(list string) []string {
	return []string{"input.synthetic=false", "input.train.format=tfrecord", "input.train.files=" + list}
}

func wantFiles(names ...string) func(j *Config) {
	return func(j *Config) {
		j.Input.Synthetic, j.Input.Train.Format, j.Input.Train.Files = false, "tfrecord", names
	}
}

// TestFaults verifies that each mistake in a job is reported with its place and hides no other
// mistake. Each list is the complete report.
func TestFaults(t *testing.T) {
	all := convert.FormatName("").Takes()
	tests := []struct {
		name    string
		file    string
		environ []string
		sets    []string
		want    []string
	}{
		{name: "misspelt key", file: small + "train:\n  sead: 7", want: []string{`job.yaml:5:3: no key "sead" in train (did you mean "seed"?)`}},
		{name: "key that says too much", file: "model: {kind: linear}\noptimizer: {learning_rate: 1}\ninput:\n  synthetic: true\n  batchsize: 7",
			want: []string{`job.yaml:5:3: no key "batchsize" in input (did you mean "batch"?)`}},
		{name: "misspelt group", file: small + "trian: {seed: 7}", want: []string{`job.yaml:4:1: no key "trian" (did you mean "train"?)`}},
		{name: "unknown key deep down", file: "model: {kind: linear}\noptimizer: {learning_rate: 1}\ninput: {synthetic: true, train: {zzz: 1}}",
			want: []string{`job.yaml:3:34: no key "zzz" in input.train, want one of format, files, images, labels, label, ids, values, compression, base, header, separator, trim`}},
		{name: "unknown key by set", file: small, sets: []string{"input.bach=1", "zzz=1", "model.kind.x=1", "model=1", "seed"}, want: []string{
			`--set input.bach: no key "bach" in input (did you mean "batch"?)`,
			`--set zzz: no key "zzz", want one of name, model, input, loss, optimizer, schedule, allreduce, train, eval, log, checkpoint, export, summary`,
			`--set model.kind.x: model.kind is a key, not a group of keys`,
			`--set model: model is a group of keys, want one of them`,
			`--set seed: want key=value`,
		}},
		{name: "unknown variable", file: small, environ: []string{"RINGTRAIN_INPUT_BATCHES=1", "RINGTRAIN_ZZZ=1"}, want: []string{
			"RINGTRAIN_INPUT_BATCHES: no key has this variable (did you mean RINGTRAIN_INPUT_BATCH?)",
			"RINGTRAIN_ZZZ: no key has this variable: it is RINGTRAIN_ and the key in capitals, with _ for each dot",
		}},
		{name: "wrong types", file: small + `train: {seed: -1, steps: 1.5, epochs: "2"}` + "\n" +
			"log: {every: 3 apples}\neval: {every: -3}\nallreduce: {bucket: 4MB, error_feedback: maybe, codec: [bf16]}\nschedule: {end: a, steps: {b: 1}}\nexport: 5\n",
			want: []string{
				"job.yaml:4:15: train.seed is -1, want a whole number, 0 or more",
				"job.yaml:4:26: train.steps is 1.5, want a whole number",
				`job.yaml:4:39: train.epochs is "2", want a whole number`,
				"job.yaml:5:14: log.every is 3 apples, want a number of steps or a duration such as 60s",
				"job.yaml:6:15: eval.every is -3, want a number of steps or a duration such as 60s",
				"job.yaml:7:21: allreduce.bucket is 4MB, want a number of bytes such as 4MiB",
				"job.yaml:7:42: allreduce.error_feedback is maybe, want true or false",
				"job.yaml:7:56: allreduce.codec is a list, want one value",
				"job.yaml:8:17: schedule.end is a, want a number",
				"job.yaml:8:27: schedule.steps is a mapping, want one value",
				"job.yaml:9:9: export is 5, want a mapping of keys",
			}},
		{name: "wrong types by set", file: small, environ: []string{"RINGTRAIN_TRAIN_STEPS=", "RINGTRAIN_OPTIMIZER_LEARNING_RATES_SGD=x"},
			sets: []string{"input.batch=a\nb", "input.shuffle={", "model.hidden=[1, x]"}, want: []string{
				`RINGTRAIN_TRAIN_STEPS: train.steps is "", want a whole number`,
				"RINGTRAIN_OPTIMIZER_LEARNING_RATES_SGD: optimizer.learning_rates.sgd is x, want a number",
				`--set input.batch: input.batch is a b, want a whole number`,
				"--set input.shuffle: input.shuffle is {, which cannot be read",
				"--set model.hidden: model.hidden is x, want a whole number",
			}},
		{name: "no text", file: small, sets: []string{"name=\xff"}, want: []string{`--set name: name is "\xff", want UTF-8 text`}},
		{name: "alias for a pattern", file: "model: {kind: linear}\noptimizer: {learning_rate: 1}\ninput:\n  train:\n    format: tfrecord\n    files: *x",
			want: []string{"job.yaml:6:12: input.train.files is an alias, anchor or tag (a text that begins with * needs quotes), want one value"}},
		{name: "algorithm", file: small + "allreduce: {algorithm: rings}\ntrain: {check_every: -1}\n", want: []string{
			`job.yaml:4:13: allreduce.algorithm is "rings" (did you mean ring?), want one of ring, doubling, halving, auto`,
			"job.yaml:5:9: train.check_every is -1, want 0 or more",
		}},
		{name: "misfits", file: small + "train: {epochs: 0}\ncheckpoint: {keep: 0}\nallreduce: {link: xyz, codec: bf17,\n  bucket: 1}\n" +
			"loss: {kind: softmax}\nschedule: {kind: cosine, decay_rate: 0.5}", want: []string{
			"job.yaml:1:1: model.classes is 0, want 2 or more",
			"job.yaml:9:26: schedule.decay_rate is 0.5, want none with schedule.kind cosine",
			`job.yaml:6:24: allreduce.codec is "bf17" (did you mean bf16?), want one of auto, none, bf16, fp16, int8, powersgd, or powersgd:R`,
			"job.yaml:7:3: allreduce.bucket is 1, want 4KiB or more",
			`job.yaml:6:13: allreduce.link is "xyz", want one of auto, tcp, shm`,
			"job.yaml:4:9: train.epochs is 0, want 1 to 1073741824",
			"job.yaml:5:14: checkpoint.keep is 0, want 1 or more",
		}},
		{name: "codecs", file: small + "allreduce:\n  codec: powersgd:0\n  lossless: lzo", want: []string{
			`job.yaml:5:3: allreduce.codec is "powersgd:0", want powersgd:R with R from 1 to 64`,
			`job.yaml:6:3: allreduce.lossless is "lzo", want none or zstd`,
		}},
		{name: "security", file: small + "allreduce: {security: none}", want: []string{
			`job.yaml:4:13: allreduce.security is "none", want tls or auth: --insecure drops the token, never TLS`,
		}},
		{name: "security in capitals", file: small, sets: []string{"allreduce.security=TLS"}, want: []string{`allreduce.security is "TLS", want tls or auth`}},
		{name: "security empty", file: small, sets: []string{"allreduce.security="}, want: []string{`allreduce.security is "", want tls or auth`}},
		{name: "codec with a rank that is no number", file: small, sets: []string{"allreduce.codec=powersgd:x"}, want: []string{
			`allreduce.codec is "powersgd:x", want powersgd:R with R from 1 to 64`,
		}},
		{name: "powersgd without error feedback", file: small + "allreduce: {codec: powersgd, error_feedback: false}", want: []string{
			"job.yaml:4:30: allreduce.error_feedback is false, want true with allreduce.codec powersgd: the part of gradients that factors drop would be lost",
		}},
		{name: "training features", file: small + "train:\n  clip_norm: -1\n  clip_value: -0.5\n  class_weights: [1]\n  average: {decay: 1}", want: []string{
			"job.yaml:5:3: train.clip_norm is -1, want 0 or more",
			"job.yaml:6:3: train.clip_value is -0.5, want 0 or more",
			"job.yaml:8:13: train.average.decay is 1, want 0 or more and below 1",
			"job.yaml:7:3: train.class_weights is [1], want none: labels are no classes",
		}},
		{name: "beyond float32", file: small, sets: []string{"model.kind=softmax", "model.classes=2", "model.l2=1e39", "train.clip_value=1e-50",
			"train.class_weights=1,1e39", "train.average.decay=0.999999999"}, want: []string{
			"model.l2 is 1e+39, want 0 or more, within the range of float32",
			"train.clip_value is 1e-50, want 0 or more, within the range of float32",
			"train.average.decay is 0.999999999, want 0 or more and below 1",
			"train.class_weights[1] is 1e+39, want 0 or more, within the range of float32",
		}},
		{name: "init from", file: small + "train:\n  init_from:\n    include: [a, \"[\"]\n    exclude: [b]", want: []string{
			"job.yaml:6:5: train.init_from.include is [a [], which needs train.init_from.path",
			`job.yaml:6:5: train.init_from.include[1] is [, want a glob`,
			"job.yaml:7:5: train.init_from.exclude is [b], which needs train.init_from.path",
		}},
		{name: "label smoothing", file: small + "loss: {label_smoothing: 0.1}\ntrain: {accumulate: 0}", want: []string{
			"job.yaml:4:8: loss.label_smoothing is 0.1, want 0: labels are no classes",
			"job.yaml:5:9: train.accumulate is 0, want 1 to 1073741824",
		}},
		{name: "smoothing by set", file: small, sets: []string{"loss.label_smoothing=1"}, want: []string{
			"loss.label_smoothing is 1, want 0 or more and below 1",
		}},
		{name: "a threshold that is none", file: small + "eval: {threshold: 1}\n", want: []string{
			"job.yaml:4:19: eval.threshold is 1, want 0 or more and below 1, or best_f1",
		}},
		{name: "a threshold of a number", file: small + "eval: {threshold: 0.3}\n", want: []string{
			"job.yaml:4:8: eval.threshold is 0.3, want 0.5, the default: only the score of two classes is compared with it",
		}},
		{name: "a threshold of no records", file: "model: {kind: linear}\nloss: {kind: sigmoid}\ninput: {train: {format: libsvm, files: [a]}}\neval: {threshold: best_f1}\noptimizer: {learning_rate: 0.1}\n", want: []string{
			"job.yaml:4:8: eval.threshold is best_f1, which needs validation records: add input.split, as in {share: 0.1}",
		}},
		{name: "a split of none and of all", file: "model: {kind: linear}\ninput: {train: {format: libsvm, files: [a]}, split: {share: 0, test: 1}}\noptimizer: {learning_rate: 0.1}\n", want: []string{
			"job.yaml:2:54: input.split.share is 0, want above 0 and below 1",
			"job.yaml:2:64: input.split.test is 1, want above 0 and below 1",
		}},
		{name: "a split beside validation files", file: "model: {kind: linear}\ninput: {train: {format: libsvm, files: [a]}, eval: {files: [b]}, split: {share: 0.1}}\noptimizer: {learning_rate: 0.1}\n", want: []string{
			"job.yaml:2:66: input.split and input.eval are given, want one of them",
		}},
		{name: "a split from a date that is not in the order of its text", file: "model: {kind: linear}\ninput:\n  train: {format: csv, files: [a], header: true}\n  split: {by: day, from: 01/06/2026}\n  columns: [{label: {names: [y]}}, {time: {names: [day], layout: '%d/%m/%Y'}}]\noptimizer: {learning_rate: 0.1}\n", want: []string{
			"job.yaml:4:20: input.split.from is 01/06/2026, want none: day has layout %d/%m/%Y, and its cells are compared as they are written",
		}},
		{name: "a split by a column of none", file: "model: {kind: linear}\ninput: {train: {format: libsvm, files: [a]}, split: {by: day, from: 2026-06-01}}\noptimizer: {learning_rate: 0.1}\n", want: []string{
			"job.yaml:2:54: input.split.by is day, want none without input.columns: only columns have names",
		}},
		{name: "early stopping", file: small + "train:\n  early_stopping: {metric: auc, patience: 1, min_delta: -1}\n", want: []string{
			"job.yaml:5:46: train.early_stopping.min_delta is -1, want 0 or more",
			`job.yaml:5:20: train.early_stopping.metric is "auc", want one of loss, rmse`,
			"job.yaml:5:33: train.early_stopping.patience is 1, which needs validation records: add input.split, as in {share: 0.1}",
			"job.yaml:5:33: train.early_stopping.patience is 1, which needs eval.every",
			"job.yaml:5:33: train.early_stopping.patience is 1, which needs checkpoint.dir: the best checkpoint is kept there",
		}},
		{name: "a metric that is none", file: small, sets: []string{"train.early_stopping.metric=los", "train.early_stopping.patience=-1"}, want: []string{
			`train.early_stopping.metric is "los" (did you mean loss?), want one of loss, accuracy, auc, rmse, log_loss, normalized_entropy`,
			"train.early_stopping.patience is -1, want 0 or more",
		}},
		{name: "class weights of no model", file: small, sets: []string{"model.kind=softmax", "model.classes=0", "train.class_weights=1"}, want: []string{
			"model.classes is 0, want 2 or more",
		}},
		{name: "class weights", file: small, sets: []string{"model.kind=softmax", "model.classes=3", "train.class_weights=1,-1",
			"train.average.evaluate=true", "train.average.export=true"}, want: []string{
			"train.class_weights[1] is -1, want 0 or more",
			"train.class_weights has 2 weights, want one for each of 3 classes",
			"train.average.evaluate is true, want false without train.average.decay",
			"train.average.export is true, want false without train.average.decay",
		}},
		{name: "misfits by set and environment", file: small, environ: []string{"RINGTRAIN_TRAIN_STEPS=-1"},
			sets: []string{"input.batch=0", "input.prefetch=99999999999"}, want: []string{
				"input.batch is 0, want 1 to 1073741824",
				"input.prefetch is 99999999999, want 0 to 1024",
				"RINGTRAIN_TRAIN_STEPS: train.steps is -1, want 0 or more",
			}},
		{name: "what is missing", file: "input:\n  batch: 1\n", want: []string{
			`job.yaml: model.kind is empty, want one of linear, softmax, mlp, lenet, cnn, cnn-small, sparse-linear, fm, wide-deep, deepfm, dcn, or model.layers`,
			"job.yaml:1:1: input.train.format is empty, want one of " + all + " (or input.synthetic: true)",
			"job.yaml: optimizer.learning_rate is missing, want one above 0: sgd has no default",
		}},
		{name: "files", file: "model: {kind: fm}\noptimizer: {learning_rate: 1}\n" +
			"input:\n  train: {format: idx, images: a, files: [b]}\n  eval: {format: libsvm, files: c,\n    label: l, compression: gzap, images: x}\n",
			want: []string{
				"job.yaml:6:15: input.eval.compression is \"gzap\" (did you mean gzip?), want one of auto, none, gzip, zlib",
				"job.yaml:4:3: input.train.labels is empty, want the file of labels",
				"job.yaml:4:35: input.train.files is [b], want none with format idx",
				"job.yaml:4:11: input.train.format is idx, want one of " + strings.Join(convert.Names(convert.Format.IsSparse), ", ") + ": the model reads sparse records",
				"job.yaml:6:34: input.eval.images is x, want none with format libsvm",
				"job.yaml:6:5: input.eval.label is l, want none with format libsvm",
				"job.yaml:6:15: input.eval.compression is gzap, want none with format libsvm",
			}},
		{name: "formats", file: "model: {kind: linear}\noptimizer: {learning_rate: 1}\ninput: {train: {format: avro}, eval: {format: '', files: [a]},\n  evals: [{name: day, format: svm, compression: zap, files: [a]}]}", want: []string{
			"job.yaml:3:17: input.train.format is \"avro\", want one of " + all,
			"job.yaml:3:39: input.eval.format is empty, want one of " + all,
			"job.yaml:4:23: input.evals.day.format is \"svm\" (did you mean vw?), want one of " + all,
			"job.yaml:4:36: input.evals.day.compression is \"zap\" (did you mean gzip?), want one of auto, none, gzip, zlib",
		}},
		{name: "columns", file: "model: {kind: linear}\noptimizer: {learning_rate: 1}\ninput:\n  train: {format: csv, separator: ab}\n  eval: {format: idx, images: a, labels: b, header: true}\n" +
			"  columns:\n    - numeric: {names: [x..y]}\n    - {name: c, cross: {of: [a]}}\n    - categorial: {names: [z]}\n", want: []string{
			`job.yaml:9:7: no key "categorial" in input.columns.2 (did you mean "categorical"?)`,
			"job.yaml:4:3: input.train.files is empty, want at least one file",
			`job.yaml:4:24: input.train.separator is "ab", want ASCII, one character that is no quote, or tab`,
			"job.yaml:5:45: input.eval.header is true, want none with format idx",
			"job.yaml:5:10: input.eval.format is idx, want one of " + strings.Join(convert.Names(convert.Format.HasColumns), ", ") + " with input.columns",
		}},
		{name: "options of columns", file: "model: {kind: linear}\noptimizer: {learning_rate: 1}\ninput:\n  train: {format: csv, separator: ab}\n  eval: {format: idx, images: a, labels: b, header: true}\n" +
			"  columns:\n    - numeric: {names: [x..y]}\n    - {name: c, cross: {of: [a], hash: 3}}\n", want: []string{
			"job.yaml:4:3: input.train.files is empty, want at least one file",
			`job.yaml:4:24: input.train.separator is "ab", want ASCII, one character that is no quote, or tab`,
			"job.yaml:5:45: input.eval.header is true, want none with format idx",
			"job.yaml:5:10: input.eval.format is idx, want one of " + strings.Join(convert.Names(convert.Format.HasColumns), ", ") + " with input.columns",
			"job.yaml:7:7: input.columns.0.numeric has the range x..y, want one like C1..C26, of at most 100000 columns",
			"job.yaml:8:17: input.columns.1.cross is of 1 column, want two or more",
		}},
		{name: "columns without ids", file: "model: {kind: fm}\noptimizer: {learning_rate: 1}\ninput:\n  train: {format: csv, files: [a]}\n  columns: [label: {names: [y]}, numeric: {names: [a]}]\n", want: []string{
			"job.yaml:5:3: input.columns makes no ids, which the model reads: want categorical, text, ids, cross, or numeric with buckets; linear, softmax and mlp read numbers alone, too",
		}},
		{name: "columns of ids", file: "model: {kind: lenet, classes: 2}\noptimizer: {learning_rate: 1}\ninput:\n  train: {format: csv, files: [a]}\n  columns: [label: {names: [y]}, categorical: {names: [a, b], hash: 3}]\n", want: []string{
			"job.yaml:5:3: input.columns makes ids of a, but the model reads numbers only",
		}},
		{name: "dense records by id", file: "model: {kind: cnn, classes: 2}\noptimizer: {learning_rate: 1}\n" +
			"input: {train: {format: tfrecord, files: [a], ids: i, base: 1}}", want: []string{
			"job.yaml:3:55: input.train.base is 1, want none with format tfrecord",
			"job.yaml:3:47: input.train.ids is i, want none: the model reads dense records",
		}},
		{name: "several kinds at once", file: small + "trian: {}\nlog: {every: x}\nallreduce: {link: udp, streams: 5}", sets: []string{"train.steps=-4"}, want: []string{
			`job.yaml:4:1: no key "trian" (did you mean "train"?)`,
			"job.yaml:5:14: log.every is x, want a number of steps or a duration such as 60s",
			"job.yaml:6:24: allreduce.streams is gone: leave it out, a ring has one TCP connection to each neighbour",
			`job.yaml:6:13: allreduce.link is "udp" (did you mean tcp?), want one of auto, tcp, shm`,
		}},
		{name: "two documents", file: small + "---\nname: x\n", want: []string{"job.yaml:5:5: a second document, want one"}},
		{name: "no mapping", file: "- a\n- b\n", want: []string{
			"job.yaml:1:1: the job is a list, want a mapping of keys",
		}},
	}
	for _, tt := range tests {
		t.Run("fault="+tt.name, func(t *testing.T) {
			_, err := load(t, tt.file, tt.environ, tt.sets)
			if exitcode.Of(err) != exitcode.Usage {
				t.Fatalf("error %v (%d), want code %d", err, exitcode.Of(err), exitcode.Usage)
			}
			if got := strings.Split(err.Error(), "\n"); !slices.Equal(got, tt.want) {
				t.Errorf("faults are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestSyntaxErrors verifies that a file that is no YAML gives one line with the place of the fault.
func TestSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{
		"name: [a":              "job.yaml:1:",
		"name: x\n  model: {}":  "job.yaml:1:",
		"name: x\nname: y":      "job.yaml:2:1: ",
		"train: {seed: 1\nlog:": "job.yaml:",
		"\t- x":                 "job.yaml:1:",
	} {
		_, err := load(t, text, nil, nil)
		if exitcode.Of(err) != exitcode.Usage || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v (%d), want one line from %s", text, err, exitcode.Of(err), want)
		}
	}
}

// TestNoJob verifies that a missing job has another exit code than a faulty job.
func TestNoJob(t *testing.T) {
	for _, name := range []string{"mnits", filepath.Join(t.TempDir(), "job.yaml"), t.TempDir()} {
		if _, err := Load(name, nil, nil); exitcode.Of(err) != exitcode.NoInput || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v (%d), want code %d and the name %s", err, exitcode.Of(err), exitcode.NoInput, name)
		}
	}
	if _, err := load(t, strings.Repeat("# long\n", 1<<16), nil, nil); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "no job file") {
		t.Errorf("a file without an end: error %v (%d), want code %d", err, exitcode.Of(err), exitcode.Usage)
	}
	for word, want := range map[string]bool{"mnist": true, "a.yaml": true, "b/a.yml": true, "python": false, "yaml": false} {
		if IsName(word) != want {
			t.Errorf("IsJob(%q) is %t", word, !want)
		}
	}
}

// TestBuiltinJobs verifies that each built-in job is valid with every optimizer that it has a rate
// for, and that its main options are as documented.
func TestBuiltinJobs(t *testing.T) {
	if got := BuiltinNames(); !slices.Equal(got, []string{"ctr", "linear", "mnist"}) {
		t.Fatalf("built-in jobs are %q", got)
	}
	for _, name := range BuiltinNames() {
		job, err := Load(name, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if job.Name != name || job.Checkpoint.Dir != "ckpt/"+name || job.Export.SavedModel != "export/"+name || job.Train.Seed != 1 {
			t.Errorf("%s: name, folders or seed are not those of the job: %+v", name, job)
		}
	}
	for _, name := range optimizer.Names() {
		job, err := Load("ctr", nil, []string{"optimizer.name=" + name})
		if err != nil || job.Optimizer.LearningRate != nil {
			t.Fatalf("ctr with %s: rate %v, error %v, want that of its list, or the default", name, job.Optimizer.LearningRate, err)
		}
		if want, listed := job.Optimizer.LearningRates[name]; listed && job.Optimizer.Rate() != want {
			t.Errorf("ctr with %s: rate %v, want %v", name, job.Optimizer.Rate(), want)
		}
	}
}

// TestFile verifies that the output of --print-options loads as an equal job, for any texts in the
// job.
func TestFile(t *testing.T) {
	jobs := map[string]*Config{}
	for _, name := range BuiltinNames() {
		job, err := Load(name, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		jobs[name] = job
	}
	for i, text := range []string{"", "null", "~", "true", "1e3", "*x", "&x", "a: b", "a #b", "- a", "{a", "\"", "'", " a ",
		"a\nb", "é\t", "%", "0x10", "yes", "|", "...", "---", ".inf", ".", "-", "1_000", "a,b", "\x00\x7f\u0085\ufeff\u2028\U0001f600", "\u00a0\u202e\U000e0001", "\\n", "?", "@a", "`"} {
		job := *jobs["ctr"]
		job.Name, job.Checkpoint.Dir, job.Input.Train.Files = text, text, []string{"x", text}
		job.Checkpoint.Every, job.Eval.Every = Every{Duration: 1500 * time.Millisecond}, Every{Steps: int64(i)}
		jobs[fmt.Sprintf("text %q", text)] = &job
	}
	for name, job := range jobs {
		text, err := job.File()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := load(t, string(text), nil, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(again, job) {
			t.Errorf("%s: file\n%s\nloads as\n%+v\nwant\n%+v", name, text, again, job)
		}
	}
}

// TestOtherKinds verifies that a job file of another kind is an error that names it.
func TestOtherKinds(t *testing.T) {
	for text, want := range map[string]string{
		"\xff\xfen\x00a\x00": "is UTF-16: convert it to UTF-8", "\x1f\x8b\x08\x00": "is gzip, want a job file", "\xfd7zXZ\x00": "is xz: ",
	} {
		if _, err := load(t, text, nil, nil); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// FuzzLoad verifies that no job file, variable or option makes ringtrain panic or take more than 64 MiB,
// and that an accepted job prints as itself.
func FuzzLoad(f *testing.F) {
	for _, name := range BuiltinNames() {
		text, _ := Builtin(name)
		f.Add(string(text), "input.batch", "7")
	}
	for _, text := range []string{small, "", "a: &b [c]\n<<: *b", "? [a]\n: b", "model: !!int x",
		"---\n---\n", "name: >-\n a", "{", "input: {train: {files: [[a]]}}", "\x00", "a: *a"} {
		f.Add(text, "optimizer.learning_rates.adam", "[1, {a: b}]")
	}
	for _, text := range deep(maxDepth) {
		f.Add("model: "+text, "model.layers", text)
	}
	f.Add(layersFile, "model.layers.stem.dense.units", "3")
	f.Add(strings.Replace(layersFile, "steps: 10", "class_weights: [1, 2], early_stopping: {patience: 2}, init_from: {path: x, include: [\"*\"]}, average: {decay: 0.5}", 1),
		"train.early_stopping.metric", "auc")
	f.Fuzz(func(t *testing.T, text, key, value string) {
		job := Default()
		l := newLoader("job.yaml")
		root := reflect.ValueOf(&job).Elem()
		readable := false
		wantMemory(t, 64<<20, func() {
			readable = l.fromFile([]byte(text), root)
			l.fromEnviron([]string{envPrefix + key + "=" + value}, root)
			l.fromSets([]string{key + "=" + value}, root)
		})
		if !readable {
			return
		}
		l.check(&job)
		if len(l.faults) > 0 {
			return
		}
		printed, err := job.File()
		if err != nil {
			t.Fatal(err)
		}
		again := Default()
		l.fromFile(printed, reflect.ValueOf(&again).Elem())
		if len(l.faults) > 0 || fmt.Sprint(again.Options()) != fmt.Sprint(job.Options()) {
			t.Errorf("faults %v, options %v, want none, %v", l.faults, again.Options(), job.Options())
		}
	})
}

// TestOptions verifies that ranks compare every key of the job, and that --set takes each compared
// value.
func TestOptions(t *testing.T) {
	job, err := Load("ctr", nil, []string{"checkpoint.every=90s", "allreduce.bucket=1MiB"})
	if err != nil {
		t.Fatal(err)
	}
	var sets []string
	for _, o := range job.Options() {
		if o.Value != "" { // a number that has none cannot be set to nothing
			sets = append(sets, o.Key+"="+o.Value)
		}
	}
	again, err := load(t, small, nil, append(sets, "name="+job.Name))
	if err != nil {
		t.Fatal(err)
	}
	job.Optimizer.LearningRate = again.Optimizer.LearningRate // small has one
	if !reflect.DeepEqual(again, job) {
		t.Errorf("options %q make\n%+v\nwant\n%+v", sets, again, job)
	}
}
