// Package speed measures how many examples a second training passes, of this
// program and of other libraries. It is behind `ringtrain bench train` and
// `ringtrain bench peers --only train`, of `--only clicks` and of `ringtrain bench input`.
//
// # A run of this program
//
// [Run] starts a job as a user does, with `ringtrain run` or `ringtrain train`,
// and reads its events. Steps before [Run.Warm] are not counted. The job is
// stopped by TERM after [Run.Measure]. The figure is that of whole steps: input,
// shuffle, decoding, compute, exchange and update are in it.
//
// # Other libraries
//
// The folder drivers holds programs that train the same model on the same
// records, batch and cores with PyTorch, TensorFlow, and numpy under mpi4py.
// Their records lie in memory as float32 tensors. A library that cannot run is
// left out, and what is missing is said. Nothing is installed.
//
// # Turns
//
// All contenders of a case are started first and wait. Then each has its turn of
// some seconds, one after the other, in several rounds; another one is first in
// each round. The figure of a contender is the median of its turns. Each turn has
// a loss that must be below [MaxLoss]: a contender that is fast and learns nothing has failed.
//
// # Bars
//
// A bar says how many times the rate of the best of some libraries ringtrain's
// must be. It is met or SHORT. It is "not measured" where the libraries are
// missing, lacking where ringtrain has no key, format or model for the case, and NOT
// MET where ringtrain failed.
//
// # Click logs
//
// [Clicks] has the cases of models of ids, on drawn click logs (package input/synth):
// whole passes over text beside Vowpal Wabbit, training alone beside PyTorch and
// TensorFlow, and tables of three sizes. A pass counts from the start of the program
// to its end, with RssAnon and RssShmem of the largest process.
//
// [Input] has the formats of records, each read once in this process. Its figures are
// of CPU time.
package speed
