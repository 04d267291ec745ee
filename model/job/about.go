package job

import (
	"fmt"
	"slices"
	"strings"

	"ringtrain/ring/exitcode"
)

// about says what each key is for, and which values it takes. The keys of input.eval are
// those of input.train.
var about = map[string]string{
	"name": "Name of the job, for people.",

	"model.kind":       "Kind of model: linear, softmax, mlp, lenet, cnn, cnn-small, sparse-linear, fm, wide-deep, deepfm or dcn. `ringtrain jobs` has a line on each.",
	"model.layers":     "Layers of a model of one's own, instead of a kind. `ringtrain jobs show NAME --layers` spells a kind as layers.",
	"model.classes":    "Number of classes, where the loss is softmax.",
	"model.features":   "Features of an example, or the number of ids. 0: as many as the training records have.",
	"model.fields":     "Bags of ids of a libffm record: each field is one, and fields are below this number. 0: one bag of all ids.",
	"model.hidden":     "Sizes of the hidden layers of mlp, wide-deep, deepfm and dcn, such as [128, 32].",
	"model.activation": "Activation behind each hidden layer: relu (default), leaky_relu, tanh, sigmoid or gelu.",
	"model.embedding":  "Numbers that fm, wide-deep, deepfm and dcn keep for an id. 0: 8. With softmax, fm and deepfm keep so many for each class.",
	"model.pooling":    "How the embeddings of one field are joined: sum (default), mean or sqrtn, as TensorFlow's embedding_lookup_sparse does.",
	"model.cross":      "Cross layers of dcn. 0: 2.",
	"model.init":       "How kernels begin: glorot, he or zeros, instead of the kind's own way.",
	"model.l1":         "Adds l1·Σ|w| over all weights, without biases. `loss` is printed without the penalty, `objective` with it.",
	"model.l2":         "Adds l2/2·Σw² over all weights, without biases. `loss` is printed without the penalty, `objective` with it.",

	"input.train.format":      "Format of the records: idx, images, tfrecord, libsvm, libffm, vw, csv or criteo. Fields of libffm are bags if model.fields says how many. Ids of vw are those of `vw -b b` where model.features is 2^b; 0 means 2^18.",
	"input.train.files":       "Files of tfrecord, libsvm, libffm, vw, csv and criteo. Globs are expanded; formats of text take folders, too.",
	"input.train.images":      "Of idx: the file of the images. Of images: a folder that has a folder of PNG and JPEG files for each class.",
	"input.train.labels":      "Of idx: the file of the labels.",
	"input.train.label":       "Of tfrecord: the feature with the label. Default: label.",
	"input.train.ids":         "Of tfrecord: the feature with the ids. Default: ids.",
	"input.train.values":      "Of tfrecord: the feature with the values. Default: values, and of dense models features.",
	"input.train.compression": "Of tfrecord: auto (default), none, gzip or zlib.",
	"input.train.base":        "Of libsvm and libffm: this number is subtracted from ids.",
	"input.train.header":      "Of csv: the first line of each file names the columns. Without it, input.columns names them in the order of the file.",
	"input.train.separator":   "Of csv: a character, or tab. Default: a comma.",

	"input.evals":           "More validation records. Each item has a name and the keys of input.eval, and its own eval events.",
	"input.columns":         "Of csv, criteo and tfrecord: what the columns of a record become: label, weight, key, numeric, categorical, ids, cross or ignore. criteo has a list of its own.",
	"input.batch":           "Examples of a step over all ranks. The curve does not depend on the number of ranks.",
	"input.local_batch":     "Examples of a step on each rank, instead of input.batch. 0: input.batch counts.",
	"input.shuffle":         "Another order in each epoch, from train.seed alone. Of more than 16 MiB of text, blocks of 64 KiB are permuted, and the records within windows of 256 blocks.",
	"input.prefetch":        "Batches read ahead. None are where the records lie in memory and the rank has one core.",
	"input.shape":           "Height, width and channels of a record, such as [28, 28, 1], where the file does not say it. Images are brought to this size.",
	"input.resize":          "Of images: pixels of the shorter side, before the centre is cropped to input.shape. 0: as few as cover it.",
	"input.synthetic":       "Records that ringtrain draws from train.seed, instead of all files.",
	"input.max_features":    "Ids of sparse records are below this number, where model.features does not say it.",
	"input.cache":           "Where the parsed records of text are kept for later epochs and jobs: auto, off or a folder. auto is the user's cache folder, for text of more than 16 MiB that a job reads more than once, or that is compressed.",
	"input.max_bad_records": "Training records of an epoch, over all ranks, that may be bad. Each keeps its place with weight 0. One more ends the job with 65.",
	"input.max_inflate":     "Bytes that a compressed file may inflate to; a larger one may inflate to 64 times its size. A file beyond is refused with 65.",

	"loss.kind":            "Loss: squared, softmax or sigmoid. auto is the one that fits the model.",
	"loss.reduction":       "mean: the gradient is that of the mean over the global batch. sum: every example has weight 1.",
	"loss.label_smoothing": "Share of each label that all classes get equal parts of.",

	"optimizer.name":                "Optimizer: sgd, momentum, adagrad, adadelta, adam, lazy-adam, adamw, ftrl or rmsprop. adam and adamw move every row of a table in each step; lazy-adam moves those that the batch touches.",
	"optimizer.learning_rate":       "Learning rate. Default: 0.001 for adam, lazy-adam, adamw and adadelta; the others need one.",
	"optimizer.learning_rates":      "Learning rate of each optimizer by its name, used where optimizer.learning_rate is absent.",
	"optimizer.momentum":            "Of momentum and rmsprop: the share of the last update that is kept.",
	"optimizer.nesterov":            "Of momentum: Nesterov's form.",
	"optimizer.initial_accumulator": "Of adagrad and ftrl: what the accumulators begin with. Default: 0.1.",
	"optimizer.rho":                 "Of adadelta and rmsprop: the decay of the averages.",
	"optimizer.epsilon":             "The constant that keeps divisors above 0, with TensorFlow's default for each optimizer.",
	"optimizer.weight_decay":        "Of adamw, apart from the gradient: a step takes it, times the learning rate, off every weight. Default: 0.004.",
	"optimizer.beta1":               "Of adam, lazy-adam and adamw: the decay of the mean of gradients. Default: 0.9.",
	"optimizer.beta2":               "Of adam, lazy-adam and adamw: the decay of the mean of squared gradients. Default: 0.999.",
	"optimizer.centered":            "Of rmsprop: divides by the deviation instead of the root mean square.",
	"optimizer.l1":                  "Of ftrl: the penalty on absolute weights, which leaves exact zeros.",
	"optimizer.l2":                  "Of ftrl: the penalty on squared weights.",
	"optimizer.l2_shrinkage":        "Of ftrl: a penalty on squared weights that is added to the gradient.",
	"optimizer.power":               "Of ftrl: the power of the learning rate. Default: -0.5.",

	"schedule.kind":         "How the learning rate moves: constant, linear, exponential or cosine.",
	"schedule.steps":        "Steps of linear and cosine. 0: the whole run as first started.",
	"schedule.warmup_steps": "Steps in which the rate rises to its base.",
	"schedule.end":          "Rate at the end of linear and cosine.",
	"schedule.decay_rate":   "Of exponential: the factor.",
	"schedule.decay_steps":  "Of exponential: the steps that one factor takes.",
	"schedule.staircase":    "Of exponential: the rate falls at once every decay_steps steps.",

	"allreduce.codec":          "What gradients are between hosts: auto, none, bf16, fp16, int8, int8u, powersgd or powersgd:R. auto measures the link and the codecs in the first steps, and says what it takes.",
	"allreduce.bucket":         "Gradients leave in buckets of so many bytes while backward goes on. The first one is full at 1MiB.",
	"allreduce.link":           "Links between workers: auto, tcp, grpc or shm. shm is an error unless memory is enough.",
	"allreduce.streams":        "TCP connections of a ring to each neighbour: auto, or 1 to 4.",
	"allreduce.levels":         "auto: in memory within a host, over links between hosts. flat: one ring of all ranks over links.",
	"allreduce.algorithm":      "Algorithm over links, by size: auto, ring, doubling, halving, fold, tree, or a table such as <=2KiB:fold,<=32KiB:doubling,ring. `bench allreduce --tune` finds a table.",
	"allreduce.order":          "Order of the ring: auto, rank, host, measured, or a list such as 0,2,1,3. auto visits host by host, and with 4 hosts or more avoids a slow pair.",
	"allreduce.error_feedback": "What a lossy codec loses is added to the next step.",
	"allreduce.lossless":       "Compressor around the codec's bytes: none, s2, zstd or huff0.",

	"train.epochs":                   "Passes over the training records.",
	"train.steps":                    "Steps of the run. Above 0 it replaces train.epochs.",
	"train.seed":                     "Seed of initial values, order of records, dropout and drawn records.",
	"train.clip_norm":                "Bound on the norm of the summed gradient over all variables. 0: none.",
	"train.clip_value":               "Bound on each element of the summed gradient. 0: none.",
	"train.accumulate":               "Parts that each rank computes its share of a batch in, one after the other, with the memory of one part.",
	"train.class_weights":            "What an example of each class counts in the gradient and in the printed loss.",
	"train.average.decay":            "Decay of a moving average of the variables. 0: none is kept.",
	"train.average.evaluate":         "Evaluations are of the moving average.",
	"train.average.export":           "The serving export is of the moving average.",
	"train.kernels":                  "Arithmetic of all ranks: auto, portable, avx2 or avx512. auto is the highest set that all ranks have.",
	"train.init_from.path":           "Checkpoint or serving bundle, on rank 0's disk, that a fresh run takes its first values from.",
	"train.init_from.include":        "Globs of variables (*/kernel) or layers (hidden_*) to take. Empty: all.",
	"train.init_from.exclude":        "Globs of variables or layers to leave.",
	"train.early_stopping.metric":    "Metric that ends a run: loss, accuracy, auc, rmse, log_loss or normalized_entropy.",
	"train.early_stopping.patience":  "Evaluations in a row without a better one that end the run. 0: never. The best checkpoint is kept and exported.",
	"train.early_stopping.min_delta": "By how much an evaluation must be better to count.",
	"train.check_every":              "Steps between comparisons of the ranks' variables. A rank that differs is named, with exit code 81.",

	"eval.every":       "Steps or a duration such as 60s between evaluations. 0: at the end only.",
	"eval.progressive": "In the first epoch, loss and AUC of records before they are learned, after 1, 2, 4, … batches.",
	"eval.top_k":       "An example counts for top_k if its class has one of so many largest scores. 0: none is counted.",
	"log.every":        "Steps or a duration between lines about a step. 0: never.",

	"checkpoint.dir":    "Folder of the checkpoints, on rank 0's disk. Empty: none are written.",
	"checkpoint.every":  "Steps or a duration such as 60s between checkpoints. 0: at the end only.",
	"checkpoint.keep":   "Checkpoints that are kept.",
	"export.savedmodel": "Folder of the serving bundle, on rank 0's disk. Empty: none is written.",
	"summary.dir":       "Folder of curves for TensorBoard, on rank 0's disk. Empty: none are written.",
}

