// Package speed measures the training speed, in examples per second, of ringtrain and
// other libraries. The commands `ringtrain bench train`, `ringtrain bench peers --only
// train` and `--only clicks`, `ringtrain bench input` and `ringtrain bench serve` use it.
//
// # A run of this program
//
// [Run] starts a job with `ringtrain run` or `ringtrain train`, as a user does, and
// reads its events. Steps before [Run.Warm] do not count. After [Run.Measure] the job
// gets TERM. The figure covers whole steps: input, shuffle, decoding, compute, exchange
// and update.
//
// # Other libraries
//
// The folder drivers has programs that train the same model on the same records, batch
// and cores with PyTorch, TensorFlow, and numpy under mpi4py. Their records are float32
// tensors in memory. Nothing is installed: a library that cannot run is left out, with a
// message about the missing package.
//
// # Turns
//
// All contenders of a case start first and wait. Then each has a turn of some seconds,
// one after the other, in several rounds with rotating order. The figure of a contender
// is the median of its turns. The loss of each turn must be below [MaxLoss]: a fast
// contender that does not learn has failed.
//
// # Bars
//
// A bar is a required ratio of ringtrain's rate to that of the best of some libraries.
// It is met or SHORT. It is "not measured" if the libraries are missing, lacking if
// ringtrain has no key, format or model for the case, and NOT MET if ringtrain failed.
//
// # Click logs
//
// [Clicks] has the cases of models of ids on drawn click logs (package input/synth):
// whole passes over text compared with Vowpal Wabbit, training alone compared with
// PyTorch and TensorFlow, and tables of three sizes. A pass lasts from the start of the
// program to its end. Its memory is RssAnon and RssShmem of the largest process.
//
// [Input] has the formats of records. Each is read once in this process. Its figures are
// per second of CPU time.
package speed