// About returns what a key is for, as text, and its default, for all keys that begin with
// name: a key, or a group such as input or train.average.
func About(name string) ([]KeyText, error) {
	defaults := Default()
	values := map[string]string{}
	var keys []string
	for _, o := range defaults.Options() {
		values[o.Key] = o.Value
		keys = append(keys, o.Key)
	}
	keys = append(keys, "optimizer.learning_rates")
	var texts []KeyText
	groups := map[string]bool{}
	for _, key := range keys {
		for at := range len(key) {
			if key[at] == '.' {
				groups[key[:at]] = true
			}
		}
		if key == name || name == "" || strings.HasPrefix(key, name+".") {
			texts = append(texts, KeyText{key, values[key], about[strings.Replace(key, "input.eval.", "input.train.", 1)]})
		}
	}
	if texts != nil {
		return texts, nil
	}
	for group := range groups {
		keys = append(keys, group)
	}
	slices.Sort(keys)
	err := fmt.Errorf("no key %q", name)
	if near := Nearest(name, keys); near != "" {
		err = fmt.Errorf("no key %q (did you mean %q?)", name, near)
	}
	return nil, exitcode.With(exitcode.Usage, err)
}

// KeyText is a key of a job file, its default in the form of --set, and what it is for.
type KeyText struct{ Key, Default, Text string }
